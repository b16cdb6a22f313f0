"""Checks of the catalogs: the index holds what the table says; near-duplicates are told."""

import dagster as dg

from fresh_assets.catalog.encoder import Encoder
from fresh_assets.catalog.entries import near_duplicates
from fresh_assets.catalog.index import entry_id, open_index
from fresh_assets.catalog.indexing import suggestable
from fresh_assets.errors import UserError
from fresh_assets.partitions import catalogs
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import SHA256, Contract

CATALOG_KEY = {"catalogs have a date": r"regexp_full_match(catalog, '.+-\d{4}-\d\d-\d\d')"}
_ENTRIES = {
    **CATALOG_KEY,
    "files have a hash": SHA256.format("byte_hash"),
    "names have no outer space": "name = trim(name)",
}
MOST_NAMED = 10

CONTRACTS = {
    "catalog.steps": Contract(_ENTRIES),
    "catalog.tables": Contract(_ENTRIES),
    "catalog.changes": Contract(
        {**CATALOG_KEY, "the same deployment": "previous_catalog[:-12] = catalog[:-12]"}
    ),
    "catalog.indexes": Contract(
        {
            **CATALOG_KEY,
            "files have a hash": SHA256.format("file_hash"),
            "exact is exact": "kind <> 'exact' OR recall = 1",
        }
    ),
}


@dg.asset_check(asset=dg.AssetKey(["catalog", "indexes"]), blocking=True, partitions_def=catalogs)
def ids_match(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """The ids in each index are those of the entries in the table, no more and no fewer."""
    key, problems = context.partition_key, []
    with warehouse.reader() as con:
        wanted = {what: suggestable(con, key, what)["name"] for what in ("steps", "tables")}
    encoder = Encoder(settings.encoder)
    for what, names in wanted.items():
        if not len(names):
            continue
        try:
            held = set(open_index(settings.indexes / key, what, encoder.hash).ids.tolist())
        except UserError as error:
            problems.append(str(error))
            continue
        missing = [name for name in names if entry_id(name) not in held]
        more = len(held - {entry_id(name) for name in names})
        if missing or more:
            problems.append(f"{what}: {len(missing)} are missing {missing[:5]}, {more} too many")
    return dg.AssetCheckResult(
        passed=not problems, description="; ".join(problems) or "every entry is in its index"
    )


@dg.asset_check(asset=dg.AssetKey(["catalog", "changes"]), partitions_def=catalogs)
def no_twins(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """No two entries of a catalog say nearly the same: a retriever cannot tell them apart."""
    with warehouse.reader() as con:
        found = [
            twins
            for what in ("steps", "tables")
            for twins in near_duplicates(suggestable(con, context.partition_key, what))
        ]
    named = ", ".join(f"{twins.name} and {twins.other}" for twins in found[:MOST_NAMED])
    return dg.AssetCheckResult(
        passed=not found,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(found)} pairs are nearly the same" + (f": {named}" if found else ""),
    )


CHECKS = [ids_match, no_twins]
