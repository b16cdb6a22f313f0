"""Checks of FreshQA: integrity blocks, irregularity warns."""

import dagster as dg
import polars as pl

from fresh_assets.partitions import versions
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import OF_ITS_TIME, OF_OUR_TIME, SHA256, WEEK, Contract

FRESHQA_TIME = "{} BETWEEN '2023-10-01' AND '2100-01-01'"
CONTRACTS = {
    "freshqa.version_index": Contract(
        {
            "versions are of FreshQA's time": FRESHQA_TIME.format("version"),
            "the next update follows": "next_update >= version",
            "sheet ids are ids": "regexp_full_match(sheet_id, '[\\w-]+')",
        }
    ),
    "freshqa.revisions": Contract(
        {
            "files have a hash": SHA256.format("byte_hash"),
            "rows have a hash": SHA256.format("row_hash"),
            "imports are of our time": OF_OUR_TIME.format("imported_at"),
            "versions are of FreshQA's time": FRESHQA_TIME.format("version"),
        }
    ),
    "freshqa.findings": Contract(
        {"rows count from 1": "file_row >= 1", "findings count from 0": "ordinal >= 0"}
    ),
    "freshqa.questions": Contract(
        {
            "questions are questions": "length(question) >= 5",
            "years are years": "regexp_full_match(effective_year, 'before 2022|(19|20)\\d\\d')",
            "at most ten answers": "len(answers) <= 10",
            "no answer is empty": "NOT list_contains(list_transform(answers, a -> trim(a)), '')",
            "reviews are of this century": "review_date BETWEEN '2000-01-01' AND '2100-01-01'",
            "texts have a hash": "length(question_hash) = 16",
        },
        unique=[("version", "revision", "question_hash")],
        missing="""
            SELECT version, revision, unnest(range(row_count)) AS id FROM freshqa.revisions
            WHERE version = $version
            EXCEPT SELECT version, revision, id FROM freshqa.questions WHERE version = $version
        """,
    ),
    "freshqa.question_links": Contract(
        {
            "splits are TEST or DEV": "split IN ('TEST', 'DEV')",
            "only rewordings have a score": "(method = 'reworded') = (score IS NOT NULL)",
            "rewordings say of what": "(method = 'reworded') = (linked_from IS NOT NULL)",
            "versions are of FreshQA's time": FRESHQA_TIME.format("first_version"),
        }
    ),
    "freshqa.changes": Contract(
        {
            "the version before is before": "previous_version < version",
            "only known fields change": """field IN ('presence', 'id', 'split', 'question',
                'effective_year', 'next_review', 'false_premise', 'num_hops', 'fact_type',
                'sources', 'answers', 'note')""",
        }
    ),
    "freshqa.decisions": Contract(
        {
            **WEEK,
            "decisions are of our time": OF_OUR_TIME.format("decided_at"),
        }
    ),
    "freshqa.ground_truth": Contract(
        {
            **OF_ITS_TIME,
            "answers hold from a day up to the week": "valid_from < week + 7",
            "at most ten answers": "len(answers) <= 10",
            "reviews are of this century": "review_date BETWEEN '2000-01-01' AND '2100-01-01'",
        },
        missing="""
            SELECT question_key FROM freshqa.current_questions WHERE version = (
                SELECT max(version) FROM freshqa.ground_truth WHERE week = $week
            )
            EXCEPT SELECT question_key FROM freshqa.ground_truth WHERE week = $week
            EXCEPT SELECT question_key FROM freshqa.decisions
            WHERE decision = 'retire' AND week <= $week
        """,
    ),
}
QUESTIONS = dg.AssetKey(["freshqa", "questions"])


@dg.asset_check(asset=QUESTIONS, partitions_def=versions)
def review_dates(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Stale answers: no review date lies before the version date; upstream keeps it so."""
    frame = _current(warehouse, context.partition_key)
    overdue = frame.filter(pl.col("review_date") < pl.col("version"))
    return _warning(overdue.select("id", "question", "review_date"), "answers were due for review")


@dg.asset_check(asset=QUESTIONS, partitions_def=versions)
def undamaged(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """No content was lost before the import (Excel-rewritten answers, wrong encoding)."""
    with warehouse.reader() as con:
        damaged = con.execute(
            "SELECT file_row, column_name, kind, cell_text FROM freshqa.findings "
            "WHERE version = ? AND action = 'damaged' ORDER BY ordinal",
            [context.partition_key],
        ).pl()
    return _warning(damaged, "cells are damaged")


@dg.asset_check(asset=dg.AssetKey(["freshqa", "version_index"]))
def entries_resolved(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Every entry of the upstream list that claims to be a version was read as one."""
    with warehouse.reader() as con:
        unread = con.sql(
            "SELECT position, label, problem FROM freshqa.version_index "
            "WHERE problem IS NOT NULL AND label LIKE 'FreshQA%'"
        ).pl()
    return _warning(unread, "entries could not be read")


def _current(warehouse: Warehouse, version: str) -> pl.DataFrame:
    with warehouse.reader() as con:
        return con.execute(
            """
            SELECT * FROM freshqa.questions WHERE version = $version
            QUALIFY revision = max(revision) OVER ()
            """,
            {"version": version},
        ).pl()


def _warning(offenders: pl.DataFrame, what: str) -> dg.AssetCheckResult:
    shown = offenders.head(20).with_columns(pl.all().cast(pl.String).fill_null(""))
    return dg.AssetCheckResult(
        passed=offenders.is_empty(),
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(offenders)} {what}",
        metadata={
            "offenders": dg.TableMetadataValue(
                records=[dg.TableRecord(row) for row in shown.iter_rows(named=True)],
                schema=dg.TableSchema(columns=[dg.TableColumn(c) for c in shown.columns]),
            )
        },
    )


CHECKS = [review_dates, undamaged, entries_resolved]
