"""Great Expectations as asset checks, generated from the declared tables and what rooms add.

GX has no DuckDB engine: SQL selects the slice and says of each rule whether a row meets it, GX
validates the pandas frame of that.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import dagster as dg
import duckdb
import polars as pl

from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import as_columns
from fresh_assets.warehouse.schema import Table, catalog
from fresh_assets.warehouse.slices import Key, family, slice_name

if TYPE_CHECKING:
    from great_expectations.expectations import Expectation

MOST_NAMED = 10
WEEK = {"week is a Monday": "isodow(week) = 1"}
OF_ITS_TIME = {**WEEK, "version is no later than the week": "version < week + 7"}
OF_OUR_TIME = "{} BETWEEN '2023-10-01' AND now()::TIMESTAMP + INTERVAL 1 DAY"
SHA256 = "regexp_full_match({}, '[0-9a-f]{{64}}')"


@dataclass(frozen=True)
class Contract:
    """What holds for a table beyond its declaration.

    `rules`: name to SQL predicate of a row; NULL counts as met. `unique`: further sets of columns
    that are unique. `missing`: query of rows that the slice should have and has not; it may name
    the partition columns as parameters.
    """

    rules: Mapping[str, str] = field(default_factory=dict)
    unique: Sequence[tuple[str, ...]] = ()
    missing: str = ""


@dataclass(frozen=True)
class Failure:
    """An expectation that is not met, and the rows that do not meet it."""

    expectation: str
    observed: str
    offenders: tuple[str, ...] = ()

    def __str__(self) -> str:
        told = f", e.g. {'; '.join(self.offenders)}" if self.offenders else ""
        return f"{self.expectation}: {self.observed}{told}"


def integrity_check(
    spec: dg.AssetSpec, table: Table, contract: Contract, *, by_partition: bool
) -> dg.AssetChecksDefinition:
    """Blocking check of the slice of `table` that the asset wrote, or of the whole table."""
    partitions = spec.partitions_def if by_partition else None
    name = "expectations" if table.name == ".".join(spec.key.path) else table.name.split(".")[1]

    @dg.asset_check(
        asset=spec.key, name=name, blocking=True, partitions_def=partitions,
        description=f"Great Expectations: {table.name} holds what its declaration and rules say.",
    )  # fmt: skip
    def expectations(
        context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> dg.AssetCheckResult:
        key = as_columns(partitions, context.partition_key) if partitions else {}
        with warehouse.reader() as con:
            failures, met, rows = validate(con, table, key, contract)
        return dg.AssetCheckResult(
            passed=not failures,
            description="; ".join(map(str, failures)) or f"{met} expectations met by {rows} rows",
            metadata={"rows": rows, "expectations met": met, "failures": _as_table(failures)},
        )

    return expectations


def validate(
    con: duckdb.DuckDBPyConnection, table: Table, key: Key, contract: Contract
) -> tuple[list[Failure], int, int]:
    """(expectations not met, number of those met, number of rows) of a slice."""
    if failures := list(_wrong_columns(con, table)):
        return failures, 0, 0
    frame = _slice(con, table, key, contract)
    written = con.execute(
        "SELECT sum(row_count)::BIGINT FROM meta.slices WHERE table_name = $table"
        + (" AND slice = $slice" if key else ""),
        {"table": table.name, **({"slice": slice_name(key)} if key else {})},
    ).fetchall()[0][0]
    suite = list(_suite(table, contract, len(frame) if written is None else written))
    failures = list(_validate(frame, suite, table.primary_key))
    if contract.missing:
        used = {name: value for name, value in key.items() if f"${name}" in contract.missing}
        missing = con.execute(contract.missing, used).pl()
        if len(missing):
            named = tuple(_row(row) for row in missing.head(MOST_NAMED).iter_rows(named=True))
            failures.append(Failure("no row is missing", f"{len(missing)} are", named))
    return failures, len(suite) + bool(contract.missing) - len(failures), len(frame)


def _wrong_columns(con: duckdb.DuckDBPyConnection, table: Table) -> Iterator[Failure]:
    stored = {c.name: c.type for c in catalog(con)[table.name].columns}
    for column in table.columns:
        found = stored.get(column.name)
        if found is None:
            yield Failure(f"column {column.name} exists", "it does not")
        elif family(found) != family(column.type):
            name, kind = f'"{column.name}"', column.type
            rows = con.sql(
                f"SELECT {', '.join(dict.fromkeys([*table.primary_key, column.name]))} "
                f"FROM {table.name} WHERE {name} IS NOT NULL "
                f"ORDER BY try_cast({name} AS {kind}) IS NOT NULL LIMIT {MOST_NAMED}"
            ).pl()
            named = tuple(_row(row) for row in rows.iter_rows(named=True))
            yield Failure(f"column {column.name} is {kind}", f"it is {found}", named)
    for name in stored.keys() - {c.name for c in table.columns}:
        yield Failure("all columns are declared", f"{name} is not")


def _slice(
    con: duckdb.DuckDBPyConnection, table: Table, key: Key, contract: Contract
) -> pl.DataFrame:
    names = {*table.primary_key, *(c.name for c in table.columns if not c.nullable)}
    names |= {name for columns in contract.unique for name in columns}
    lists = {c.name for c in table.columns if c.type.endswith("[]")}
    shown = [f'to_json("{n}") AS "{n}"' if n in lists else f'"{n}"' for n in sorted(names)]
    rules = [f"coalesce(({sql}), TRUE) AS {_quoted(name)}" for name, sql in _rules(table, contract)]
    where = " AND ".join(f"{column} = ${column}" for column in key) or "TRUE"
    query = f"SELECT {', '.join([*shown, *rules])} FROM {table.name} WHERE {where}"
    return con.execute(query, dict(key)).pl()


def _rules(table: Table, contract: Contract) -> Iterator[tuple[str, str]]:
    yield from ((check, check) for check in table.checks)
    yield from contract.rules.items()


def _suite(table: Table, contract: Contract, written: int) -> "Iterator[Expectation]":
    from great_expectations import expectations as gxe  # noqa: PLC0415  (3 s to import)

    yield gxe.ExpectTableRowCountToEqual(value=written)
    for column in table.columns:
        if not column.nullable:
            yield gxe.ExpectColumnValuesToNotBeNull(column=column.name)
    for columns in filter(None, (table.primary_key, *contract.unique)):
        if len(columns) == 1:
            yield gxe.ExpectColumnValuesToBeUnique(column=columns[0])
        else:
            yield gxe.ExpectCompoundColumnsToBeUnique(column_list=list(columns))
    for name, _ in _rules(table, contract):
        yield gxe.ExpectColumnValuesToBeInSet(column=name, value_set=[True])


def _validate(
    frame: pl.DataFrame, suite: "Sequence[Expectation]", primary_key: tuple[str, ...]
) -> Iterator[Failure]:
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx  # noqa: PLC0415  (3 s to import)

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("frame").add_dataframe_asset("frame")
    batch = source.add_batch_definition_whole_dataframe("frame").get_batch(
        batch_parameters={"dataframe": frame.to_pandas()}
    )
    shown = {"result_format": "SUMMARY", "unexpected_index_column_names": list(primary_key)}
    validated = batch.validate(
        gx.ExpectationSuite(name="suite", expectations=list(suite)),
        result_format={**shown, "partial_unexpected_count": MOST_NAMED},
    )
    for result in validated.results:
        if not result.success:
            yield _failure(result, primary_key)


def _failure(result: Any, primary_key: tuple[str, ...]) -> Failure:
    config = result.expectation_config
    kind = config.type.removeprefix("expect_").replace("_", " ")
    of = config.kwargs.get("column") or ", ".join(config.kwargs.get("column_list") or ())
    found = result.result
    if not found:
        return Failure(kind, str(result.exception_info))
    if "unexpected_count" not in found:
        wanted = config.kwargs.get("value")
        return Failure("rows are those that were written", f"{found['observed_value']} of {wanted}")
    named = tuple(
        _row({name: row[name] for name in primary_key if name in row})
        for row in found.get("partial_unexpected_index_list") or ()
    )
    named = tuple(dict.fromkeys(named))[:MOST_NAMED]
    is_rule = kind == "column values to be in set"
    told = of if is_rule else f"{kind} ({of})"
    return Failure(told, f"{found['unexpected_count']} rows do not", named)


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in row.items())


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _as_table(failures: Sequence[Failure]) -> dg.TableMetadataValue:
    columns = ("expectation", "observed", "offenders")
    return dg.TableMetadataValue(
        records=[
            dg.TableRecord(dict(zip(columns, row, strict=True)))
            for f in failures
            for row in [(f.expectation, f.observed, "; ".join(f.offenders))]
        ],
        schema=dg.TableSchema(columns=[dg.TableColumn(name) for name in columns]),
    )
