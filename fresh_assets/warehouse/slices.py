"""Write one slice of a table: all of it in one transaction, or nothing.

A slice is the rows of one partition (or the whole of an unpartitioned table). Everything that can
be known to be wrong with a frame is found before the old rows are deleted.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import duckdb
import polars as pl

from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.schema import PROVENANCE, Column, Table

Key = Mapping[str, str]
"""Values of the partition columns that name a slice; empty for a whole table."""


class FrameError(Exception):
    """A frame does not fit the declared table. Nothing was deleted or written."""


@dataclass(frozen=True)
class Provenance:
    """What made a slice; all None for imports."""

    run_id: str | None = None
    code_version: str | None = None
    inputs_hash: str | None = None


def slice_name(key: Key) -> str:
    """Text form of a slice key, e.g. `2026-01-05|gpt-4o/closed-book`."""
    return "|".join(key.values())


def write_slice(
    warehouse: Warehouse,
    table_name: str,
    key: Key,
    frame: pl.DataFrame,
    provenance: Provenance | None = None,
    *,
    allow_empty: bool = False,
) -> str:
    """Replace the rows of `key` in `table_name` by `frame`; return the hash of their content.

    Columns go by name. Partition and provenance columns are added where the frame lacks them.
    Raises FrameError when the frame does not fit or is empty and may not be.
    """
    table = warehouse.declaration.tables[table_name]
    frame = conform(table, key, frame, provenance or Provenance())
    if frame.is_empty() and not allow_empty:
        raise FrameError(
            f"{table_name} {slice_name(key)}: no rows; an empty slice must be asked for"
        )
    with warehouse.writer() as con:
        con.execute("BEGIN")
        put_slice(con, table, key, frame, provenance or Provenance())
        con.execute("COMMIT")
    return content_hash(table, frame)


def put_slice(
    con: duckdb.DuckDBPyConnection, table: Table, key: Key, frame: pl.DataFrame, made: Provenance
) -> None:
    """Within an open transaction, replace a slice by a frame that `conform` returned."""
    where = " AND ".join(f"{column} = ?" for column in key) or "true"
    con.execute(f"DELETE FROM {table.name} WHERE {where}", list(key.values()))
    con.register("incoming", frame.to_arrow())
    try:
        con.execute(f"INSERT INTO {table.name} BY NAME SELECT * FROM incoming")
    except duckdb.ConstraintException as error:
        raise FrameError(f"{table.name} {slice_name(key)}: {error}") from error
    con.unregister("incoming")
    con.execute(
        "INSERT OR REPLACE INTO meta.slices VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            table.name,
            slice_name(key),
            len(frame),
            content_hash(table, frame),
            made.inputs_hash,
            made.code_version,
            made.run_id,
            datetime.now(UTC).replace(tzinfo=None),
        ],
    )


def conform(table: Table, key: Key, frame: pl.DataFrame, made: Provenance) -> pl.DataFrame:
    """Return `frame` with the declared columns in declared order, or raise FrameError."""
    frame = _complete(table, key, frame, made)
    problems = _wrong_types(table, frame) or _wrong_values(table, key, frame)
    if problems:
        raise FrameError(f"{table.name} {slice_name(key)}: {'; '.join(problems)}")
    return frame


def content_hash(table: Table, frame: pl.DataFrame) -> str:
    """Hash of the rows in key order, without provenance columns."""
    content = frame.select(c.name for c in table.columns if c.name not in PROVENANCE)
    ordered = content.sort(table.primary_key or content.columns)
    return hashlib.sha256(ordered.write_ndjson().encode()).hexdigest()


def _complete(table: Table, key: Key, frame: pl.DataFrame, made: Provenance) -> pl.DataFrame:
    stamps = {"run_id": made.run_id, "code_version": made.code_version}
    names = [c.name for c in table.columns]
    frame = frame.with_columns(
        pl.lit(stamps[name], dtype=pl.String).alias(name)
        for name in PROVENANCE
        if name in names and name not in frame.columns
    )
    frame = frame.with_columns(
        _key_literal(table.column(name), value)
        for name, value in key.items()
        if name not in frame.columns
    )
    missing = [c.name for c in table.columns if c.name not in frame.columns]
    unknown = [name for name in frame.columns if name not in names]
    if missing or unknown:
        raise FrameError(
            f"{table.name} {slice_name(key)}: columns missing {missing}, not declared {unknown}; "
            "the declaration is in sql/tables"
        )
    return frame.select(names)


def _key_literal(column: Column, value: str) -> pl.Expr:
    literal = pl.lit(value)
    return (literal.str.to_date() if column.type == "DATE" else literal).alias(column.name)


def _wrong_types(table: Table, frame: pl.DataFrame) -> list[str]:
    with duckdb.connect() as con:
        con.register("incoming", frame.to_arrow())
        found = {name: kind for name, kind, *_ in con.execute("DESCRIBE incoming").fetchall()}
    return [
        f"{c.name} is {found[c.name]}, declared {c.type} (e.g. {frame[c.name].drop_nulls()[0]!r} "
        f"in row {frame[c.name].is_not_null().arg_max()})"
        for c in table.columns
        if not frame[c.name].is_null().all() and family(found[c.name]) != family(c.type)
    ]


def family(kind: str) -> str:
    """Type without its width: all integers are one, FLOAT and DOUBLE are one."""
    integers = r"\b(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER)\b"
    return re.sub(r"\bFLOAT\b", "DOUBLE", re.sub(integers, "INTEGER", kind))


def _wrong_values(table: Table, key: Key, frame: pl.DataFrame) -> list[str]:
    required = [c.name for c in table.columns if not c.nullable]
    nulls = [name for name in required if frame[name].null_count()]
    problems = [f"{name} is NULL in row {frame[name].is_null().arg_max()}" for name in nulls]
    problems += [
        f"{name} has values other than the slice's {value}"
        for name, value in key.items()
        if (frame[name].cast(pl.String) != value).any()
    ]
    if table.primary_key and frame.select(table.primary_key).is_duplicated().any():
        twice = frame.filter(frame.select(table.primary_key).is_duplicated()).row(0, named=True)
        values = {name: str(twice[name]) for name in table.primary_key}
        problems.append(f"two rows have the key {values}")
    return problems + _unmet_checks(table, frame)


def _unmet_checks(table: Table, frame: pl.DataFrame) -> list[str]:
    """Declared CHECKs that rows of a frame of the declared types do not meet."""
    query = "SELECT count(*), min(row_number) FROM incoming WHERE NOT ({})"
    with duckdb.connect() as con:
        con.register("incoming", frame.with_row_index("row_number").to_arrow())
        unmet = [(c, *con.sql(query.format(c)).fetchall()[0]) for c in table.checks]
    return [
        f"{check} does not hold in {rows} rows, the first {_named(table, frame, first)}"
        for check, rows, first in unmet
        if rows
    ]


def _named(table: Table, frame: pl.DataFrame, row: int) -> str:
    names = table.primary_key or frame.columns[:1]
    return ", ".join(f"{name} = {frame[name][row]}" for name in names)
