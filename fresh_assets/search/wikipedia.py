"""Wikipedia's own search: without a key. The evidence is the introduction of each article found,
dated by its last revision."""

from collections.abc import Iterator, Mapping
from typing import Any

from fresh_assets.search.engine import Evidence
from fresh_assets.search.live import Asked, EngineConfig
from fresh_assets.search.queries import keywords
from fresh_assets.search.text import dicts, host, text_of

LONGEST = 1200
"""Characters of an introduction."""


class Wikipedia:
    """The adapter; its search wants every word, so only keywords are sent."""

    url = "https://en.wikipedia.org/w/api.php"
    key_env = ""
    page_size = 20

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """A page of articles from place `start`."""
        params = {
            "action": "query", "format": "json", "formatversion": 2, "generator": "search",
            "gsrsearch": keywords(query), "gsrlimit": min(self.page_size, config.results),
            "gsroffset": start, "prop": "extracts|revisions|info", "exintro": 1,
            "explaintext": 1, "exchars": LONGEST, "exlimit": "max", "rvprop": "timestamp",
            "inprop": "url", "maxlag": 5,
        }  # fmt: skip
        return Asked(params)

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """What an error reply says; a search without hits has no `query`."""
        error = response.get("error")
        if isinstance(error, dict):
            return text_of(error.get("info")) or "refused"
        known = "query" in response or "batchcomplete" in response or "continue" in response
        return None if known else "no search response"

    def found(self, response: Mapping[str, Any]) -> int:
        """Articles of a page."""
        return len(_pages(response))

    def parse(self, response: Mapping[str, Any]) -> Iterator[Evidence]:
        """Articles in the order of the search."""
        for page in sorted(_pages(response), key=lambda page: page.get("index") or 0):
            revised = next(iter(dicts(page.get("revisions") or [])), {})
            url = text_of(page.get("canonicalurl")) or text_of(page.get("fullurl"))
            yield Evidence(
                "organic",
                host(url),
                text_of(revised.get("timestamp")),
                text_of(page.get("title")),
                text_of(page.get("extract")),
                url=url,
            )


def _pages(response: Mapping[str, Any]) -> list[dict[str, Any]]:
    query = response.get("query")
    return dicts(query.get("pages") or []) if isinstance(query, dict) else []
