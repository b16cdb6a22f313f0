"""The published file as an asset, and its standing check."""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg

from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.publish import publish

SNAPSHOT = dg.AssetKey(["publish", "analyst_snapshot"])
MOST_NAMED = 20


def analyst_snapshot(tables: Iterable[dg.AssetKey]) -> dg.AssetsDefinition:
    """Asset that publishes the warehouse; `tables` are all assets that fill it."""

    @dg.asset(
        key=SNAPSHOT,
        deps=[dg.AssetDep(key, partition_mapping=dg.AllPartitionMapping()) for key in tables],
        code_version="1",
        kinds={"duckdb"},
    )
    def _analyst_snapshot(
        context: dg.AssetExecutionContext,
        warehouse: dg.ResourceParam[Warehouse],
        settings: dg.ResourceParam[Settings],
    ) -> dg.MaterializeResult[None]:
        """Immutable DuckDB file for analysts: copied, verified, then moved to `latest`."""
        snapshot = publish(
            warehouse, settings.published, run_id=context.run.run_id, keep=settings.keep_snapshots
        )
        return dg.MaterializeResult(
            metadata={
                "file": dg.MetadataValue.path(str(snapshot.file)),
                "size (MB)": round(snapshot.file.stat().st_size / 1e6, 1),
                "rows": dg.MetadataValue.json(snapshot.rows),
            },
            data_version=dg.DataVersion(snapshot.content_hash),
        )

    return _analyst_snapshot


def nothing_failed(
    partitioned: Mapping[dg.AssetKey, dg.PartitionsDefinition[Any]],
) -> dg.AssetChecksDefinition:
    """Standing check over all partitioned assets."""

    @dg.asset_check(asset=SNAPSHOT)
    def nothing_failed(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        """No partition is in a failed state: what failed was made good by a later run."""
        failed = [
            f"{key.to_user_string()} [{partition}]"
            for key, definition in partitioned.items()
            for partition in _failed(context.instance, key, definition)
        ]
        named = ", ".join(failed[:MOST_NAMED])
        return dg.AssetCheckResult(
            passed=not failed,
            severity=dg.AssetCheckSeverity.WARN,
            description=f"{len(failed)} partitions failed" + (f": {named}" if failed else ""),
            metadata={"failed": failed},
        )

    return nothing_failed


def _failed(
    instance: dg.DagsterInstance, key: dg.AssetKey, definition: dg.PartitionsDefinition[Any]
) -> list[str]:
    keys = definition.get_partition_keys(dynamic_partitions_store=instance)
    status = instance.get_status_by_partition(key, keys, definition) or {}
    return [partition for partition, state in status.items() if state and state.value == "FAILED"]
