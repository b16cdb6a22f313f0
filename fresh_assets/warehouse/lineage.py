"""From which slices a slice was made, and whether it is still up to date.

The hash of the inputs (content of the parent slices, code version) is stored with every slice, so
a refresh redoes only what changed. A parent is matched on the partition columns it shares.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import duckdb

from fresh_assets.warehouse.slices import Key, slice_name


@dataclass(frozen=True)
class Node:
    """A table in the asset graph: its partition columns, its parents and the code that fills it."""

    table: str
    columns: tuple[str, ...] = ()
    parents: tuple[str, ...] = ()
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
    for parent in sorted(node.parents):
        rows = con.execute(
            "SELECT slice, content_hash, written_at, run_id FROM meta.slices "
            "WHERE table_name = ? ORDER BY slice",
            [parent],
        ).fetchall()
        columns = graph[parent].columns
        wanted = _wanted(con, columns, key)
        found += [
            (parent, *row)
            for row in rows
            if all(
                wanted.get(c, v) == v or v in wanted.get(c, v)
                for c, v in zip(columns, row[0].split("|"), strict=False)
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


def _wanted(
    con: duckdb.DuckDBPyConnection, columns: tuple[str, ...], key: Key
) -> dict[str, str | set[str]]:
    """Values that a parent's partition columns must have; a column not named may have any."""
    wanted: dict[str, str | set[str]] = {c: key[c] for c in columns if c in key}
    if columns == ("version",) and "version" in key:
        before = con.execute(
            "SELECT max(version)::VARCHAR FROM freshqa.revisions WHERE version < ?",
            [key["version"]],
        ).fetchone()
        wanted["version"] = {key["version"], *(v for v in before or () if v)}
    elif columns == ("version",) and "week" in key:
        wanted["version"] = str(version_of_week(con, date.fromisoformat(key["week"])))
    return wanted
