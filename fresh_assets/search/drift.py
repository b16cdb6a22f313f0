"""How far the evidence of a question moved between two snapshots."""

from datetime import date

import duckdb
import polars as pl


def find_drift(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """Content rows of search.drift for `week`; none for an engine without an earlier week.

    Every question with evidence in both weeks is compared, address by address.
    """
    return con.execute(_DRIFT, {"week": week}).pl()


_DRIFT = """
WITH pairs AS (
    SELECT engine, max(week) AS previous_week FROM search.evidence
    WHERE week < $week GROUP BY engine
),

seen AS (
    SELECT *, week = $week AS is_now,
        concat_ws(chr(10), title, snippet, highlight) AS text
    FROM search.evidence INNER JOIN pairs USING (engine)
    WHERE week IN ($week, previous_week)
),

questions AS (
    SELECT engine, question_key, any_value(previous_week) AS previous_week
    FROM seen GROUP BY ALL HAVING count(DISTINCT week) = 2
),

pages AS (
    SELECT engine, question_key, url,
        min_by(text, rank) FILTER (is_now) AS text_now,
        min_by(text, rank) FILTER (NOT is_now) AS text_before
    FROM seen WHERE url IS NOT NULL GROUP BY ALL
),

urls AS (
    SELECT engine, question_key,
        count(text_now)::INTEGER AS urls,
        count(*) FILTER (text_before IS NULL)::INTEGER AS new_urls,
        count(*) FILTER (text_now IS NULL)::INTEGER AS gone_urls,
        count(*) FILTER (text_now <> text_before)::INTEGER AS changed_texts,
        (new_urls + gone_urls) / count(*) AS drift
    FROM pages GROUP BY ALL
),

new_words AS (
    SELECT engine, question_key, highlight
    FROM seen WHERE highlight IS NOT NULL GROUP BY ALL HAVING bool_and(is_now)
),

highlights AS (
    SELECT engine, question_key, list(highlight ORDER BY highlight) AS new_highlights
    FROM new_words GROUP BY ALL
),

boxes AS (
    SELECT engine, question_key,
        min_by(coalesce(highlight, snippet, title), rank) FILTER (is_now) AS box_after,
        min_by(coalesce(highlight, snippet, title), rank) FILTER (NOT is_now) AS box_before
    FROM seen WHERE kind IN ('answer_box', 'knowledge_graph') GROUP BY ALL
)

SELECT $week::DATE AS week, engine, question_key, previous_week,
    coalesce(drift, 0) AS drift, coalesce(urls, 0) AS urls, coalesce(new_urls, 0) AS new_urls,
    coalesce(gone_urls, 0) AS gone_urls, coalesce(changed_texts, 0) AS changed_texts,
    coalesce(new_highlights, []) AS new_highlights,
    box_before IS DISTINCT FROM box_after AS box_changed, box_before, box_after
FROM questions
LEFT JOIN urls USING (engine, question_key)
LEFT JOIN highlights USING (engine, question_key)
LEFT JOIN boxes USING (engine, question_key)
"""
