"""SearXNG: a metasearch server of one's own, without a key. Its JSON format must be switched on."""

from collections.abc import Iterator, Mapping
from typing import Any

from fresh_assets.search.engine import Evidence
from fresh_assets.search.live import Asked, EngineConfig
from fresh_assets.search.text import dicts, host, join, plain_text, text_of


class SearXNG:
    """The adapter; a page holds as many results as the server's engines bring."""

    url = "http://127.0.0.1:8888/search"
    key_env = ""
    page_size = 10

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """A page of results."""
        page = start // self.page_size + 1
        params = {"q": query, "format": "json", "language": config.language, "pageno": page}
        return Asked(params)

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """Nothing found because no engine behind the server answered."""
        if "results" not in response:
            return "no search response"
        silent = response.get("unresponsive_engines")
        if self.found(response) or response.get("answers") or not silent:
            return None
        return f"no engine behind the server answered: {silent}"

    def found(self, response: Mapping[str, Any]) -> int:
        """Results of a page."""
        return len(dicts(response.get("results") or []))

    def parse(self, response: Mapping[str, Any]) -> Iterator[Evidence]:
        """Evidence of answers, info boxes and results."""
        for answer in response.get("answers") or []:
            told = answer if isinstance(answer, dict) else {"answer": answer}
            url = text_of(told.get("url"))
            yield Evidence(
                "answer_box", host(url), highlight=plain_text(told.get("answer")), url=url
            )
        for box in dicts(response.get("infoboxes") or []):
            known = (
                join(": ", [text_of(a.get("label")), text_of(a.get("value"))])
                for a in dicts(box.get("attributes") or [])
            )
            url = next((text_of(u.get("url")) for u in dicts(box.get("urls") or [])), None)
            yield Evidence(
                "knowledge_graph",
                host(url),
                title=plain_text(box.get("infobox")),
                snippet=join("\n", [plain_text(box.get("content")), *known]),
                url=url,
            )
        for item in dicts(response.get("results") or []):
            yield Evidence(
                "organic",
                host(item.get("url")),
                text_of(item.get("publishedDate")),
                plain_text(item.get("title")),
                plain_text(item.get("content")),
                url=text_of(item.get("url")),
            )
