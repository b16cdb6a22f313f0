"""Entries of a catalog, read from JSON lines or CSV; the text that is searched; near-duplicates."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rapidfuzz import fuzz, process

from fresh_assets.errors import BadInputError

STEP_KINDS = ("trigger", "action", "logic", "subflow")
ALIASES = {"flow": "subflow", "flowlogic": "logic", "ai": "action"}
TITLES = ("title", "label")
APPS = ("app", "product", "db")
LISTS = ("inputs", "columns", "fields", "operations")
CHUNK = 500
TWINS = 96.0
"""Similarity (rapidfuzz ratio of texts, 0 to 100) from which two entries are near-duplicates."""
ENTRY_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "name": pl.String, "kind": pl.String, "title": pl.String, "description": pl.String,
    "app": pl.String, "inputs": pl.List(pl.String), "takes_table": pl.Boolean,
    "is_common": pl.Boolean,
}  # fmt: skip


@dataclass(frozen=True)
class Twins:
    """Two entries that say nearly the same."""

    name: str
    other: str
    score: float


def read_entries(content: bytes, file_name: str, what: str) -> pl.DataFrame:
    """Entries with the columns of ENTRY_SCHEMA; `what`: steps or tables.

    `name` is needed, all else may be missing: title or label, description, app, kind, inputs (of a
    step) or columns (of a table), takes_table, common. Raises BadInputError naming row and column.
    """
    rows = list(_records(content, file_name))
    if not rows:
        raise BadInputError(file_name, "no entries in it", "Give one entry a line")
    entries = [_entry(row, place, file_name, what) for place, row in rows]
    seen: dict[str, str] = {}
    for (place, _), entry in zip(rows, entries, strict=True):
        if entry["name"] in seen:
            first = seen[entry["name"]]
            problem = f"{entry['name']!r} is there already ({first})"
            raise BadInputError(file_name, problem, "Keep one of them", place)
        seen[entry["name"]] = place
    return pl.DataFrame(entries, schema=ENTRY_SCHEMA).sort("name")


def entry_texts(entries: pl.DataFrame) -> list[str]:
    """The text of each entry that is searched: app, title, description, words of the name."""
    return [_text(row) for row in entries.select("name", "title", "description", "app").iter_rows()]


def words_of(name: str) -> str:
    """A technical name as words: `post_slackMessage.v2` is `post slack message v2`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return " ".join(re.split(r"[\W_]+", spaced)).strip().lower()


def near_duplicates(entries: pl.DataFrame, most: int = 100) -> list[Twins]:
    """Pairs of entries whose texts are nearly the same, the most alike first."""
    texts, names = entry_texts(entries), entries["name"].to_list()
    found = []
    for start in range(0, len(texts), CHUNK):
        scores = process.cdist(
            texts[start : start + CHUNK], texts[start:], scorer=fuzz.ratio, score_cutoff=TWINS
        )
        found += [
            Twins(names[start + i], names[start + j], float(scores[i, j]))
            for i, j in zip(*scores.nonzero(), strict=True)
            if j > i
        ]
    return sorted(found, key=lambda twins: (-twins.score, twins.name, twins.other))[:most]


def _text(row: Sequence[str]) -> str:
    name, title, description, app = row
    parts = [title]
    if app and app.lower() not in title.lower():
        parts.insert(0, app)
    if description and description.lower() not in title.lower():
        parts.append(description)
    said = ". ".join(part for part in parts if part)
    words = words_of(name)
    return said if not words or words in words_of(said) else f"{said} ({words})" if said else words


def _entry(row: Mapping[str, Any], place: str, file_name: str, what: str) -> dict[str, Any]:
    name = row.get("name")
    if not isinstance(name, str) or not name.strip():
        raise BadInputError(
            file_name, "no name", "Give every entry a name", f"{place}, column name"
        )
    kind = str(row.get("kind") or ("action" if what == "steps" else "table")).lower()
    kind = ALIASES.get(kind, kind)
    if what == "steps" and kind not in STEP_KINDS:
        fix = f"Use one of {', '.join(STEP_KINDS)}"
        raise BadInputError(file_name, f"{kind!r} is no kind", fix, f"{place}, column kind")
    inputs: Any = next((row[column] for column in LISTS if row.get(column)), [])
    if isinstance(inputs, str):
        inputs = [part.strip() for part in inputs.split("|")]
    if not isinstance(inputs, list):
        raise BadInputError(
            file_name, "inputs are no list", "Write a list", f"{place}, column inputs"
        )
    return {
        "name": name.strip(),
        "kind": kind if what == "steps" else "table",
        "title": _first(row, TITLES) or words_of(name),
        "description": str(row.get("description") or "").strip(),
        "app": _first(row, APPS),
        "inputs": [str(part) for part in inputs],
        "takes_table": _flag(row.get("takes_table")),
        "is_common": _flag(row.get("common", row.get("is_common"))),
    }


def _first(row: Mapping[str, Any], columns: Sequence[str]) -> str:
    return next((str(row[c]).strip() for c in columns if row.get(c)), "")


def _flag(value: Any) -> bool:
    return value is True or str(value).strip().lower() in {"true", "1", "yes"}


def _records(content: bytes, file_name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(file_name, f"not UTF-8 ({error})", "Save it as UTF-8") from error
    if not text.lstrip().startswith("{"):
        reader = csv.DictReader(io.StringIO(text, newline=""))
        for number, row in enumerate(reader, 2):
            if None in row or None in row.values():
                problem = "the row has not as many cells as the header"
                raise BadInputError(file_name, problem, "Quote texts with commas", f"row {number}")
            yield f"row {number}", row
        return
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError as error:
            problem = f"no JSON ({error})"
            raise BadInputError(file_name, problem, "Correct it", f"line {number}") from error
        if not isinstance(record, dict):
            raise BadInputError(file_name, "no object", "Write an object", f"line {number}")
        yield f"line {number}", record
