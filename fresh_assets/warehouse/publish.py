"""The analyst snapshot: an immutable, verified copy of the warehouse under a name of its own.

Analysts never open the live file. A publish copies it beside the earlier snapshots, checks the
copy, and only then moves `latest.duckdb` by rename; who reads an older file goes on reading it.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from fresh_assets.errors import UserError
from fresh_assets.warehouse.connections import Warehouse, connect

STORAGE_VERSION = "v1.4.0"
"""File format that DuckDB 1.4 and later can read."""
LATEST = "latest.duckdb"
PREFIX = "fresh_assets_"


@dataclass(frozen=True)
class Snapshot:
    """A published file and what is in it."""

    file: Path
    content_hash: str
    created_at: datetime
    rows: dict[str, int]


class PublishError(Exception):
    """The copy does not hold what the warehouse holds; nothing was published."""


def publish(
    warehouse: Warehouse, folder: Path, *, run_id: str | None = None, keep: int = 8
) -> Snapshot:
    """Copy the warehouse to a new file in `folder` and point `latest.duckdb` at it.

    Keeps the newest `keep` snapshots and the last of every month. Readers of published files are
    not disturbed; a crash at any moment leaves the old `latest` or the new one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with warehouse.exclusive():
        for leftover in folder.glob("*.tmp*"):
            leftover.unlink()
        snapshot = _copy(warehouse, folder, run_id)
        _point_latest(snapshot.file)
        _retire(folder, keep)
    return snapshot


def latest(folder: Path) -> Path:
    """Return the newest published file itself (not the link), so that a session stays on it."""
    link = folder / LATEST
    if not link.exists():
        raise UserError(f"nothing is published in {folder}: run `fresh-assets refresh` first")
    return link.resolve()


def open_latest(folder: Path) -> duckdb.DuckDBPyConnection:
    """Open the newest published file, read-only."""
    return connect(latest(folder), read_only=True)


def is_published(warehouse: Warehouse, folder: Path) -> bool:
    """Whether the newest published file holds what the warehouse holds."""
    if not (folder / LATEST).exists():
        return False
    try:
        with open_latest(folder) as con:
            published = con.execute("SELECT content_hash FROM _snapshot").fetchall()[0][0]
    except duckdb.Error:
        return False
    with warehouse.reader() as con:
        return bool(_content_hash(con) == published)


def _copy(warehouse: Warehouse, folder: Path, run_id: str | None) -> Snapshot:
    created = datetime.now(UTC).replace(tzinfo=None)
    temporary = folder / f"{PREFIX}{os.getpid()}.tmp.duckdb"
    with connect(":memory:") as con:
        con.execute(f"ATTACH '{_quoted(warehouse.file)}' AS live (READ_ONLY)")
        con.execute(f"ATTACH '{_quoted(temporary)}' AS copy (STORAGE_VERSION '{STORAGE_VERSION}')")
        con.execute("COPY FROM DATABASE live TO copy")
        rows = _counts(con, "live")
        if _counts(con, "copy") != rows:
            raise PublishError(f"row counts of the copy differ from {warehouse.file}")
        content = _content_hash(con, "copy.")
        _describe(con, created, run_id, content, warehouse.declaration.version, rows)
        con.execute("CHECKPOINT copy")
        con.execute("DETACH copy")
    _verify(temporary, rows)
    _fsync(temporary)
    file = folder / f"{PREFIX}{created:%Y%m%dT%H%M%S%f}_{content[:8]}.duckdb"
    temporary.rename(file)
    return Snapshot(file, content, created, rows)


def _counts(con: duckdb.DuckDBPyConnection, database: str) -> dict[str, int]:
    tables = con.execute(
        "SELECT schema_name || '.' || table_name FROM duckdb_tables() "
        "WHERE database_name = ? ORDER BY 1",
        [database],
    ).fetchall()
    return {
        name: con.execute(f'SELECT count(*) FROM "{database}".{name}').fetchall()[0][0]
        for (name,) in tables
    }


def _content_hash(con: duckdb.DuckDBPyConnection, database: str = "") -> str:
    slices = con.execute(
        f"SELECT table_name, slice, content_hash FROM {database}meta.slices ORDER BY ALL"
    ).fetchall()
    return hashlib.sha256(repr(slices).encode()).hexdigest()


def _describe(
    con: duckdb.DuckDBPyConnection,
    created: datetime,
    run_id: str | None,
    content: str,
    schema_version: int,
    rows: dict[str, int],
) -> None:
    con.execute(
        """
        CREATE TABLE copy.main._snapshot AS SELECT
            ?::TIMESTAMP AS created_at, ?::VARCHAR AS run_id, ?::VARCHAR AS content_hash,
            ?::INTEGER AS schema_version, ?::MAP(VARCHAR, BIGINT) AS row_counts,
            (SELECT list_sort(list(DISTINCT version)) FROM copy.freshqa.revisions) AS versions,
            (SELECT list_sort(list(DISTINCT week)) FROM copy.search.results) AS weeks
        """,
        [created, run_id, content, schema_version, rows],
    )
    con.execute(
        "COMMENT ON TABLE copy.main._snapshot IS 'What this file holds and when it was made.'"
    )


def _verify(file: Path, rows: dict[str, int]) -> None:
    """Open the finished file as an analyst would: every table and every view must answer."""
    with connect(file, read_only=True) as con:
        name = con.execute("SELECT current_database()").fetchall()[0][0]
        found = _counts(con, name)
        if any(found[table] != count for table, count in rows.items()):
            raise PublishError(f"row counts changed while {file} was written")
        views = con.execute(
            "SELECT schema_name || '.' || view_name FROM duckdb_views() WHERE NOT internal"
        ).fetchall()
        for (view,) in views:
            con.execute(f"SELECT * FROM {view} LIMIT 1").fetchall()


def _point_latest(file: Path) -> None:
    pointer = file.with_name(f"{LATEST}.tmp")
    pointer.symlink_to(file.name)
    pointer.rename(file.with_name(LATEST))
    _fsync(file.parent)


def _retire(folder: Path, keep: int) -> None:
    files = sorted(folder.glob(f"{PREFIX}*.duckdb"))
    month_ends = {file.name[: len(PREFIX) + 6]: file for file in files}
    for file in _without(files[:-keep], month_ends.values()):
        file.unlink()


def _without(files: Iterable[Path], kept: Iterable[Path]) -> list[Path]:
    return sorted(set(files) - set(kept))


def _fsync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
