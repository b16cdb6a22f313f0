"""Accuracy corrected for the errors of its judge, as people found them in a sample."""

from dataclasses import dataclass
from datetime import date

import duckdb
import numpy as np
import polars as pl

SAMPLES = 5_000

_COUNTS = """
WITH judged AS (
    SELECT system, question_key, judge, mode, answer_hash, rating = 'correct' AS is_correct, split
    FROM eval.judgements AS j JOIN freshqa.ground_truth AS q USING (week, question_key)
    WHERE j.week = $week AND is_current AND rating <> 'unrated'
),
people AS (
    SELECT judge, mode,
        count(*) FILTER (WHERE h.rating = 'correct' AND is_correct)::INTEGER AS true_correct,
        count(*) FILTER (WHERE h.rating = 'correct' AND NOT is_correct)::INTEGER AS false_incorrect,
        count(*) FILTER (WHERE h.rating = 'incorrect' AND is_correct)::INTEGER AS false_correct,
        count(*) FILTER (WHERE h.rating = 'incorrect' AND NOT is_correct)::INTEGER AS true_incorrect
    FROM judged JOIN eval.human_ratings AS h USING (system, question_key, mode, answer_hash)
    WHERE h.week = $week
    GROUP BY ALL
)
SELECT $week::DATE AS week, system, judge, mode,
    count(*)::INTEGER AS judged, count(*) FILTER (WHERE is_correct)::INTEGER AS correct,
    any_value(COLUMNS(p.* EXCLUDE (judge, mode)))
FROM judged JOIN people AS p USING (judge, mode)
WHERE split = 'TEST'
GROUP BY system, judge, mode ORDER BY ALL
"""


@dataclass(frozen=True)
class JudgeErrors:
    """What a judge said of answers, by what people said of them (counts)."""

    true_correct: int
    false_incorrect: int
    false_correct: int
    true_incorrect: int


def correct_accuracies(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Content rows of mart.corrected_accuracy; none for a judge that is no better than chance or
    whose sample lacks correct or incorrect answers."""
    counts = con.execute(_COUNTS, {"week": week}).pl()
    rows = []
    for row in counts.iter_rows(named=True):
        errors = JudgeErrors(*(row[name] for name in JudgeErrors.__dataclass_fields__))
        found = corrected(row["correct"], row["judged"], errors)
        if found:
            kept = {name: row[name] for name in ("week", "system", "judge", "mode", "judged")}
            rows.append({**kept, "accuracy": row["correct"] / row["judged"], **found})
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA = {
    "week": pl.Date, "system": pl.String, "judge": pl.String, "mode": pl.String,
    "judged": pl.Int32, "accuracy": pl.Float64, "people_rated": pl.Int32,
    "sensitivity": pl.Float64, "specificity": pl.Float64, "corrected": pl.Float64,
    "corrected_low": pl.Float64, "corrected_high": pl.Float64,
}  # fmt: skip


def corrected(correct: int, judged: int, errors: JudgeErrors) -> dict[str, float] | None:
    """Accuracy without the judge's errors (Rogan and Gladen 1978), with a 95 % interval.

    None where sensitivity and specificity cannot be known or do not add up to more than 1.
    """
    e = errors
    cells = np.array([e.true_correct, e.false_incorrect, e.false_correct, e.true_incorrect])
    if not (cells[:2].sum() and cells[2:].sum()):
        return None
    sensitivity, specificity = cells[0] / cells[:2].sum(), cells[3] / cells[2:].sum()
    if sensitivity + specificity <= 1:
        return None
    random = np.random.default_rng(0)
    drawn = random.multinomial(cells.sum(), cells / cells.sum(), SAMPLES).astype(float)
    observed = random.binomial(judged, correct / judged, SAMPLES) / judged
    with np.errstate(divide="ignore", invalid="ignore"):
        se, sp = drawn[:, 0] / drawn[:, :2].sum(axis=1), drawn[:, 3] / drawn[:, 2:].sum(axis=1)
        estimates = (observed + sp - 1) / (se + sp - 1)
    usable = estimates[np.isfinite(estimates) & (se + sp > 1)].clip(0, 1)
    low, high = np.quantile(usable, [0.025, 0.975])
    point = (correct / judged + specificity - 1) / (sensitivity + specificity - 1)
    return {
        "people_rated": int(cells.sum()), "sensitivity": float(sensitivity),
        "specificity": float(specificity), "corrected": float(np.clip(point, 0, 1)),
        "corrected_low": float(low), "corrected_high": float(high),
    }  # fmt: skip
