"""The golden set: answers that people rated, judged again every week to see a judge drift."""

from datetime import date

import duckdb
import polars as pl

from fresh_assets.answers.systems import Systems
from fresh_assets.judging.rating import rate_answers, rate_with_model
from fresh_assets.settings import Settings

MOST = 200
"""Answers in the golden set, drawn by hash: the same ones as long as no others are rated."""

_SET = """
WITH agreed AS (
    SELECT week, system, question_key, mode, answer_hash, any_value(rating) AS people_say
    FROM eval.human_ratings WHERE week <= $week
    GROUP BY ALL HAVING count(DISTINCT rating) = 1
),
seen AS (
    SELECT DISTINCT week, system, question_key, answer_hash FROM eval.judgements WHERE is_current
)
SELECT week AS rated_week, system, question_key AS key, mode, people_say,
    concat_ws('|', week, system, question_key) AS question_key,
    question, answers, false_premise, state, answer, reason
FROM agreed
JOIN seen USING (week, system, question_key, answer_hash)
JOIN eval.answers USING (week, system, question_key)
JOIN freshqa.ground_truth USING (week, question_key)
QUALIFY dense_rank() OVER (ORDER BY hash(concat_ws('|', week, system, key)), week, system, key)
    <= $most
ORDER BY question_key, mode
"""
GOLDEN_SCHEMA = {
    "judge": pl.String, "mode": pl.String, "rated_week": pl.Date, "system": pl.String,
    "question_key": pl.String, "people_say": pl.String, "rating": pl.String,
}  # fmt: skip


def read_golden(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Answers that people rated alike up to `week`, one row an answer and mode, with the ground
    truth they were rated against."""
    return con.execute(_SET, {"week": week, "most": MOST}).pl()


def rate_golden(
    golden: pl.DataFrame, week: date, systems: Systems, settings: Settings
) -> pl.DataFrame:
    """Content rows of eval.golden_ratings for `week` from those of `read_golden`.

    Every week asks a model judge anew: last week's replies in the call cache do not count.
    """
    if golden.is_empty():
        return pl.DataFrame(schema=GOLDEN_SCHEMA)
    answers = golden.unique("question_key", maintain_order=True)
    judges = [
        judge.model_copy(update={"repeat": week.toordinal()}) for judge in systems.judges.values()
    ]
    rated = pl.concat(
        [
            rate_answers(answers),
            *(rate_with_model(answers, judge, systems, settings, week) for judge in judges),
        ]
    )
    found = golden.join(rated, on=["question_key", "mode"]).with_columns(question_key="key")
    return found.select(pl.col(name).cast(kind) for name, kind in GOLDEN_SCHEMA.items())
