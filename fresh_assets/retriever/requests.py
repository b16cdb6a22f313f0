"""Requests with the steps and tables of their gold workflow, read from JSON lines."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fresh_assets.errors import BadInputError

STEPS, TABLES = "steps", "tables"
FITTED = ("train", "dev")
"""Splits that a retriever may learn from; all others are only asked about."""


@dataclass(frozen=True)
class Request:
    """What a person asks for, and the names its workflow needs."""

    id: str
    split: str
    text: str
    steps: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    def names(self, what: str) -> tuple[str, ...]:
        """Its steps or its tables."""
        return self.steps if what == STEPS else self.tables


def read_requests(content: bytes, file_name: str) -> list[Request]:
    """Requests from JSON lines: id, split, query, steps (names or objects), tables.

    Raises BadInputError naming the line of what is missing or there twice.
    """
    found: dict[str, Request] = {}
    for number, line in enumerate(content.decode("utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = json.loads(line)
            made = Request(
                str(record["id"]), str(record["split"]), str(record["query"]),
                _names(record.get("steps")), _names(record.get("tables")),
            )  # fmt: skip
        except (ValueError, TypeError, KeyError) as error:
            fix = "Give id, split, query, steps and tables"
            raise BadInputError(file_name, f"no request ({error!r})", fix, place) from error
        if made.id in found:
            raise BadInputError(file_name, f"{made.id!r} is there twice", "Keep one", place)
        found[made.id] = made
    return list(found.values())


def fitted(requests: Iterable[Request], split: str = "train") -> list[Request]:
    """The requests of a split that may be learnt from."""
    return [request for request in requests if request.split == split]


def _names(value: Sequence[Any] | None) -> tuple[str, ...]:
    names = (item["name"] if isinstance(item, dict) else str(item) for item in value or ())
    return tuple(dict.fromkeys(names))
