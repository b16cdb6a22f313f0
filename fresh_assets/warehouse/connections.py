"""Short connections to the live DuckDB file: many readers or one writer, over processes.

No network call may happen while a connection is open.
"""

import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import duckdb
import filelock
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_random

from fresh_assets.errors import UserError
from fresh_assets.warehouse.schema import Declaration, declared, is_current, migrate

T = TypeVar("T")


class WarehouseBusyError(UserError):
    """Another process held the warehouse for longer than the timeout."""


class Warehouse:
    """The live DuckDB file. Opening the first connection creates or migrates it."""

    def __init__(
        self, file: Path, lock_timeout: float = 120, declaration: Declaration | None = None
    ) -> None:
        self.file = file
        self.lock_timeout = lock_timeout
        self.declaration = declaration or declared()
        self._lock = filelock.FileLock(f"{file}.lock")
        self._holder = Path(f"{file}.lock.holder")
        self._ready = False

    @contextmanager
    def reader(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a read-only connection; waits while a writer has the file."""
        self._prepare()
        with self._patiently(lambda: connect(self.file, read_only=True)) as con:
            yield con

    @contextmanager
    def writer(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield the one writing connection; what is not committed when it ends is rolled back."""
        self._prepare()
        with self._exclusive() as con:
            yield con

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Keep every writer out without opening the file (to copy it)."""
        self._prepare()
        with self._held():
            yield

    def _prepare(self) -> None:
        if self._ready:
            return
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if not (self.file.exists() and self._is_current()):
            with self._exclusive() as con:
                if not is_current(con, self.declaration):
                    migrate(con, self.declaration)
        self._ready = True

    def _is_current(self) -> bool:
        with self._patiently(lambda: connect(self.file, read_only=True)) as con:
            return is_current(con, self.declaration)

    @contextmanager
    def _exclusive(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._held(), self._patiently(lambda: connect(self.file)) as con:
            yield con

    @contextmanager
    def _held(self) -> Iterator[None]:
        with self._patiently(lambda: self._lock.acquire(blocking=False)):
            me = {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "since": f"{datetime.now(UTC):%F %T}",
            }
            self._holder.write_text(json.dumps(me), encoding="utf-8")
            yield

    def _patiently(self, take: Callable[[], T]) -> T:
        waiting = Retrying(
            retry=retry_if_exception(_is_held),
            wait=wait_random(0.005, 0.1),
            stop=stop_after_delay(self.lock_timeout),
            reraise=True,
        )
        try:
            return waiting(take)
        except (duckdb.Error, filelock.Timeout) as error:
            if _is_held(error):
                raise WarehouseBusyError(self._who_holds(error)) from error
            raise

    def _who_holds(self, error: Exception) -> str:
        who = "another process"
        if isinstance(error, filelock.Timeout) and self._holder.exists():
            holder = json.loads(self._holder.read_text(encoding="utf-8"))
            who = f"PID {holder['pid']} on {holder['host']} (since {holder['since']} UTC)"
        elif found := str(error).partition("held in ")[2]:
            who = found.partition(". ")[0]
        return (
            f"{self.file} was busy for {self.lock_timeout:g} s, held by {who}: wait for it or stop "
            "it, then try again; to query, open the published file instead"
        )


def connect(file: Path | str, *, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Open `file` the one way this program does; closes with its `with` block."""
    con = duckdb.connect(str(file), read_only=read_only)
    con.execute("SET python_enable_replacements = false")
    return con


def _is_held(error: BaseException) -> bool:
    if isinstance(error, filelock.Timeout):
        return True
    return isinstance(error, duckdb.Error) and (
        "Could not set lock" in str(error) or "different configuration" in str(error)
    )
