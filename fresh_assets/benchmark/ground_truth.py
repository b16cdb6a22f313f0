"""The ground truth of a week: its version with the decisions of people over it."""

from datetime import date

import duckdb
import polars as pl

_GROUND_TRUTH = """
WITH decided AS (
    SELECT * FROM freshqa.decisions WHERE week <= $week
    QUALIFY sequence = max(sequence) OVER (PARTITION BY question_key)
),
asked AS (
    SELECT q.*, d.sequence AS decision, d.week AS reviewed_week, d.decision AS kind,
        d.question AS decided_question, d.answers AS decided_answers
    FROM freshqa.current_questions AS q
    LEFT JOIN decided AS d
        ON q.question_key = d.question_key AND q.question = d.reviewed_question
        AND q.answers = d.reviewed_answers
    WHERE q.version = $version
),
answered AS (
    SELECT question_key, version, answers[1] AS answer,
        lag(answer) OVER (PARTITION BY question_key ORDER BY version) AS answer_before
    FROM freshqa.current_questions
),
since AS (
    SELECT question_key, max(version) AS valid_from FROM answered
    WHERE version <= $version AND answer IS DISTINCT FROM answer_before
    GROUP BY question_key
)
SELECT
    question_key, version, id, split, coalesce(decided_question, question) AS question,
    effective_year, next_review, review_date, false_premise, num_hops, fact_type,
    coalesce(decided_answers, answers) AS answers,
    CASE WHEN decided_answers[1] <> answers[1] THEN reviewed_week ELSE valid_from END AS valid_from,
    decision, reviewed_week
FROM asked JOIN since USING (question_key)
WHERE kind IS DISTINCT FROM 'retire'
ORDER BY id
"""


def ground_truth(con: duckdb.DuckDBPyConnection, week: date, version: date) -> pl.DataFrame:
    """Content rows of freshqa.ground_truth for `week`, evaluated against `version`.

    A decision holds from the week that was reviewed on, for as long as upstream says what the
    reviewer saw.
    """
    return con.execute(_GROUND_TRUTH, {"week": week, "version": version}).pl()
