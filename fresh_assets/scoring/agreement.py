"""How far judges and people agree on the answers that both rated."""

from datetime import date

import duckdb
import krippendorff
import numpy as np
import polars as pl

from fresh_assets.scoring.accuracy import SLICED

_PAIRS = f"""
WITH {SLICED},
rated AS (
    SELECT judge AS rater, system, question_key, mode, rating = 'correct' AS is_correct
    FROM eval.ratings WHERE week = $week AND rating <> 'unrated'
)
SELECT
    $week::DATE AS week, a.rater AS rater_a, b.rater AS rater_b, mode, slice,
    count(*)::INTEGER AS rated,
    count(*) FILTER (WHERE a.is_correct AND b.is_correct)::INTEGER AS both_correct,
    count(*) FILTER (WHERE a.is_correct AND NOT b.is_correct)::INTEGER AS only_a,
    count(*) FILTER (WHERE b.is_correct AND NOT a.is_correct)::INTEGER AS only_b,
    count(*) FILTER (WHERE NOT a.is_correct AND NOT b.is_correct)::INTEGER AS both_incorrect
FROM rated AS a JOIN rated AS b USING (system, question_key, mode)
JOIN sliced USING (question_key)
WHERE a.rater < b.rater AND (of_system IS NULL OR of_system = system)
GROUP BY ALL ORDER BY ALL
"""
SCHEMA = {
    "agreement": pl.Float64,
    "kappa": pl.Float64,
    "kappa_low": pl.Float64,
    "kappa_high": pl.Float64,
    "alpha": pl.Float64,
}


def agree(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Content rows of mart.judge_agreement for `week`.

    A rating by a person counts only for the answer that the person saw.
    """
    pairs = con.execute(_PAIRS, {"week": week}).pl()
    counts = pairs.select("both_correct", "only_a", "only_b", "both_incorrect").rows()
    found = pl.DataFrame([measures(*row) for row in counts], schema=SCHEMA, orient="row")
    return pl.concat([pairs, found], how="horizontal")


def measures(
    both: int, only_a: int, only_b: int, neither: int
) -> tuple[float, float | None, float | None, float | None, float | None]:
    """Agreement, Cohen's kappa with its 95 % interval, Krippendorff's alpha of a 2 x 2 table.

    Kappa is None where one of the two never varies, alpha where nothing does.
    """
    from statsmodels.stats.inter_rater import cohens_kappa  # noqa: PLC0415  (1 s to import)

    rated = both + only_a + only_b + neither
    agreement = (both + neither) / rated
    if rated in {both, neither}:
        return agreement, None, None, None, None
    votes = np.repeat([[0, 2], [1, 1], [2, 0]], [both, only_a + only_b, neither], axis=0)
    alpha = float(krippendorff.alpha(value_counts=votes, level_of_measurement="nominal"))
    if both + only_a in {0, rated} or both + only_b in {0, rated}:
        return agreement, None, None, None, alpha
    kappa = cohens_kappa([[both, only_a], [only_b, neither]])
    return agreement, float(kappa.kappa), float(kappa.kappa_low), float(kappa.kappa_upp), alpha
