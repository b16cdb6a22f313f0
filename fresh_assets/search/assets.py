"""Search as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.partitions import this_week, weeks
from fresh_assets.search.snapshot import make_engine, parse_snapshot, search_missing, snapshot_rows
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import partition_key
from fresh_assets.warehouse.lineage import version_of_week


@dg.asset(
    key_prefix="search",
    deps=[
        dg.AssetDep(["freshqa", "questions"], partition_mapping=dg.AllPartitionMapping()),
        dg.AssetDep(["freshqa", "question_links"]),
    ],
    partitions_def=weeks,
    code_version="1",
    kinds={"python", "sqlite"},
)
def results(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    archive: dg.ResourceParam[Archive],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """The weekly snapshot: the archived payload of every question, searched once and kept verbatim.

    Only questions that the week's archive lacks are searched. A past week is never searched with
    a live engine: it is replayed from the archive or imported.
    """
    week = date.fromisoformat(partition_key(context)["week"])
    archived = archive.searches(week)
    with warehouse.reader() as con:
        version = archived[0].version if archived else version_of_week(con, week)
        queries = dict(
            con.execute(
                "SELECT question_key, question FROM freshqa.current_questions WHERE version = ?",
                [version],
            ).fetchall()
        )
    if version is None or not queries:
        raise dg.Failure(f"no version dated up to the end of week {week} is imported")
    engines = {s.engine for s in archived} or {settings.engine}
    may_search = engines - {"recorded"} if archived else engines
    searched = sum(
        search_missing(
            archive,
            make_engine(name, settings),
            week,
            version,
            queries,
            is_past=week < this_week(),
        )
        for name in sorted(may_search)
    )
    return dg.Output(
        snapshot_rows(archive, week),
        metadata={"version": str(version), "searched now": searched, "engines": sorted(engines)},
    )


@dg.asset(
    key_prefix="search",
    deps=[results],
    partitions_def=weeks,
    code_version="1",
    kinds={"python", "duckdb"},
)
def evidence(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    archive: dg.ResourceParam[Archive],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """Normalised evidence of the week, parsed from the archive; dates resolved against its day."""
    week = partition_key(context)["week"]
    with warehouse.reader() as con:
        found = con.execute("SELECT * FROM search.results WHERE week = ?", [week]).pl()
    engines = {name: make_engine(name, settings) for name in found["engine"].unique()}
    frame = parse_snapshot(archive, found, engines)
    kinds = dict(frame.group_by("kind").len().sort("kind").iter_rows())
    undated = int(frame["date"].is_null().sum())
    return dg.Output(frame, metadata={**kinds, "undated": undated})


ASSETS = [results, evidence]
