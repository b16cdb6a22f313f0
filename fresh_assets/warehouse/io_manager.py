"""Dagster IO manager: the frame an asset returns becomes a slice of the table its key names."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import dagster as dg
import polars as pl

from fresh_assets.partitions import COLUMNS
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.lineage import Graph, inputs_of
from fresh_assets.warehouse.schema import Table
from fresh_assets.warehouse.slices import Key, Provenance, slice_name, write_slice

ALLOW_EMPTY = "fresh_assets/allow_empty"
"""Definition metadata of an asset whose slice may have no rows."""


def table_name(key: dg.AssetKey) -> str:
    """Table that the asset `key` fills."""
    return ".".join(key.path)


def column_schema(table: Table) -> dg.TableSchema:
    """Declared columns in Dagster's form, with comments and constraints."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                c.name,
                c.type,
                c.comment or None,
                dg.TableColumnConstraints(
                    nullable=c.nullable, unique=table.primary_key == (c.name,)
                ),
            )
            for c in table.columns
        ]
    )


class WarehouseIOManager(dg.IOManager):
    """Writes slices by name in one transaction; reads a slice, or the table, back as a frame."""

    def __init__(self, warehouse: Warehouse, graph: Graph) -> None:
        self.warehouse = warehouse
        self.graph = graph
        self.started = datetime.now(UTC).replace(tzinfo=None)

    def handle_output(self, context: dg.OutputContext, obj: pl.DataFrame) -> None:
        """Write the slice of the running partition."""
        name = table_name(context.asset_key)
        for key in _slice_keys(context):
            rows = _rows_of(obj, key)
            made = Provenance(
                context.run_id, self.graph[name].code_version, self._inputs_hash(context, name, key)
            )
            allow_empty = bool((context.definition_metadata or {}).get(ALLOW_EMPTY))
            content = write_slice(self.warehouse, name, key, rows, made, allow_empty=allow_empty)
            context.log.info(f"{name} {slice_name(key)}: {len(rows)} rows, content {content[:12]}")
        context.add_output_metadata(
            {
                "dagster/partition_row_count"
                if _partitioned(context)
                else "dagster/row_count": len(obj),
                "dagster/column_schema": column_schema(self.warehouse.declaration.tables[name]),
            }
        )

    def load_input(self, context: dg.InputContext) -> pl.DataFrame:
        """Read the partitions asked for, or the whole of an unpartitioned table."""
        name = table_name(context.asset_key)
        keys = _slice_keys(context)
        columns = tuple(keys[0]) if keys else ()
        with self.warehouse.reader() as con:
            rows = con.sql(f"SELECT * FROM {name}").pl()
        if not columns:
            return rows
        wanted = pl.DataFrame([dict(key) for key in keys])
        as_text = rows.with_columns(pl.col(columns).cast(pl.String).name.prefix("_key_"))
        kept = as_text.join(
            wanted, left_on=[f"_key_{c}" for c in columns], right_on=columns, how="semi"
        )
        return kept.select(rows.columns)

    def _inputs_hash(self, context: dg.OutputContext, name: str, key: Key) -> str | None:
        """Hash of the inputs; None if another run rewrote one while this run was reading."""
        with self.warehouse.reader() as con:
            inputs = inputs_of(con, self.graph, name, key)
        moved = inputs.newest and inputs.newest > self.started
        return None if moved and inputs.newest_run_id != context.run_id else inputs.hash


def io_manager(warehouse: Warehouse, graph: Graph) -> dg.IOManagerDefinition:
    """Resource that makes one IO manager a run."""

    @dg.io_manager
    def warehouse_io(_: dg.InitResourceContext) -> WarehouseIOManager:
        return WarehouseIOManager(warehouse, graph)

    return warehouse_io


def partition_key(context: dg.AssetExecutionContext) -> dict[str, str]:
    """Partition columns and values of the running partition."""
    return as_columns(context.assets_def.partitions_def, context.partition_key)


def _slice_keys(context: dg.OutputContext | dg.InputContext) -> list[Key]:
    if not _partitioned(context):
        return [{}]
    definition = context.asset_partitions_def
    return [as_columns(definition, key) for key in context.asset_partition_keys]


def _partitioned(context: dg.OutputContext | dg.InputContext) -> bool:
    return context.has_asset_partitions


def as_columns(definition: dg.PartitionsDefinition[Any] | None, key: str) -> dict[str, str]:
    """Partition columns and values of a partition key."""
    if isinstance(key, dg.MultiPartitionKey):
        return {column: key.keys_by_dimension[column] for column in COLUMNS[definition]}
    return dict(zip(COLUMNS[definition], [key], strict=True))


def _rows_of(frame: pl.DataFrame, key: Key) -> pl.DataFrame:
    """Rows of `frame` that belong to slice `key`; all of them if it lacks the key columns."""
    named: Sequence[str] = [column for column in key if column in frame.columns]
    return frame.filter(*(pl.col(column).cast(pl.String) == key[column] for column in named))
