"""What Dagster loads. `build_defs` assembles every room; tests and the command line call it too.

Loading makes no network call and no file.
"""

from collections.abc import Iterable, Iterator, Sequence

import dagster as dg

from fresh_assets import alerts, automation
from fresh_assets.answers import assets as answers
from fresh_assets.answers import checks as answers_checks
from fresh_assets.benchmark import assets as benchmark
from fresh_assets.benchmark import checks as benchmark_checks
from fresh_assets.catalog import assets as catalog
from fresh_assets.catalog import checks as catalog_checks
from fresh_assets.judging import assets as judging
from fresh_assets.judging import checks as judging_checks
from fresh_assets.partitions import COLUMNS
from fresh_assets.retriever import assets as retriever
from fresh_assets.retriever import checks as retriever_checks
from fresh_assets.scoring import assets as scoring
from fresh_assets.scoring import checks as scoring_checks
from fresh_assets.search import assets as search
from fresh_assets.search import checks as search_checks
from fresh_assets.settings import Settings
from fresh_assets.staleness import assets as staleness
from fresh_assets.staleness import checks as staleness_checks
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.assets import SNAPSHOT, analyst_snapshot, nothing_failed
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import Contract, integrity_check
from fresh_assets.warehouse.io_manager import column_schema, io_manager, table_name
from fresh_assets.warehouse.lineage import Graph, Node, Parent
from fresh_assets.warehouse.schema import declared

ROOMS: dict[str, Sequence[dg.AssetsDefinition | dg.AssetSpec]] = {
    "catalog": catalog.ASSETS,
    "retriever": retriever.ASSETS,
    "benchmark": benchmark.ASSETS,
    "search": search.ASSETS,
    "answers": answers.ASSETS,
    "judging": judging.ASSETS,
    "scoring": scoring.ASSETS,
    "staleness": staleness.ASSETS,
}
CHECKS = [
    *catalog_checks.CHECKS,
    *benchmark_checks.CHECKS,
    *search_checks.CHECKS,
    *answers_checks.CHECKS,
    *judging_checks.CHECKS,
    *staleness_checks.CHECKS,
]
CONTRACTS: dict[str, Contract] = {
    **catalog_checks.CONTRACTS,
    **retriever_checks.CONTRACTS,
    **benchmark_checks.CONTRACTS,
    **search_checks.CONTRACTS,
    **answers_checks.CONTRACTS,
    **judging_checks.CONTRACTS,
    **scoring_checks.CONTRACTS,
    **staleness_checks.CONTRACTS,
}
BESIDE = {"freshqa.findings": "freshqa.revisions"}
"""Tables that are written together with that of an asset."""


def build_defs(settings: Settings | None = None) -> dg.Definitions:
    """Assemble assets, checks, automation and resources for `settings` (default: environment)."""
    settings = settings or Settings()
    warehouse = Warehouse(settings.warehouse_file, settings.lock_timeout)
    tables = [_complete(asset, room) for room, assets in ROOMS.items() for asset in assets]
    keys = [spec.key for asset in tables for spec in _specs(asset)]
    published = _complete(analyst_snapshot(keys), "publish")
    specs = [spec for asset in (*tables, published) for spec in _specs(asset)]
    partitioned = {spec.key: spec.partitions_def for spec in specs if spec.partitions_def}
    owners = {spec.key.to_user_string(): spec.owners for spec in specs}
    return dg.Definitions(
        assets=[*tables, published],
        asset_checks=[*CHECKS, *_integrity_checks(tables), nothing_failed(partitioned)],
        jobs=[*automation.JOBS, alerts.concern],
        schedules=automation.schedules(settings),
        sensors=[*automation.sensors(settings), *alerts.sensors(settings, owners)],
        executor=dg.in_process_executor,
        resources={
            "io_manager": io_manager(warehouse, graph_of(tables)),
            "warehouse": warehouse,
            "archive": Archive(settings.archive_file),
            "settings": settings,
        },
    )


def _integrity_checks(
    assets: Iterable[dg.AssetsDefinition | dg.AssetSpec],
) -> Iterator[dg.AssetChecksDefinition]:
    """A blocking check of every table; what is imported is checked as a whole."""
    for asset in assets:
        for spec in _specs(asset):
            name = table_name(spec.key)
            beside = [table for table, owner in BESIDE.items() if owner == name]
            for table in (name, *beside):
                yield integrity_check(
                    spec,
                    declared().tables[table],
                    CONTRACTS[table],
                    by_partition=not isinstance(asset, dg.AssetSpec),
                )


def graph_of(assets: Iterable[dg.AssetsDefinition | dg.AssetSpec]) -> Graph:
    """The asset graph as the warehouse sees it: tables, their partition columns and parents."""
    return {
        table_name(spec.key): Node(
            table_name(spec.key),
            COLUMNS[spec.partitions_def],
            tuple(
                Parent(table_name(dep.asset_key), same_key=dep.partition_mapping is None)
                for dep in spec.deps
            ),
            spec.code_version or "",
        )
        for asset in assets
        for spec in _specs(asset)
    }


def _complete(
    asset: dg.AssetsDefinition | dg.AssetSpec, room: str
) -> dg.AssetsDefinition | dg.AssetSpec:
    """Add what every asset has: group, owner, column schema, freshness, automation."""
    if isinstance(asset, dg.AssetSpec):
        return _described(asset, room)
    return asset.map_asset_specs(lambda spec: automation.automate(_described(spec, room)))


def _described(spec: dg.AssetSpec, room: str) -> dg.AssetSpec:
    metadata = {}
    if spec.key != SNAPSHOT:
        schema = column_schema(declared().tables[table_name(spec.key)])
        metadata = {"dagster/column_schema": schema, "dagster/table_name": table_name(spec.key)}
    return spec.replace_attributes(group_name=room, owners=[f"team:{room}"]).merge_attributes(
        metadata=metadata
    )


def _specs(asset: dg.AssetsDefinition | dg.AssetSpec) -> list[dg.AssetSpec]:
    return [asset] if isinstance(asset, dg.AssetSpec) else list(asset.specs)


defs = build_defs()
