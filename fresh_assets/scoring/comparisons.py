"""Pairs of systems on the same questions: difference, interval, test, what could be detected."""

from datetime import date

import duckdb
import numpy as np
import polars as pl

from fresh_assets.scoring.accuracy import SLICED

SAMPLES = 5_000
EXACT_BELOW = 25
"""Disagreements below which McNemar's test is exact."""
ALPHA, POWER = 0.05, 0.8

_PAIRS = f"""
WITH {SLICED},
judged AS (
    SELECT judge, mode, slice, version, question_key, system, rating = 'correct' AS is_correct
    FROM eval.ratings JOIN sliced USING (question_key)
    WHERE week = $week AND rating <> 'unrated' AND (of_system IS NULL OR of_system = system)
)
SELECT
    $week::DATE AS week, judge, mode, slice, a.system AS system_a, b.system AS system_b,
    any_value(version) AS version, count(*)::INTEGER AS judged,
    count(*) FILTER (WHERE a.is_correct AND NOT b.is_correct)::INTEGER AS only_a,
    count(*) FILTER (WHERE b.is_correct AND NOT a.is_correct)::INTEGER AS only_b,
    avg(a.is_correct::INTEGER) AS accuracy_a, avg(b.is_correct::INTEGER) AS accuracy_b
FROM judged AS a JOIN judged AS b USING (judge, mode, slice, version, question_key)
WHERE a.system < b.system
GROUP BY ALL ORDER BY ALL
"""


def compare_systems(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Content rows of mart.comparisons for `week`."""
    pairs = con.execute(_PAIRS, {"week": week}).pl()
    counts = pairs.select("judged", "only_a", "only_b").rows()
    intervals = [interval(*row) for row in counts]
    tested = pairs.with_columns(
        difference=pl.col("accuracy_a") - pl.col("accuracy_b"),
        ci_low=pl.Series([low for low, _ in intervals], dtype=pl.Float64),
        ci_high=pl.Series([high for _, high in intervals], dtype=pl.Float64),
        p_value=pl.Series([p_value(a, b) for _, a, b in counts], dtype=pl.Float64),
        detectable=pl.Series([detectable(*row) for row in counts], dtype=pl.Float64),
    )
    return tested.with_columns(holm(pl.col("p_value")).over("judge", "mode").alias("p_holm"))


def interval(judged: int, only_a: int, only_b: int) -> tuple[float, float]:
    """95 % interval of the paired difference of accuracies, by bootstrap over the questions.

    A question's difference is 1, -1 or 0, so resampling questions is drawing how many of each.
    """
    shares = [only_a / judged, only_b / judged, (judged - only_a - only_b) / judged]
    drawn = np.random.default_rng(0).multinomial(judged, shares, SAMPLES)
    low, high = np.quantile((drawn[:, 0] - drawn[:, 1]) / judged, [ALPHA / 2, 1 - ALPHA / 2])
    return float(low), float(high)


def p_value(only_a: int, only_b: int) -> float:
    """McNemar's test of equal accuracy; 1 where the two never disagree."""
    from statsmodels.stats.contingency_tables import mcnemar  # noqa: PLC0415  (1 s to import)

    if only_a == only_b:
        return 1.0
    exact = only_a + only_b < EXACT_BELOW
    return float(mcnemar([[0, only_a], [only_b, 0]], exact=exact).pvalue)


def detectable(judged: int, only_a: int, only_b: int) -> float | None:
    """Smallest difference shown with 80 % power at 5 % where two systems disagree so often."""
    from statsmodels.stats.power import TTestPower  # noqa: PLC0415  (1 s to import)

    spread = float(np.sqrt((only_a + only_b) / judged))
    if judged < 3 or not spread:
        return None
    effect = TTestPower().solve_power(nobs=judged, alpha=ALPHA, power=POWER)
    return min(1.0, abs(float(np.asarray(effect).item())) * spread)


def holm(p_values: pl.Expr) -> pl.Expr:
    """Holm's correction over a group."""

    def corrected(group: pl.Series) -> pl.Series:
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415  (1 s to import)

        return pl.Series(multipletests(group.to_numpy(), method="holm")[1], dtype=pl.Float64)

    return p_values.map_batches(corrected, return_dtype=pl.Float64)
