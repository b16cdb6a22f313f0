"""The published file as an asset."""

from collections.abc import Iterable

import dagster as dg

from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.publish import publish

SNAPSHOT = dg.AssetKey(["publish", "analyst_snapshot"])


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
