"""The recorded engine: saved SerpApi responses, whole or reduced to name, url and snippet."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search.engine import Evidence
from fresh_assets.search.serpapi import SerpApi
from fresh_assets.search.text import host, text_of

NAME = "recorded"


class RecordedEngine:
    """Payloads imported from files; it cannot search."""

    name = NAME
    is_live = True

    def search(self, query: str, as_of: date) -> bytes:
        """Refuse: recorded results are imported."""
        raise UserError(
            f"no recorded results for {query!r} on {as_of}: "
            "import them with `fresh-assets import-snapshot`"
        )

    def parse(self, payload: bytes) -> list[Evidence]:
        """Evidence of a whole or reduced SerpApi response."""
        response = json.loads(payload)
        sections = _reduced(response) if is_reduced(response) else SerpApi().parse(response)
        return [
            evidence
            for evidence in sections
            if evidence.title or evidence.snippet or evidence.highlight
        ]


@dataclass(frozen=True)
class RecordedSearch:
    """One response of a file: which question it is for, when it was made, and its bytes."""

    question_id: int | None
    query: str | None
    as_of: date | None
    payload: bytes


def read_recorded(content: bytes, file_name: str) -> list[RecordedSearch]:
    """Split a file into responses: one raw response, or a list of raw or reduced ones."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadInputError(
            file_name, f"not valid JSON ({error})", "Give the saved response"
        ) from error
    records = data if isinstance(data, list) else [data]
    if not records:
        raise BadInputError(file_name, "no responses in it", "Give the saved responses")
    return [_recorded(record, file_name, number) for number, record in enumerate(records, 1)]


def is_reduced(response: Mapping[str, Any]) -> bool:
    """Whether a response is of the reduced form, keyed by QueryID."""
    return "QueryID" in response


def _recorded(record: Any, file_name: str, number: int) -> RecordedSearch:
    place = f"record {number}"
    if not isinstance(record, dict):
        raise BadInputError(file_name, "not a response (a JSON object)", "Remove it", place)
    payload = json.dumps(record, ensure_ascii=False).encode()
    if is_reduced(record):
        if not re.fullmatch(r"[0-9]{1,9}", str(record["QueryID"])):
            raise BadInputError(
                file_name, f"QueryID {record['QueryID']!r} is no row number", "Correct it", place
            )
        return RecordedSearch(int(record["QueryID"]), None, None, payload)
    query = _section(record, "search_parameters").get("q")
    if record.get("error") or not isinstance(query, str):
        problem = record.get("error") or "neither search_parameters.q nor QueryID"
        fix = "Give SerpApi responses, or records with QueryID, answer_box, organic_results"
        raise BadInputError(file_name, f"no usable response ({problem})", fix, place)
    created = str(_section(record, "search_metadata").get("created_at", ""))
    return RecordedSearch(None, query, _day(created), payload)


def _section(record: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _reduced(response: Mapping[str, Any]) -> Iterator[Evidence]:
    kinds = {
        "answer_box": "answer_box",
        "organic_results": "organic",
        "related_questions": "related_question",
    }
    for section, kind in kinds.items():
        for item in response.get(section) or []:
            if isinstance(item, dict):
                yield Evidence(
                    kind,
                    host(item.get("url")),
                    title=text_of(item.get("name")),
                    snippet=text_of(item.get("snippet")),
                    url=text_of(item.get("url")),
                )
