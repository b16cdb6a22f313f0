"""FreshQA as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.benchmark.changes import find_changes
from fresh_assets.benchmark.identity import link_questions
from fresh_assets.benchmark.imports import parse_revisions, read_revisions
from fresh_assets.benchmark.version_index import index_frame
from fresh_assets.partitions import versions
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key

revisions = dg.AssetSpec(
    ["freshqa", "revisions"],
    description="Imported version files, one row an import; see `fresh-assets import-version`.",
    partitions_def=versions,
)


@dg.asset(key_prefix="freshqa", code_version="1", kinds={"python", "duckdb"})
def version_index(settings: dg.ResourceParam[Settings]) -> pl.DataFrame:
    """Upstream list of versions, newest first.

    Read from the README (path or URL in FRESH_ASSETS_UPSTREAM) or a history CSV. Every entry is
    kept: a label without a year takes it from its neighbours, one that is no version has a reason.
    """
    return index_frame(settings.upstream_index)


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


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [
    revisions,
    version_index,
    questions,
    question_links,
    changes,
]
