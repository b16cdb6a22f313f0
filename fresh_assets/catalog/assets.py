"""Catalogs as assets."""

import dagster as dg
import polars as pl

from fresh_assets.catalog.changes import CHANGE_SCHEMA, find_changes, previous_catalog
from fresh_assets.catalog.indexing import index_entries, suggestable
from fresh_assets.partitions import catalogs
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key

WHAT = ("steps", "tables")

steps = dg.AssetSpec(
    ["catalog", "steps"],
    description="Steps that may be named. Filled by `fresh-assets import-catalog`.",
    partitions_def=catalogs,
)
tables = dg.AssetSpec(
    ["catalog", "tables"],
    description="Database tables that may be named. Filled by `fresh-assets import-catalog`.",
    partitions_def=catalogs,
)


@dg.asset(
    key_prefix="catalog",
    deps=[steps, tables],
    partitions_def=catalogs,
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def changes(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """What differs from the catalog before it of the same deployment: added, removed, renamed."""
    key = partition_key(context)["catalog"]
    with warehouse.reader() as con:
        known = con.sql("SELECT catalog FROM catalog.catalogs")
        previous = previous_catalog(key, [k for (k,) in known.fetchall()])
        entries = {
            (what, k): con.execute(f"SELECT * FROM catalog.{what} WHERE catalog = ?", [k]).pl()
            for what in WHAT
            for k in (previous, key)
        }
    frame = pl.DataFrame(schema=CHANGE_SCHEMA)
    if previous:
        frame = pl.concat(
            find_changes(what, entries[what, previous], entries[what, key]) for what in WHAT
        )
    counts = frame.group_by("change").len().sort("change")
    return dg.Output(
        frame.with_columns(previous_catalog=pl.lit(previous or "")),
        metadata={"previous": previous or "none", **dict(counts.iter_rows())},
    )


@dg.asset(
    key_prefix="catalog",
    deps=[steps, tables],
    partitions_def=catalogs,
    code_version="1",
    kinds={"python", "faiss"},
)
def indexes(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """FAISS indexes of what may be suggested. Only entries whose text changed are encoded; the old
    index serves until the new one is whole."""
    key = partition_key(context)["catalog"]
    with warehouse.reader() as con:
        entries = {what: suggestable(con, key, what) for what in WHAT}
    frame = index_entries(settings, key, {w: e for w, e in entries.items() if len(e)})
    return dg.Output(frame, metadata={"encoded": int(frame["encoded"].sum())})


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [steps, tables, changes, indexes]
