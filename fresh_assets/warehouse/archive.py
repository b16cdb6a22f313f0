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
CREATE TABLE IF NOT EXISTS queries (
    week TEXT NOT NULL, engine TEXT NOT NULL, query TEXT NOT NULL, as_of TEXT NOT NULL,
    payload_hash TEXT NOT NULL REFERENCES blobs, requests INTEGER NOT NULL, cost REAL,
    sent_at TEXT NOT NULL, PRIMARY KEY (week, engine, query)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fetches (
    url TEXT PRIMARY KEY, content_hash TEXT NOT NULL REFERENCES blobs, etag TEXT, modified TEXT
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


@dataclass(frozen=True)
class Query:
    """A query that a live engine answered: its reply, the requests it took, their price (USD).

    `cost` is None where the price of the engine is not known.
    """

    week: date
    engine: str
    query: str
    as_of: date
    payload_hash: str
    requests: int
    cost: float | None


@dataclass(frozen=True)
class Fetch:
    """The last reply of a URL, and what a conditional request for it needs."""

    content_hash: str
    etag: str | None = None
    modified: str | None = None


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

    def put_query(
        self, query: Query, payload: bytes, version: date | None = None, keys: Iterable[str] = ()
    ) -> None:
        """Archive a reply, also as the search of questions `keys` of `version`, in one commit."""
        now = datetime.now(UTC).replace(tzinfo=None).isoformat()
        place = [query.week.isoformat(), query.engine]
        with self._open() as db:
            _put(db, payload)
            db.execute(
                "INSERT OR IGNORE INTO queries VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    *place, query.query, query.as_of.isoformat(), query.payload_hash,
                    query.requests, query.cost, now,
                ],
            )  # fmt: skip
            db.executemany(
                "INSERT OR IGNORE INTO searches VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *place, key, query.query, str(version), query.as_of.isoformat(),
                        query.payload_hash, now,
                    )
                    for key in keys
                ],
            )  # fmt: skip

    def queries(self, week: date, engine: str) -> dict[str, Query]:
        """Queries that the engine answered in `week`, by their text."""
        with self._open() as db:
            rows = db.execute(
                "SELECT query, as_of, payload_hash, requests, cost FROM queries "
                "WHERE week = ? AND engine = ?",
                [week.isoformat(), engine],
            ).fetchall()
        return {
            query: Query(week, engine, query, date.fromisoformat(as_of), payload, requests, cost)
            for query, as_of, payload, requests, cost in rows
        }

    def requests_since(self, engine: str, day: date) -> int:
        """Requests that the engine answered since the beginning of `day`, UTC."""
        with self._open() as db:
            row = db.execute(
                "SELECT coalesce(sum(requests), 0) FROM queries WHERE engine = ? AND sent_at >= ?",
                [engine, day.isoformat()],
            ).fetchone()
        return int(row[0])

    def last_fetch(self, url: str) -> Fetch | None:
        """The last reply of `url`."""
        with self._open() as db:
            row = db.execute(
                "SELECT content_hash, etag, modified FROM fetches WHERE url = ?", [url]
            ).fetchone()
        return Fetch(*row) if row else None

    def put_fetch(self, url: str, content: bytes, etag: str | None, modified: str | None) -> None:
        """Archive a reply of `url` as its last."""
        with self._open() as db:
            content_hash = _put(db, content)
            db.execute(
                "INSERT OR REPLACE INTO fetches VALUES (?, ?, ?, ?)",
                [url, content_hash, etag, modified],
            )

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
