"""SerpApi: Google results as JSON, searched live or saved before.

Field by field after FreshPrompt (arXiv 2310.03214), without its losses: typed answer boxes keep
their values, nested values of a knowledge graph, sports results, top stories and AI overviews are
read.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fresh_assets.search.engine import Evidence
from fresh_assets.search.live import Asked, EngineConfig
from fresh_assets.search.text import dicts, facts, host, join, text_of

URL = "https://serpapi.com/search.json"
_BOX_FIELDS = {"type", "title", "link", "displayed_link", "date", "snippet", "answer"}
_BOX_FIELDS |= {"snippet_highlighted_words", "result", "list", "rich_snippet", "contents"}
_NO_RESULTS = re.compile("hasn't returned any results", re.IGNORECASE)


class SerpApi:
    """The adapter. Google shows ten results a page whatever is asked for."""

    url = URL
    key_env = "SERPAPI_API_KEY"
    page_size = 10

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """A page of results from place `start`."""
        params = {
            "engine": "google", "q": query, "hl": config.language, "gl": config.country,
            "google_domain": "google.com", "start": start, "api_key": key,
        }  # fmt: skip
        return Asked(params=params)

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """What a reply says went wrong; no results are no error."""
        told = text_of(response.get("error"))
        return told if told and not _NO_RESULTS.search(told) else None

    def found(self, response: Mapping[str, Any]) -> int:
        """Organic results of a page."""
        return len(dicts(response.get("organic_results") or []))

    def parse(self, response: Mapping[str, Any]) -> Iterator[Evidence]:
        """Evidence of every section."""
        for box in dicts(response.get("answer_box")):
            yield _answer_box(box)
        for graph in dicts(response.get("knowledge_graph")):
            yield _knowledge_graph(graph)
        for sports in dicts(response.get("sports_results")):
            lines = facts({k: v for k, v in sports.items() if k != "title"})
            yield Evidence(
                "sports_results", title=text_of(sports.get("title")), snippet=join("\n", lines)
            )
        for item in dicts(response.get("organic_results")):
            yield result(item, "organic", item.get("title"))
        for item in _stories(response.get("top_stories")):
            yield Evidence(
                "top_story",
                host(item.get("link")) or text_of(item.get("source")),
                text_of(item.get("date")),
                text_of(item.get("title")),
                text_of(item.get("snippet")),
                url=text_of(item.get("link")),
            )
        for item in dicts(response.get("questions_and_answers")):
            link = item.get("link")
            yield Evidence(
                "question_and_answer",
                host(link),
                title=text_of(item.get("question")),
                snippet=text_of(item.get("answer")),
                url=text_of(link),
            )
        for item in dicts(response.get("related_questions")):
            yield result(item, "related_question", item.get("question"))
        for overview in dicts(response.get("ai_overview")):
            yield _overview(overview)


def result(item: Mapping[str, Any], kind: str, title: Any) -> Evidence:
    """A result with everything that belongs to its snippet."""
    return Evidence(
        kind,
        host(item.get("link")) or _displayed_host(item),
        text_of(item.get("date")),
        text_of(title),
        join("\n", [text_of(item.get("snippet")), *_extras(item), *_page_title(item, title)]),
        join(" | ", map(text_of, item.get("snippet_highlighted_words") or [])),
        text_of(item.get("link")),
    )


def _page_title(item: Mapping[str, Any], title: Any) -> Iterator[str | None]:
    """Title of the page that answers a related question."""
    if item.get("title") != title:
        yield text_of(item.get("title"))


def _extras(item: Mapping[str, Any]) -> Iterator[str | None]:
    """Rich extensions, list items, table rows, authors and links below the snippet."""
    rich = item.get("rich_snippet") or {}
    for place in ("top", "bottom"):
        yield from map(text_of, (rich.get(place) or {}).get("extensions") or [])
    listed = item.get("list")
    yield from map(text_of, listed if isinstance(listed, list) else [])
    for row in (item.get("contents") or {}).get("table") or []:
        yield ", ".join(str(cell) for cell in (row if isinstance(row, list) else [row]))
    yield join(" · ", [text_of(item.get("author")), text_of(item.get("cited_by"))])
    links = item.get("sitelinks")
    below = [x for part in links.values() for x in dicts(part)] if isinstance(links, dict) else []
    told = (join(", ", [text_of(link.get("title")), text_of(link.get("date"))]) for link in below)
    yield join(" · ", told)


def _answer_box(box: Mapping[str, Any]) -> Evidence:
    generic = result(box, "answer_box", box.get("title"))
    answer = text_of(box.get("answer")) or text_of(box.get("result"))
    rest = facts({k: v for k, v in box.items() if k not in _BOX_FIELDS})
    return Evidence(
        "answer_box",
        generic.source,
        generic.date_text,
        generic.title or text_of(box.get("type")),
        join("\n", [generic.snippet, *rest]),
        join(" | ", [answer, generic.highlight]),
        generic.url,
    )


def _knowledge_graph(graph: Mapping[str, Any]) -> Evidence:
    source = graph.get("source") or {}
    link = text_of(source.get("link")) if isinstance(source, dict) else None
    return Evidence(
        "knowledge_graph",
        host(link),
        title=join("\n", [text_of(graph.get("title")), text_of(graph.get("type"))]),
        snippet=join("\n", facts({k: v for k, v in graph.items() if k not in {"title", "type"}})),
        url=link,
    )


def _stories(section: Any) -> Iterator[dict[str, Any]]:
    """Stories of the section, which is a list, or lists by name."""
    for item in dicts(section):
        lists = [value for value in item.values() if isinstance(value, list)]
        if "title" in item or not lists:
            yield item
        else:
            for value in lists:
                yield from dicts(value)


def _overview(overview: Mapping[str, Any]) -> Evidence:
    lines = facts({"text": overview.get("text_blocks") or []})
    return Evidence(
        "ai_overview",
        title="AI overview",
        snippet=join("\n", (line.partition(": ")[2] for line in lines if ".type: " not in line)),
        url=next((text_of(r.get("link")) for r in dicts(overview.get("references"))), None),
    )


def _displayed_host(item: Mapping[str, Any]) -> str | None:
    shown = str(item.get("displayed_link") or "").split(" › ")[0]
    shown = re.sub(r"^https?://", "", shown).removeprefix("www.").split("/")[0].strip()
    return shown or None
