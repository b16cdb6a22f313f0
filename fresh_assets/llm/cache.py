"""The call cache: every finished call, committed at once (SQLite, WAL).

Only good replies are served. Errors, cut-off, empty and unusable replies are kept for the record.
The key is the full request, which is stored beside the reply.
"""

import json
import sqlite3
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fresh_assets.llm.request import Outcome, Request, Usage

SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, state TEXT NOT NULL, model TEXT NOT NULL,
    finished_at TEXT NOT NULL, request BLOB NOT NULL, reply TEXT NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS served ON calls (key) WHERE state = 'ok';
"""


@dataclass(frozen=True)
class CacheStats:
    """Entries by state, size in bytes, first and last call."""

    states: dict[str, int]
    size: int
    first: str | None
    last: str | None


class CallCache:
    """The cache file. One instance belongs to one thread."""

    def __init__(self, file: Path | str) -> None:
        if file != ":memory:":
            Path(file).parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(SCHEMA)

    def get(self, request: Request) -> Outcome | None:
        """The good reply to exactly this request; a broken entry counts as none."""
        row = self._db.execute(
            "SELECT reply FROM calls WHERE key = ? AND state = 'ok'", [request.key]
        ).fetchone()
        if row is None:
            return None
        try:
            reply = json.loads(row[0])
            usage = Usage(**reply.pop("usage"))
            citations = tuple(reply.pop("citations"))
            return Outcome(
                request, "ok", usage=usage, citations=citations, from_cache=True, **reply
            )
        except (ValueError, KeyError, TypeError):
            self._db.execute("UPDATE calls SET state = 'broken' WHERE key = ?", [request.key])
            return None

    def put(self, outcome: Outcome) -> None:
        """Keep an outcome; a later good reply to the same request replaces the earlier one."""
        reply = {
            "text": outcome.text,
            "problem": outcome.problem,
            "finish_reason": outcome.finish_reason,
            "model": outcome.model,
            "usage": outcome.usage.__dict__,
            "cost": outcome.cost,
            "seconds": outcome.seconds,
            "tries": outcome.tries,
            "citations": outcome.citations,
        }
        self._db.execute(
            "INSERT OR REPLACE INTO calls (key, state, model, finished_at, request, reply) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            [
                outcome.request.key,
                outcome.state,
                outcome.request.model,
                datetime.now(UTC).isoformat(timespec="seconds"),
                zlib.compress(outcome.request.text.encode("utf-8", "surrogatepass"), 1),
                json.dumps(reply),
            ],
        )

    def stats(self) -> CacheStats:
        """What the cache holds."""
        states = dict(
            self._db.execute("SELECT state, count(*) FROM calls GROUP BY state ORDER BY 1")
        )
        first, last = self._db.execute(
            "SELECT min(finished_at), max(finished_at) FROM calls"
        ).fetchone()
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        size = pages * self._db.execute("PRAGMA page_size").fetchone()[0]
        return CacheStats(states, size, first, last)

    def prune(self, older_than: timedelta, *, only_unserved: bool) -> int:
        """Delete calls older than that (or only those never served); return how many."""
        before = (datetime.now(UTC) - older_than).isoformat(timespec="seconds")
        where = " AND state <> 'ok'" if only_unserved else ""
        deleted = self._db.execute(
            f"DELETE FROM calls WHERE finished_at < ?{where}", [before]
        ).rowcount
        self._db.execute("VACUUM")
        return deleted

    def close(self) -> None:
        """Close the file."""
        self._db.close()
