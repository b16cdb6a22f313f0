"""What the history of versions says about a question: one row a question and version.

Nothing later than the version enters a row but its label.
"""

import duckdb
import polars as pl

from fresh_assets.staleness.topics import topic_of

REVIEWS = ("occasionally", "frequently", "every_time", "hardly_ever")

_ROWS = """
WITH pairs AS (
    SELECT version, lead(version) OVER (ORDER BY version) AS next_version
    FROM (SELECT DISTINCT version FROM freshqa.questions)
),
questions AS (
    SELECT *, lead(version) OVER (PARTITION BY question_key ORDER BY version) AS appears_next
    FROM freshqa.current_questions JOIN pairs USING (version)
),
changed AS (
    SELECT question_key, version FROM freshqa.changes
    WHERE field = 'answers' AND detail <> 'aliases'
),
seen AS (
    SELECT question_key, min(version) AS first_version FROM freshqa.current_questions GROUP BY ALL
),
past AS (
    SELECT q.version, q.question_key, count(c.version)::INTEGER AS changes_seen,
        max(c.version) AS last_change
    FROM questions AS q
    LEFT JOIN changed AS c ON c.question_key = q.question_key AND c.version <= q.version
    GROUP BY ALL
)
SELECT
    version, question_key, next_version, question, answers,
    CASE WHEN false_premise THEN 'false premise' ELSE fact_type END AS kind,
    next_review,
    (review_date - version)::INTEGER AS days_to_review,
    year(version) - coalesce(try_cast(effective_year AS INTEGER), year(version) - 8) AS age,
    (version - first_version)::INTEGER AS days_seen,
    changes_seen,
    (version - last_change)::INTEGER AS days_since_change,
    coalesce(appears_next = next_version, FALSE) AS is_kept,
    EXISTS (
        FROM changed AS c WHERE c.question_key = q.question_key AND c.version = q.next_version
    ) AS changed_next
FROM questions AS q JOIN past USING (version, question_key) JOIN seen USING (question_key)
ORDER BY version, question_key
"""


def read_history(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """A row for every question of every version.

    `changed_next`: its first answer is another one in the next version (aliases alone do not
    count); only of worth where `is_kept`. `days_to_review` is NULL where the review is no date.
    """
    return con.sql(_ROWS).pl().with_columns(topic=topic_of(pl.col("question")))


def observed(history: pl.DataFrame) -> pl.DataFrame:
    """Rows whose next version is known, with the days up to it as `days_ahead`."""
    ahead = (pl.col("next_version") - pl.col("version")).dt.total_days()
    return history.filter("is_kept").with_columns(days_ahead=ahead)
