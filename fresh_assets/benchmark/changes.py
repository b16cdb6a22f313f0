"""What changed between a version and the version dated next before it, field by field."""

from datetime import date

import duckdb
import polars as pl

from fresh_assets.errors import UserError

_CHANGES = """
WITH earlier AS (
    SELECT * FROM freshqa.current_questions WHERE version = $earlier
),
later AS (SELECT * FROM freshqa.current_questions WHERE version = $later),
fields AS (
    SELECT
        coalesce(a.question_key, b.question_key) AS question_key,
        a.answers AS old_answers,
        b.answers AS new_answers,
        unnest(CASE
            WHEN a.version IS NULL
                THEN [{field: 'presence', detail: 'added', before: NULL, after: b.question}]
            WHEN b.version IS NULL
                THEN [{field: 'presence', detail: 'removed', before: a.question, after: NULL}]
            ELSE [
                {field: 'id', detail: NULL, before: a.id::VARCHAR, after: b.id::VARCHAR},
                {field: 'split', detail: NULL, before: a.split, after: b.split},
                {field: 'question', detail: 'reworded',
                    before: CASE WHEN a.question_hash <> b.question_hash THEN a.question END,
                    after: CASE WHEN a.question_hash <> b.question_hash THEN b.question END},
                {field: 'effective_year', detail: NULL,
                    before: a.effective_year, after: b.effective_year},
                {field: 'next_review', detail: NULL, before: a.next_review, after: b.next_review},
                {field: 'false_premise', detail: NULL,
                    before: a.false_premise::VARCHAR, after: b.false_premise::VARCHAR},
                {field: 'num_hops', detail: NULL, before: a.num_hops, after: b.num_hops},
                {field: 'fact_type', detail: NULL, before: a.fact_type, after: b.fact_type},
                {field: 'sources', detail: NULL,
                    before: to_json(a.sources)::VARCHAR, after: to_json(b.sources)::VARCHAR},
                {field: 'answers', detail: NULL,
                    before: to_json(a.answers)::VARCHAR, after: to_json(b.answers)::VARCHAR},
                {field: 'note', detail: NULL, before: a.note, after: b.note}
            ]
        END) AS change
    FROM earlier AS a FULL JOIN later AS b USING (question_key)
)
SELECT
    $later AS version,
    $earlier AS previous_version,
    question_key,
    change.field AS field,
    CASE WHEN change.field <> 'answers' THEN change.detail
        WHEN NOT list_has_any(old_answers, new_answers) THEN 'replaced'
        WHEN old_answers[1] <> new_answers[1] THEN 'first answer'
        ELSE 'aliases'
    END AS detail,
    change.before AS before,
    change.after AS after
FROM fields
WHERE change.before IS DISTINCT FROM change.after
ORDER BY question_key, field
"""


def find_changes(con: duckdb.DuckDBPyConnection, version: date) -> pl.DataFrame:
    """Content rows of freshqa.changes for `version`; none for the oldest version."""
    (previous,) = con.execute(
        "SELECT max(version) FROM freshqa.revisions WHERE version < ?", [version]
    ).fetchall()[0]
    changes = compare(con, previous or version, version)
    return changes if previous else changes.clear()


def compare(con: duckdb.DuckDBPyConnection, earlier: date, later: date) -> pl.DataFrame:
    """Differences between two imported versions, like freshqa.changes; UserError if one is not."""
    for version in (earlier, later):
        known = con.execute(
            "SELECT 1 FROM freshqa.revisions WHERE version = ?", [version]
        ).fetchone()
        if not known:
            raise UserError(f"version {version} is not imported; see `fresh-assets versions`")
    return con.execute(_CHANGES, {"earlier": earlier, "later": later}).pl()
