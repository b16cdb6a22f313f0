"""Brave Search: its own web index."""

from collections.abc import Iterator, Mapping
from typing import Any

from fresh_assets.search.engine import Evidence
from fresh_assets.search.live import Asked, EngineConfig
from fresh_assets.search.text import dicts, facts, host, join, marked_words, plain_text, text_of


class Brave:
    """The adapter; `start` goes by pages of twenty."""

    url = "https://api.search.brave.com/res/v1/web/search"
    key_env = "BRAVE_API_KEY"
    page_size = 20

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """A page of results from place `start`."""
        params = {
            "q": query[:400], "search_lang": config.language, "country": config.country,
            "count": min(self.page_size, config.results), "offset": start // self.page_size,
        }  # fmt: skip
        return Asked(params, {"X-Subscription-Token": key, "Accept": "application/json"})

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """What an error reply says."""
        error = response.get("error")
        told = text_of(error.get("detail")) if isinstance(error, dict) else None
        return told or (None if "query" in response or "web" in response else "no search response")

    def found(self, response: Mapping[str, Any]) -> int:
        """Web results of a page."""
        return len(_results(response, "web"))

    def parse(self, response: Mapping[str, Any]) -> Iterator[Evidence]:
        """Evidence of every section."""
        for box in _results(response, "infobox"):
            pairs = (row for row in box.get("attributes") or [] if isinstance(row, list))
            known = (join(": ", map(plain_text, row)) for row in pairs)
            texts = [plain_text(box.get("description")), plain_text(box.get("long_desc")), *known]
            yield Evidence(
                "knowledge_graph",
                host(box.get("url")),
                title=plain_text(box.get("title")),
                snippet=join("\n", texts),
                url=text_of(box.get("url")),
            )
        for section, kind in (
            ("web", "organic"),
            ("discussions", "organic"),
            ("news", "top_story"),
        ):
            for item in _results(response, section):
                yield _entry(kind, item)
        for item in _results(response, "faq"):
            yield Evidence(
                "question_and_answer",
                host(item.get("url")),
                title=plain_text(item.get("question")),
                snippet=join("\n", [plain_text(item.get("answer")), plain_text(item.get("title"))]),
                url=text_of(item.get("url")),
            )


def _results(response: Mapping[str, Any], section: str) -> list[dict[str, Any]]:
    found = response.get(section)
    return dicts(found.get("results") or []) if isinstance(found, dict) else []


def _entry(kind: str, item: Mapping[str, Any]) -> Evidence:
    excerpts = [item.get("description"), *(item.get("extra_snippets") or [])]
    data = item.get("data")
    return Evidence(
        kind,
        host(item.get("url")),
        text_of(item.get("page_age")) or text_of(item.get("age")),
        plain_text(item.get("title")),
        join("\n", [*map(plain_text, excerpts), *facts(data if isinstance(data, dict) else {})]),
        join(" | ", map(marked_words, excerpts)),
        text_of(item.get("url")),
    )
