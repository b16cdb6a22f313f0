"""Checks of FreshQA: integrity blocks, irregularity warns."""

from typing import TYPE_CHECKING

import dagster as dg
import polars as pl

from fresh_assets.benchmark.version_file import DOMAINS
from fresh_assets.partitions import versions
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import check_expectations

if TYPE_CHECKING:
    from great_expectations.expectations import Expectation

QUESTIONS = dg.AssetKey(["freshqa", "questions"])


@dg.asset_check(asset=QUESTIONS, blocking=True, partitions_def=versions)
def expectations(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Great Expectations: ids unique, texts filled, values in their domains, years plausible."""
    return check_expectations(_current(warehouse, context.partition_key), _suite())


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
            SELECT *, len(answers) AS answer_count FROM freshqa.questions WHERE version = $version
            QUALIFY revision = max(revision) OVER ()
            """,
            {"version": version},
        ).pl()


def _suite() -> "list[Expectation]":
    from great_expectations import expectations as gxe  # noqa: PLC0415  (3 s to import)

    domains = {
        "split": DOMAINS["split"],
        "num_hops": DOMAINS["num_hops"],
        "fact_type": DOMAINS["fact_type"],
    }
    return [
        gxe.ExpectTableRowCountToBeBetween(min_value=1),
        gxe.ExpectColumnValuesToBeUnique(column="id"),
        gxe.ExpectColumnValuesToBeUnique(column="question_hash"),
        gxe.ExpectColumnValueLengthsToBeBetween(column="question", min_value=5),
        gxe.ExpectColumnValuesToMatchRegex(
            column="effective_year", regex=r"^(?:before 2022|(?:19|20)\d\d)$"
        ),
        gxe.ExpectColumnValuesToBeBetween(column="answer_count", min_value=1, max_value=10),
        *(
            gxe.ExpectColumnValuesToBeInSet(column=column, value_set=list(values))
            for column, values in domains.items()
        ),
    ]


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


CHECKS = [expectations, review_dates, undamaged, entries_resolved]
