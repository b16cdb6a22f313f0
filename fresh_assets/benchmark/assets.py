"""FreshQA as assets."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import dagster as dg
import polars as pl

from fresh_assets.benchmark.changes import find_changes
from fresh_assets.benchmark.ground_truth import ground_truth as truth_of_week
from fresh_assets.benchmark.identity import link_questions
from fresh_assets.benchmark.imports import parse_revisions, read_revisions
from fresh_assets.benchmark.upstream import import_listed, read_index
from fresh_assets.benchmark.version_index import as_frame
from fresh_assets.partitions import versions, weeks
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key
from fresh_assets.warehouse.lineage import pinned_version

decisions = dg.AssetSpec(
    ["freshqa", "decisions"],
    description="What people decided about ground truths; filled by `fresh-assets review`.",
)


@dg.asset(key_prefix="freshqa", code_version="2", kinds={"python", "duckdb"})
def version_index(
    settings: dg.ResourceParam[Settings], archive: dg.ResourceParam[Archive]
) -> pl.DataFrame:
    """Upstream list of versions, newest first.

    Read from the README (path or URL in FRESH_ASSETS_UPSTREAM) or a history CSV; after it come the
    versions that only an imported list has. Every entry is kept: a label without a year takes it
    from its neighbours, one that is no version has a reason.
    """
    return as_frame(read_index(settings, archive))


@dg.asset(
    key_prefix="freshqa",
    deps=[version_index],
    partitions_def=versions,
    output_required=False,
    kinds={"python", "duckdb"},
)
def revisions(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    archive: dg.ResourceParam[Archive],
    settings: dg.ResourceParam[Settings],
) -> Iterator[dg.MaterializeResult[Any]]:
    """Imported version files, one row an import: fetched from the sheet that upstream lists, or
    given by a person (`fresh-assets import-version`).

    Nothing is materialized where the rows are those of the newest revision.
    """
    version = date.fromisoformat(partition_key(context)["version"])
    imported = import_listed(warehouse, archive, settings, version)
    if imported.is_new:
        questions, findings = len(imported.parsed.questions), len(imported.parsed.findings)
        yield dg.MaterializeResult(
            metadata={
                "revision": imported.revision,
                "file": imported.source.file_name,
                "questions": questions,
                "irregular cells": findings,
            }
        )


@dg.asset(
    key_prefix="freshqa",
    deps=[revisions],
    partitions_def=versions,
    code_version="1",
    kinds={"python", "duckdb"},
)
def questions(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    archive: dg.ResourceParam[Archive],
) -> pl.DataFrame:
    """Questions and ground truth of one version, all its revisions, typed; `N/A` stays text.

    Parsed from the archived files, so it can be derived again at any time.
    """
    version = date.fromisoformat(partition_key(context)["version"])
    with warehouse.reader() as con:
        known = read_revisions(con, version)
    if not known:
        raise dg.Failure(
            f"no file of version {version} was imported: `fresh-assets import-version`"
        )
    return parse_revisions(archive, known)


@dg.asset(key_prefix="freshqa", deps=[questions], code_version="1", kinds={"python", "duckdb"})
def question_links(warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[pl.DataFrame]:
    """Question key of every wording over all versions.

    An unchanged text keeps its key; a changed one is matched to a vanished wording of the same
    split and premise in a neighbouring version. Upstream ids move and are not used.
    """
    with warehouse.reader() as con:
        rows = con.sql("""
            SELECT sequence, version, question_hash, question, split, false_premise
            FROM freshqa.questions JOIN freshqa.revisions USING (version, revision)
        """).pl()
    links = link_questions(rows)
    reworded = int((links["method"] == "reworded").sum())
    return dg.Output(
        links, metadata={"questions": links["question_key"].n_unique(), "reworded": reworded}
    )


@dg.asset(
    key_prefix="freshqa",
    deps=[
        revisions,
        dg.AssetDep(questions, partition_mapping=dg.AllPartitionMapping()),
        question_links,
    ],
    partitions_def=versions,
    code_version="1",
    kinds={"sql", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def changes(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """Field-level difference of a version to the version dated next before it."""
    version = date.fromisoformat(partition_key(context)["version"])
    with warehouse.reader() as con:
        frame = find_changes(con, version)
    counts = frame.group_by("field").len().sort("field")
    table = "\n".join(
        ["| field | changed |", "|---|---|", *(f"| {f} | {n} |" for f, n in counts.rows())]
    )
    return dg.Output(frame, metadata={"by field": dg.MetadataValue.md(table)})


@dg.asset(
    key_prefix="freshqa",
    deps=[
        dg.AssetDep(questions, partition_mapping=dg.AllPartitionMapping()),
        question_links,
        decisions,
        dg.AssetDep(["search", "results"]),
    ],
    partitions_def=weeks,
    code_version="1",
    kinds={"sql", "duckdb"},
)
def ground_truth(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """What is asked and held true in a week: the version that its snapshot searched, with the
    decisions of reviewers over it. Upstream stays untouched."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        version = pinned_version(con, week)
        frame = truth_of_week(con, week, version)
    decided = len(frame) - frame["decision"].null_count()
    return dg.Output(frame, metadata={"version": str(version), "decided by reviewers": decided})


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [
    version_index,
    revisions,
    questions,
    question_links,
    changes,
    decisions,
    ground_truth,
]
