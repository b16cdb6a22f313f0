"""Requests with their gold workflow, read from JSON lines; those that may be learnt from."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import polars as pl

from fresh_assets.errors import BadInputError

STEPS, TABLES = "steps", "tables"
FITTED = ("train", "dev")
"""Splits that a retriever may learn from; all others are only asked about."""
TABLE = "workflow.requests"
CATEGORIES = {"logic": "flowlogic", "flow": "subflow"}
SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "request_id": pl.String, "split": pl.String, "request": pl.String,
    "steps": pl.List(pl.String), "tables": pl.List(pl.String), "workflow": pl.String,
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """What a person asks for, and the names its workflow needs."""

    id: str
    split: str
    text: str
    steps: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    workflow: str | None = None

    def names(self, what: str) -> tuple[str, ...]:
        """Its steps or its tables."""
        return self.steps if what == STEPS else self.tables

    def only(self, what: str, names: Iterable[str]) -> "Request":
        """The request with `names` for its steps or tables."""
        kept = tuple(names)
        return replace(self, steps=kept) if what == STEPS else replace(self, tables=kept)


def read_requests(content: bytes, file_name: str) -> list[Request]:
    """Requests from JSON lines: id, split, query and the gold: `workflow` (trigger, components), or
    steps (names, or objects with name, kind, order, block, table), tables and trigger.

    Raises BadInputError naming the line of what is missing or there twice.
    """
    found: dict[str, Request] = {}
    for number, line in enumerate(_text(content, file_name).split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            made = _request(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            fix = "Give id, split, query, and workflow or steps and tables"
            raise BadInputError(file_name, f"no request ({error!r})", fix, place) from error
        if not made.id or not made.text.strip() or not made.split:
            raise BadInputError(file_name, "id, split or query is empty", "Fill it in", place)
        if made.id in found:
            raise BadInputError(file_name, f"{made.id!r} is there twice", "Keep one", place)
        found[made.id] = made
    if not found:
        raise BadInputError(file_name, "no requests in it", "Give one request a line")
    return list(found.values())


def as_frame(requests: Sequence[Request]) -> pl.DataFrame:
    """Content rows of workflow.requests."""
    rows = [(r.id, r.split, r.text, list(r.steps), list(r.tables), r.workflow) for r in requests]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def stored_requests(con: duckdb.DuckDBPyConnection, catalog: str) -> list[Request]:
    """The requests that were imported for a catalog."""
    rows = con.execute(
        f"SELECT {', '.join(SCHEMA)} FROM {TABLE} WHERE catalog = ? ORDER BY request_id", [catalog]
    ).fetchall()
    return [Request(i, s, t, tuple(n), tuple(m), w) for i, s, t, n, m, w in rows]


def learnt_catalogs(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Of every deployment the newest catalog that has requests to learn from."""
    rows = con.execute(
        f"SELECT max(catalog) FROM {TABLE} WHERE split IN {FITTED} "
        "GROUP BY catalog[:-12] ORDER BY 1"
    ).fetchall()
    return [key for (key,) in rows]


def most_frequent_steps(requests: Iterable[Request], number: int) -> list[str]:
    """The steps that most train requests need, those of equal count by name; arXiv 2404.08189
    leaves such common steps out of the suggestions."""
    counts = Counter(name for request in fitted(requests) for name in request.steps)
    return sorted(counts, key=lambda name: (-counts[name], name))[:number]


def fitted(requests: Iterable[Request], split: str = "train") -> list[Request]:
    """The requests of a split that may be learnt from."""
    return [request for request in requests if request.split == split]


def _request(record: Mapping[str, Any]) -> Request:
    workflow = record.get("workflow") or _workflow(record)
    parts = workflow["components"] if workflow else []
    steps = [part["definition"] for part in parts] if parts else _names(record.get("steps"))
    tables = list(_names(record.get("tables")))
    if workflow and not tables:
        tables = list(_tables(workflow))
    return Request(
        str(record["id"]), str(record["split"]), str(record["query"]),
        tuple(dict.fromkeys(steps)), tuple(dict.fromkeys(tables)),
        json.dumps(workflow, ensure_ascii=False) if workflow else None,
    )  # fmt: skip


def _workflow(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The gold workflow of steps that are objects with their order, else None."""
    steps = record.get("steps") or []
    if not steps or not all(isinstance(step, dict) and "order" in step for step in steps):
        return None
    trigger = record.get("trigger")
    return {
        "trigger": _trigger(trigger) if isinstance(trigger, dict) else None,
        "components": [
            {
                "category": CATEGORIES.get(step.get("kind", ""), step.get("kind") or "action"),
                "definition": step["name"],
                "scope": "global",
                "order": step["order"],
                "block": step.get("block"),
                "inputs": _table_input(step.get("table")),
                "annotation": step.get("annotation", ""),
            }
            for step in steps
        ],
    }


def _trigger(trigger: Mapping[str, Any]) -> dict[str, Any] | None:
    if trigger.get("type") in (None, "", "none"):
        return None
    return {"type": trigger["type"], "inputs": _table_input(trigger.get("table"))}


def _table_input(table: str | None) -> list[dict[str, str]]:
    return [{"name": "table", "value": table}] if table else []


def _tables(workflow: Mapping[str, Any]) -> Iterator[str]:
    for part in (workflow.get("trigger") or {}, *workflow["components"]):
        yield from (i["value"] for i in part.get("inputs") or [] if i["name"] == "table")


def _names(value: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(item["name"] if isinstance(item, dict) else str(item) for item in value or ())


def _text(content: bytes, file_name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(file_name, f"not UTF-8 ({error})", "Save it as UTF-8") from error
