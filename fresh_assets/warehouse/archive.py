"""What came from outside, verbatim: imported files and search payloads, by content hash.

SQLite in WAL mode, committed at once: a killed run loses at most what was in flight. No
payload is ever rewritten or deleted, so every table can be derived again.
"""

import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS blobs (hash TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS searches (
    week TEXT NOT NULL, engine TEXT NOT NULL, question_key TEXT NOT NULL, query TEXT NOT NULL,
    version TEXT NOT NULL, as_of TEXT NOT NULL, payload_hash TEXT NOT NULL REFERENCES blobs,
    archived_at TEXT NOT NULL, PRIMARY KEY (week, engine, question_key)
) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Search:
    """One archived search; the payload is the blob `payload_hash`."""

    week: date
    engine: str
    question_key: str
    query: str
    version: date
    as_of: date
    payload_hash: str
    archived_at: datetime


class Archive:
    """The archive file; every call opens it for as long as it needs."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def put(self, content: bytes) -> str:
        """Store `content` and return its SHA-256; storing it twice keeps one copy."""
        with self._open() as db:
            return _put(db, content)

    def get(self, content_hash: str) -> bytes:
        """Return the content with this hash; KeyError if the archive does not have it."""
        return dict(self.get_many([content_hash]))[content_hash]

    def get_many(self, hashes: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (hash, content) for each of `hashes` that the archive has."""
        with self._open() as db:
            for wanted in hashes:
                row = db.execute("SELECT content FROM blobs WHERE hash = ?", [wanted]).fetchone()
                if row:
                    yield wanted, zlib.decompress(row[0])

    def put_searches(
        self,
        week: date,
        engine: str,
        version: date,
        searches: Iterable[tuple[str, str, date, bytes]],
        *,
        replace: bool = False,
    ) -> int:
        """Archive (question key, query, as-of day, payload) tuples in one commit.

        A search already archived for that week and engine is kept as it is, unless `replace`: then
        these take the place of all of them. Payloads always stay. Returns how many were new.
        """
        now = datetime.now(UTC).replace(tzinfo=None).isoformat()
        with self._open() as db:
            if replace:
                where = [week.isoformat(), engine]
                db.execute("DELETE FROM searches WHERE week = ? AND engine = ?", where)
            before = db.total_changes
            blobs = 0
            for question_key, query, as_of, payload in searches:
                had = db.total_changes
                payload_hash = _put(db, payload)
                blobs += db.total_changes - had
                db.execute(
                    "INSERT OR IGNORE INTO searches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [
                        week.isoformat(),
                        engine,
                        question_key,
                        query,
                        version.isoformat(),
                        as_of.isoformat(),
                        payload_hash,
                        now,
                    ],
                )
            return db.total_changes - before - blobs

    def searches(self, week: date) -> list[Search]:
        """All searches archived for `week`."""
        with self._open() as db:
            rows = db.execute(
                "SELECT * FROM searches WHERE week = ?", [week.isoformat()]
            ).fetchall()
        return [
            Search(
                date.fromisoformat(row[0]),
                row[1],
                row[2],
                row[3],
                date.fromisoformat(row[4]),
                date.fromisoformat(row[5]),
                row[6],
                datetime.fromisoformat(row[7]),
            )
            for row in rows
        ]

    def weeks(self) -> list[date]:
        """Weeks that have archived searches, oldest first."""
        with self._open() as db:
            rows = db.execute("SELECT DISTINCT week FROM searches ORDER BY week").fetchall()
        return [date.fromisoformat(week) for (week,) in rows]

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self.file, timeout=60)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)
            with db:
                yield db
        finally:
            db.close()


def sha256(content: bytes) -> str:
    """Hex SHA-256 of `content`."""
    return hashlib.sha256(content).hexdigest()


def _put(db: sqlite3.Connection, content: bytes) -> str:
    content_hash = sha256(content)
    db.execute("INSERT OR IGNORE INTO blobs VALUES (?, ?)", [content_hash, zlib.compress(content)])
    return content_hash
