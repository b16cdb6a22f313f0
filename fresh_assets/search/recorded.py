"""The recorded engine: saved SerpApi responses, whole or reduced to name, url and snippet.

Field by field after FreshPrompt (arXiv 2310.03214), without its losses: a typed answer box keeps
its value, nested values of a knowledge graph and every related question are read.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search.engine import Evidence

NAME = "recorded"
_NOT_TEXT = re.compile(r"link|_stick|kgmid|thumbnail|image|favicon|logo|token|source|position|_id$")
_BOX_FIELDS = {"type", "title", "link", "displayed_link", "date", "snippet", "answer"}
_BOX_FIELDS |= {"snippet_highlighted_words", "result"}


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
        sections = _reduced(response) if is_reduced(response) else _whole(response)
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


def _whole(response: Mapping[str, Any]) -> Iterator[Evidence]:
    boxes = response.get("answer_box") or []
    for box in boxes if isinstance(boxes, list) else [boxes]:
        yield _answer_box(box)
    if graph := response.get("knowledge_graph"):
        yield _knowledge_graph(graph)
    for item in response.get("organic_results") or []:
        yield _result(item, "organic", item.get("title"))
    for item in response.get("questions_and_answers") or []:
        yield Evidence(
            "question_and_answer",
            host(item.get("link")),
            title=text_of(item.get("question")),
            snippet=text_of(item.get("answer")),
            url=text_of(item.get("link")),
        )
    for item in response.get("related_questions") or []:
        yield _result(item, "related_question", item.get("question"))


def _result(item: Mapping[str, Any], kind: str, title: Any) -> Evidence:
    return Evidence(
        kind,
        host(item.get("link")) or _displayed_host(item),
        text_of(item.get("date")),
        text_of(title),
        _join("\n", [text_of(item.get("snippet")), *_extras(item)]),
        _join(" | ", map(text_of, item.get("snippet_highlighted_words") or [])),
        text_of(item.get("link")),
    )


def _extras(item: Mapping[str, Any]) -> Iterator[str | None]:
    """Rich extensions, list items and table rows that belong to the snippet."""
    rich = item.get("rich_snippet") or {}
    for place in ("top", "bottom"):
        yield from map(text_of, (rich.get(place) or {}).get("extensions") or [])
    listed = item.get("list")
    yield from map(text_of, listed if isinstance(listed, list) else [])
    for row in (item.get("contents") or {}).get("table") or []:
        yield ", ".join(str(cell) for cell in (row if isinstance(row, list) else [row]))


def _answer_box(box: Mapping[str, Any]) -> Evidence:
    generic = _result(box, "answer_box", box.get("title"))
    answer = text_of(box.get("answer")) or text_of(box.get("result"))
    rest = {
        k: v
        for k, v in box.items()
        if k not in _BOX_FIELDS and k not in {"list", "rich_snippet", "contents"}
    }
    facts = list(_facts(rest))
    return Evidence(
        "answer_box",
        generic.source,
        generic.date_text,
        generic.title or text_of(box.get("type")),
        _join("\n", [generic.snippet, *facts]),
        _join(" | ", [answer, generic.highlight]),
        generic.url,
    )


def _knowledge_graph(graph: Mapping[str, Any]) -> Evidence:
    source = graph.get("source") or {}
    link = text_of(source.get("link")) if isinstance(source, dict) else None
    facts = {k: v for k, v in graph.items() if k not in {"title", "type"}}
    return Evidence(
        "knowledge_graph",
        host(link),
        title=_join("\n", [text_of(graph.get("title")), text_of(graph.get("type"))]),
        snippet=_join("\n", _facts(facts)),
        url=link,
    )


def _facts(value: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """`name: value` lines of everything readable in a section, nested names joined by dots."""
    for name, item in value.items():
        if _NOT_TEXT.search(name):
            continue
        for entry in item if isinstance(item, list) else [item]:
            if isinstance(entry, dict):
                yield from _facts(entry, f"{prefix}{name}.")
            elif (text := text_of(entry)) and not text.startswith("http"):
                yield f"{prefix}{name}: {text}"


def text_of(value: Any) -> str | None:
    """Readable text of a scalar; None when there is none."""
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    return " ".join(str(value).split()) or None


def host(url: Any) -> str | None:
    """Host of a URL without a leading www."""
    if not isinstance(url, str):
        return None
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.") or None
    except ValueError:
        return None


def _displayed_host(item: Mapping[str, Any]) -> str | None:
    shown = str(item.get("displayed_link") or "").split(" › ")[0]
    shown = re.sub(r"^https?://", "", shown).removeprefix("www.").split("/")[0].strip()
    return shown or None


def _join(separator: str, parts: Any) -> str | None:
    return separator.join(part for part in parts if part) or None
