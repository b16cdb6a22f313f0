"""Search as assets."""

from datetime import UTC, date, datetime

import dagster as dg
import polars as pl

from fresh_assets.errors import UserError
from fresh_assets.partitions import weeks, with_the_week_before
from fresh_assets.search.drift import find_drift
from fresh_assets.search.engines import make_engine, make_parser
from fresh_assets.search.snapshot import (
    complete_searches,
    engines_to_search,
    parse_snapshot,
    search_missing,
    snapshot_rows,
    tolerance,
)
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key
from fresh_assets.warehouse.lineage import pinned_version


@dg.asset(
    key_prefix="search",
    deps=[
        dg.AssetDep(["freshqa", "questions"], partition_mapping=dg.AllPartitionMapping()),
        dg.AssetDep(["freshqa", "question_links"]),
    ],
    partitions_def=weeks,
    code_version="2",
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
        version = archived[0].version if archived else pinned_version(con, week)
        questions = dict(
            con.execute(
                "SELECT question_key, question FROM freshqa.current_questions WHERE version = ?",
                [version],
            ).fetchall()
        )
    if not questions:
        raise dg.Failure(f"no version dated up to the end of week {week} is imported")
    today = datetime.now(UTC).date()
    for name in engines_to_search(settings, archived, week, today):
        if questions.keys() <= {s.question_key for s in archived if s.engine == name}:
            continue
        engine = make_engine(name, settings)
        left = search_missing(archive, engine, week, version, questions, today)
        if left and left.number > settings.max_unsearched * len(questions):
            raise UserError(
                f"{name} could not search {left.number} of {len(questions)} questions, e.g. "
                f"{left.question!r} ({left.problem}); the others are archived: run it again"
            )
    searches = archive.searches(week)
    if not searches:
        raise UserError(f"nothing was found for week {week}")
    allowed = tolerance(settings, week, today)
    rows = snapshot_rows(archive, week, complete_searches(searches, questions, allowed))
    return dg.Output(
        rows,
        metadata={
            "version": str(version),
            "searched now": len(searches) - len(archived),
            "requests": int(rows["requests"].sum()),
            "cost (USD)": _cost(rows),
            "engines": sorted(rows["engine"].unique()),
        },
    )


def _cost(rows: pl.DataFrame) -> float | None:
    """Sum, unknown if any part is."""
    return None if rows["cost"].has_nulls() else float(rows["cost"].sum())


@dg.asset(
    key_prefix="search",
    deps=[results],
    partitions_def=weeks,
    code_version="2",
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
    engines = {name: make_parser(name, settings) for name in found["engine"].unique()}
    frame = parse_snapshot(archive, found, engines)
    if frame.is_empty():
        raise UserError(f"no search of week {week} brought any evidence")
    kinds = dict(frame.group_by("kind").len().sort("kind").iter_rows())
    undated = int(frame["date"].is_null().sum())
    return dg.Output(frame, metadata={**kinds, "undated": undated})


@dg.asset(
    key_prefix="search",
    deps=[dg.AssetDep(evidence, partition_mapping=with_the_week_before)],
    partitions_def=weeks,
    code_version="1",
    kinds={"sql", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def drift(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """How far the evidence of each question moved since the snapshot before: a sign that an answer
    may have changed."""
    with warehouse.reader() as con:
        frame = find_drift(con, date.fromisoformat(partition_key(context)["week"]))
    changed = int(frame["box_changed"].sum())
    mean = float(frame["drift"].sum()) / max(1, len(frame))
    return dg.Output(frame, metadata={"boxes changed": changed, "mean drift": mean})


ASSETS = [results, evidence, drift]
