"""Provider batch API (OpenAI's file format): half the price, an answer within a day.

A state machine that survives restarts: requests are chunked and submitted, the batch id is kept
before anything is polled, results and errors are read from their two files into the call cache.
What expired or failed is submitted again; what fails twice is left to live calls, which find the
rest in the cache.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import openai
from openai.types.chat import ChatCompletion

from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.pool import Endpoint, arguments_of, describe, read_reply
from fresh_assets.llm.prices import Prices, cost_of, estimated_usage
from fresh_assets.llm.request import Outcome, Request

MAX_REQUESTS = 50_000
MAX_BYTES = 190_000_000
MAX_TOKENS = 2_000_000
"""Chunks stay below what providers take: requests and bytes a file, tokens a queue."""
SUBMISSIONS = 2
"""So often a request is submitted before it is left to live calls."""
DISCOUNT = 0.5
RUNNING = {"validating", "in_progress", "finalizing", "cancelling"}
SCHEMA = """
CREATE TABLE IF NOT EXISTS batches (
    id TEXT PRIMARY KEY, endpoint TEXT NOT NULL, state TEXT NOT NULL, problem TEXT
);
CREATE TABLE IF NOT EXISTS batch_requests (
    key TEXT PRIMARY KEY, endpoint TEXT NOT NULL, batch TEXT, body TEXT NOT NULL,
    state TEXT NOT NULL, submissions INTEGER NOT NULL
);
"""


@dataclass(frozen=True)
class Progress:
    """Requests by state: `waiting` to be submitted, `running`, `done`, `left` to live calls."""

    waiting: int = 0
    running: int = 0
    done: int = 0
    left: int = 0

    @property
    def is_over(self) -> bool:
        """Whether nothing is waiting or running any more."""
        return self.waiting + self.running == 0


class Batches:
    """The batches of one endpoint, kept beside the call cache."""

    def __init__(
        self, endpoint: Endpoint, file: Path, cache: CallCache, prices: Prices | None = None
    ) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file, timeout=60, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.executescript(SCHEMA)
        self._endpoint = endpoint
        self._name = endpoint.name or endpoint.url
        self._cache = cache
        self._prices = prices or {}
        self._client = openai.OpenAI(
            base_url=endpoint.url, api_key=endpoint.api_key, max_retries=3, timeout=endpoint.timeout
        )

    def add(self, requests: Iterable[Request]) -> int:
        """Take in requests that the cache cannot serve; return how many are new."""
        new = 0
        for request in requests:
            if self._cache.get(request) is None:
                new += self._db.execute(
                    "INSERT OR IGNORE INTO batch_requests VALUES (?, ?, NULL, ?, 'waiting', 0)",
                    [request.key, self._name, request.text],
                ).rowcount
        return new

    def advance(self) -> Progress:
        """Poll what runs, read what ended, submit what waits; call it as often as you like."""
        for (batch,) in self._db.execute(
            "SELECT id FROM batches WHERE endpoint = ? AND state = 'running'", [self._name]
        ).fetchall():
            self._poll(batch)
        for chunk in _chunks(self._waiting()):
            self._submit(chunk)
        return self.progress()

    def progress(self) -> Progress:
        """How far the requests of the endpoint are."""
        counts = dict(
            self._db.execute(
                "SELECT state, count(*) FROM batch_requests WHERE endpoint = ? GROUP BY state",
                [self._name],
            )
        )
        return Progress(**counts)

    def pending(self) -> set[str]:
        """Keys of the requests that are waiting or running."""
        rows = self._db.execute(
            "SELECT key FROM batch_requests WHERE endpoint = ? AND state IN ('waiting', 'running')",
            [self._name],
        )
        return {key for (key,) in rows}

    def problems(self) -> list[str]:
        """Why batches failed, newest last."""
        rows = self._db.execute(
            "SELECT problem FROM batches WHERE endpoint = ? AND problem IS NOT NULL", [self._name]
        )
        return [problem for (problem,) in rows]

    def _waiting(self) -> list[Request]:
        rows = self._db.execute(
            "SELECT body FROM batch_requests WHERE endpoint = ? AND state = 'waiting' ORDER BY key",
            [self._name],
        ).fetchall()
        return [Request.from_text(body) for (body,) in rows]

    def _submit(self, chunk: Sequence[Request]) -> None:
        """Upload a chunk and create its batch; the id is kept at once."""
        lines = "".join(_line(request) for request in chunk)
        keys = [request.key for request in chunk]
        try:
            file = self._client.files.create(file=("batch.jsonl", lines.encode()), purpose="batch")
            batch = self._client.batches.create(
                input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h"
            )
        except openai.OpenAIError as error:
            self._db.execute(
                "INSERT INTO batches VALUES (?, ?, 'failed', ?)",
                [
                    f"unsubmitted-{keys[0][:16]}-{len(self.problems())}",
                    self._name,
                    self._told(error),
                ],
            )
            self._count_submission(keys, None)
            self._give_back(keys)
            return
        with _transaction(self._db):
            self._db.execute(
                "INSERT INTO batches VALUES (?, ?, 'running', NULL)", [batch.id, self._name]
            )
            self._count_submission(keys, batch.id)

    def _count_submission(self, keys: Sequence[str], batch: str | None) -> None:
        self._db.executemany(
            "UPDATE batch_requests SET state = 'running', batch = ?, submissions = submissions + 1 "
            "WHERE key = ?",
            [(batch, key) for key in keys],
        )

    def _poll(self, batch_id: str) -> None:
        try:
            batch = self._client.batches.retrieve(batch_id)
            if batch.status in RUNNING:
                return
            texts = [
                self._client.files.content(file).text
                for file in (batch.output_file_id, batch.error_file_id)
                if file
            ]
        except openai.APIConnectionError:
            return
        except openai.OpenAIError as error:
            self._end(batch_id, self._told(error))
            return
        for text in texts:
            self._read(text)
        self._end(batch_id, None if batch.status == "completed" else f"batch {batch.status}")

    def _read(self, text: str) -> None:
        """Put the results of a file into the cache, joined by custom id; order means nothing."""
        for line in text.splitlines():
            try:
                result = json.loads(line)
                key, response = result["custom_id"], result.get("response") or {}
            except (ValueError, KeyError, TypeError):
                continue
            row = self._db.execute(
                "SELECT body FROM batch_requests WHERE key = ?", [key]
            ).fetchone()
            if row is None:
                continue
            outcome = self._outcome(Request.from_text(row[0]), response, result.get("error"))
            self._cache.put(outcome)
            if outcome.state == "ok":
                self._db.execute("UPDATE batch_requests SET state = 'done' WHERE key = ?", [key])

    def _outcome(self, request: Request, response: dict[str, Any], error: object) -> Outcome:
        if response.get("status_code") != 200:
            problem = f"HTTP {response.get('status_code')}: {error or response.get('body')}"
            return Outcome(request, "error", problem=problem[:300], tries=1)
        try:
            reply = ChatCompletion.model_validate(response["body"])
        except ValueError as invalid:
            return Outcome(request, "error", problem=f"unreadable reply: {invalid}"[:300], tries=1)
        outcome = read_reply(reply, request, 0.0, 1)
        cost = cost_of(outcome.usage, self._prices.get(request.model))
        return replace(outcome, cost=None if cost is None else cost * DISCOUNT)

    def _end(self, batch_id: str, problem: str | None) -> None:
        """Close a batch; what it did not answer waits again or is left to live calls."""
        unanswered = self._db.execute(
            "SELECT key FROM batch_requests WHERE batch = ? AND state = 'running'", [batch_id]
        ).fetchall()
        with _transaction(self._db):
            self._db.execute(
                "UPDATE batches SET state = ?, problem = ? WHERE id = ?",
                ["failed" if problem else "ended", problem, batch_id],
            )
            self._give_back([key for (key,) in unanswered])

    def _give_back(self, keys: Sequence[str]) -> None:
        self._db.executemany(
            "UPDATE batch_requests SET batch = NULL, "
            "state = CASE WHEN submissions >= ? THEN 'left' ELSE 'waiting' END WHERE key = ?",
            [(SUBMISSIONS, key) for key in keys],
        )

    def _told(self, error: openai.OpenAIError) -> str:
        return describe(error, self._endpoint.api_key)


def _chunks(requests: Sequence[Request]) -> Iterator[list[Request]]:
    chunk: list[Request] = []
    size = tokens = 0
    for request in requests:
        more, usage = len(_line(request).encode()), estimated_usage(request)
        cost = usage.input + usage.output
        full = len(chunk) == MAX_REQUESTS or size + more > MAX_BYTES or tokens + cost > MAX_TOKENS
        if chunk and full:
            yield chunk
            chunk, size, tokens = [], 0, 0
        chunk.append(request)
        size, tokens = size + more, tokens + cost
    if chunk:
        yield chunk


def _line(request: Request) -> str:
    arguments = arguments_of(request)
    body = {**arguments, **arguments.pop("extra_body", {})}
    row = {"custom_id": request.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(row) + "\n"


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
