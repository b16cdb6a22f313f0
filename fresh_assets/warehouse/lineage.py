"""From which slices a slice was made, and whether it is still up to date.

The hash of the inputs (content of the parent slices, code version) is stored with every slice, so
a refresh redoes only what changed. A parent is matched on the partition columns it shares.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import duckdb

from fresh_assets.errors import UserError
from fresh_assets.warehouse.slices import Key, slice_name


@dataclass(frozen=True)
class Parent:
    """A table that another is made from.

    `same_key`: of its partitions, those with the key of the child. Otherwise those that matter:
    the version a week is evaluated against, a version and the one before it, a week and all before,
    every catalog.
    """

    table: str
    same_key: bool = True


@dataclass(frozen=True)
class Node:
    """A table in the asset graph: its partition columns, its parents and the code that fills it."""

    table: str
    columns: tuple[str, ...] = ()
    parents: tuple[Parent, ...] = ()
    code_version: str = ""


Graph = Mapping[str, Node]


@dataclass(frozen=True)
class Inputs:
    """Hash of what a slice is made from, and the time the newest of it was written."""

    hash: str
    newest: datetime | None
    newest_run_id: str | None


def inputs_of(con: duckdb.DuckDBPyConnection, graph: Graph, table: str, key: Key) -> Inputs:
    """Find the parent slices of slice `key` of `table` as they are now."""
    node = graph[table]
    found = []
    for parent in sorted(node.parents, key=lambda parent: parent.table):
        columns = graph[parent.table].columns
        wanted = {c: {key[c]} for c in columns if c in key and (parent.same_key or c != "catalog")}
        if not parent.same_key and "version" in columns:
            wanted["version"] = _versions(con, key)
        if not parent.same_key and "week" in columns:
            wanted["week"] = _weeks(con, parent.table, key["week"])
        rows = con.execute(
            "SELECT slice, content_hash, written_at, run_id FROM meta.slices "
            "WHERE table_name = ? ORDER BY slice",
            [parent.table],
        ).fetchall()
        found += [
            (parent.table, *row)
            for row in rows
            if all(
                value in wanted.get(column, {value})
                for column, value in zip(columns, row[0].split("|"), strict=False)
            )
        ]
    text = "\n".join([node.code_version, *(f"{name} {s} {h}" for name, s, h, *_ in found)])
    newest = max(found, key=lambda row: row[3], default=None)
    return Inputs(
        hashlib.sha256(text.encode()).hexdigest(),
        newest[3] if newest else None,
        newest[4] if newest else None,
    )


def is_up_to_date(con: duckdb.DuckDBPyConnection, graph: Graph, table: str, key: Key) -> bool:
    """Whether slice `key` exists and was made from what its parents hold now."""
    row = con.execute(
        "SELECT inputs_hash FROM meta.slices WHERE table_name = ? AND slice = ?",
        [table, slice_name(key)],
    ).fetchone()
    return row is not None and row[0] == inputs_of(con, graph, table, key).hash


def version_of_week(con: duckdb.DuckDBPyConnection, week: date) -> date | None:
    """Version that `week` is evaluated against; None while there is none.

    A week is pinned to the version its snapshot searched. Without a snapshot it is the newest
    version dated no later than the week's Sunday.
    """
    row = con.execute(
        """
        SELECT coalesce(
            (SELECT max(version) FROM search.results WHERE week = $week),
            (SELECT max(version) FROM freshqa.revisions WHERE version <= $sunday)
        )
        """,
        {"week": week, "sunday": week + timedelta(days=6)},
    ).fetchone()
    return row[0] if row else None


def pinned_version(con: duckdb.DuckDBPyConnection, week: date) -> date:
    """Version that `week` is evaluated against; UserError while there is none."""
    version = version_of_week(con, week)
    if version is None:
        raise UserError(f"no version dated up to the end of week {week} is imported")
    return version


def _versions(con: duckdb.DuckDBPyConnection, key: Key) -> set[str]:
    if "week" in key:
        return {str(version_of_week(con, date.fromisoformat(key["week"])))}
    (previous,) = con.execute(
        "SELECT max(version)::VARCHAR FROM freshqa.revisions WHERE version < ?", [key["version"]]
    ).fetchall()[0]
    return {key["version"], previous}


def _weeks(con: duckdb.DuckDBPyConnection, table: str, week: str) -> set[str]:
    rows = con.execute(
        "SELECT slice FROM meta.slices WHERE table_name = ? AND slice <= ?", [table, week]
    ).fetchall()
    return {slice_ for (slice_,) in rows}
