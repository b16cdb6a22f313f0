"""Accuracy by slice, with denominators computed from the version at hand."""

from datetime import date

import duckdb
import polars as pl

SLICES = {
    "overall": "test",
    "valid premise": "test AND NOT false_premise",
    "fast-changing": "test AND NOT false_premise AND fact_type = 'fast-changing'",
    "slow-changing": "test AND NOT false_premise AND fact_type = 'slow-changing'",
    "never-changing": "test AND NOT false_premise AND fact_type = 'never-changing'",
    "before 2022": "test AND NOT false_premise AND effective_year = 'before 2022'",
    "since 2022": "test AND NOT false_premise AND effective_year <> 'before 2022'",
    "one-hop": "test AND NOT false_premise AND num_hops = 'one-hop'",
    "multi-hop": "test AND NOT false_premise AND num_hops = 'multi-hop'",
    "false premise": "test AND false_premise",
    "false premise before 2022": "test AND false_premise AND effective_year = 'before 2022'",
    "stable core": "test AND is_stable",
    "dev": "NOT test",
}
SINCE_CUTOFF = "changed since cutoff"
"""Slice of TEST questions whose answer is newer than the system's knowledge; by system."""
"""Slices of the papers' tables (arXiv 2310.03214) as predicates. `fact_type` is filled for false
premises too, so the slices named after it are of valid premises. Stable: wording
and first answer were the same in every version up to the week's."""

_CASES = ", ".join(f"CASE WHEN {predicate} THEN '{name}' END" for name, predicate in SLICES.items())
SLICED = f"""
questions AS (
    SELECT *, split = 'TEST' AS test, NOT EXISTS (
        FROM freshqa.changes AS c
        WHERE c.question_key = t.question_key AND c.version <= t.version
        AND (field IN ('presence', 'question') OR (field = 'answers' AND detail <> 'aliases'))
    ) AS is_stable
    FROM freshqa.ground_truth AS t WHERE week = $week
),
since_cutoff AS (
    SELECT question_key, version, system FROM questions, eval.systems
    WHERE test AND (
        try_cast(effective_year AS INTEGER) > year(knowledge_cutoff)
        OR (valid_from > knowledge_cutoff
            AND valid_from > (SELECT min(version) FROM freshqa.revisions))
    )
),
sliced AS (
    SELECT question_key, version, NULL AS of_system,
        unnest(list_filter([{_CASES}], lambda s: s IS NOT NULL)) AS slice
    FROM questions
    UNION ALL
    SELECT question_key, version, system, '{SINCE_CUTOFF}' FROM since_cutoff
)
"""
"""Queries that give `sliced` for $week: question_key, version, slice, of_system (NULL: of all)."""

_COUNTS = f"""
WITH {SLICED},
judged AS (
    SELECT system, question_key, judge, mode, rating, state
    FROM eval.ratings JOIN eval.answers USING (week, system, question_key)
    WHERE week = $week
),
raters AS (SELECT DISTINCT system, judge, mode FROM judged)
SELECT
    system, judge, mode, slice, any_value(version) AS version,
    count(*)::INTEGER AS asked,
    count(*) FILTER (WHERE state IN ('answered', 'truncated'))::INTEGER AS answered,
    count(*) FILTER (WHERE state = 'refused')::INTEGER AS refused,
    count(*) FILTER (WHERE rating IN ('correct', 'incorrect'))::INTEGER AS judged,
    count(*) FILTER (WHERE rating = 'correct')::INTEGER AS correct
FROM sliced JOIN raters ON of_system IS NULL OR of_system = raters.system
LEFT JOIN judged USING (question_key, system, judge, mode)
GROUP BY system, judge, mode, slice
ORDER BY ALL
"""


def accuracy(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Content rows of mart.accuracy for `week`.

    The interval is Wilson's, 95 %, of correct / judged. The bounds take every unrated question as
    incorrect, then as correct.
    """
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415  (1 s to import)

    counts = con.execute(_COUNTS, {"week": week}).pl()
    correct, judged = counts["correct"].to_numpy(), counts["judged"].to_numpy()
    low, high = proportion_confint(correct, judged.clip(min=1), alpha=0.05, method="wilson")
    rated = pl.col("judged") > 0
    return counts.with_columns(
        unrated=pl.col("asked") - pl.col("judged"),
        accuracy=pl.when(rated).then(pl.col("correct") / pl.col("judged")),
        ci_low=pl.when(rated).then(pl.Series(low, dtype=pl.Float64)),
        ci_high=pl.when(rated).then(pl.Series(high, dtype=pl.Float64)),
        bound_low=pl.col("correct") / pl.col("asked"),
        bound_high=(pl.col("correct") + pl.col("asked") - pl.col("judged")) / pl.col("asked"),
    )
