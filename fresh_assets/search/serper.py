"""Serper: Google results, posted for."""

from collections.abc import Iterator, Mapping
from typing import Any

from fresh_assets.search.engine import Evidence
from fresh_assets.search.live import Asked, EngineConfig
from fresh_assets.search.text import dicts, facts, host, join, text_of


class Serper:
    """The adapter."""

    url = "https://google.serper.dev/search"
    key_env = "SERPER_API_KEY"
    page_size = 10

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """A page of results from place `start`."""
        body = {
            "q": query, "hl": config.language, "gl": config.country,
            "page": start // self.page_size + 1,
        }  # fmt: skip
        return Asked(headers={"X-API-KEY": key}, body=body)

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """A reply without its echo of the search is no search response."""
        return None if "searchParameters" in response else text_of(response.get("message")) or "?"

    def found(self, response: Mapping[str, Any]) -> int:
        """Organic results of a page."""
        return len(dicts(response.get("organic") or []))

    def parse(self, response: Mapping[str, Any]) -> Iterator[Evidence]:
        """Evidence of every section."""
        for box in dicts(response.get("answerBox")):
            marked = box.get("snippetHighlighted")
            words = marked if isinstance(marked, list) else [marked]
            highlight = join(" | ", [text_of(box.get("answer")), *map(text_of, words)])
            yield _entry("answer_box", box, box.get("title"), highlight)
        for graph in dicts(response.get("knowledgeGraph")):
            link = graph.get("descriptionLink") or graph.get("website")
            known = [text_of(graph.get("description")), *facts(graph.get("attributes") or {})]
            title = join("\n", [text_of(graph.get("title")), text_of(graph.get("type"))])
            yield Evidence(
                "knowledge_graph",
                host(link),
                title=title,
                snippet=join("\n", known),
                url=text_of(link),
            )
        for item in dicts(response.get("organic")):
            yield _entry("organic", item, item.get("title"))
        for item in dicts(response.get("topStories")):
            yield _entry("top_story", item, item.get("title"))
        for item in dicts(response.get("peopleAlsoAsk")):
            yield _entry("related_question", item, item.get("question"))


def _entry(
    kind: str, item: Mapping[str, Any], title: Any, highlight: str | None = None
) -> Evidence:
    page = text_of(item.get("title")) if item.get("title") != title else None
    more = facts(item.get("attributes") or {})
    return Evidence(
        kind,
        host(item.get("link")) or text_of(item.get("source")),
        text_of(item.get("date")),
        text_of(title),
        join("\n", [text_of(item.get("snippet")), *more, page]),
        highlight,
        text_of(item.get("link")),
    )
