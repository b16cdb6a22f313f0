"""Live engines: they show results as of now only. One class for all; an adapter each.

What an engine is asked, how fast and how often is set in engines.toml.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol

import pydantic

from fresh_assets.search.engine import Evidence
from fresh_assets.search.queries import Variant, queries_of
from fresh_assets.web.fetch import Fetched, Limits, Web, page_title

LONGEST_PROBLEM = 300


class EngineConfig(pydantic.BaseModel):
    """One table of engines.toml.

    `quota`: requests a calendar month (UTC). `price`: dollars a request, None while unknown.
    `results`: organic results wanted; beyond a page, more pages are asked for.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    type: Literal["serpapi", "serper", "searxng", "brave", "wikipedia"]
    url: str = ""
    api_key_env: str = ""
    query: Variant = "verbatim"
    results: int = pydantic.Field(10, ge=1, le=100)
    at_once: int = pydantic.Field(4, ge=1, le=64)
    requests_per_minute: float | None = pydantic.Field(None, gt=0)
    quota: int | None = pydantic.Field(None, ge=1)
    price: float | None = pydantic.Field(None, ge=0)
    timeout: float = pydantic.Field(30, gt=0)
    tries: int = pydantic.Field(5, ge=1)
    language: str = "en"
    country: str = "us"


@dataclass(frozen=True)
class Asked:
    """A request as an adapter wants it: GET with `params`, or POST of `body`."""

    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None


class Adapter(Protocol):
    """What one search API asks and how its replies are read. `key_env` is empty without a key."""

    url: str
    key_env: str
    page_size: int

    def ask(self, config: EngineConfig, key: str, query: str, start: int) -> Asked:
        """The request for a page of results from place `start`."""
        ...

    def problem(self, response: Mapping[str, Any]) -> str | None:
        """What a reply says went wrong, though its status was good."""
        ...

    def found(self, response: Mapping[str, Any]) -> int:
        """How many results the page holds, to see whether there may be another."""
        ...

    def parse(self, response: Mapping[str, Any]) -> Iterable[Evidence]:
        """Evidence of one reply."""
        ...


class LiveEngine:
    """A search API. `key` reaches neither a payload nor an error."""

    is_live = True

    def __init__(
        self, name: str, config: EngineConfig, adapter: Adapter, key: str, *, allow_private: bool
    ) -> None:
        self.name = name
        self.config = config
        self._adapter = adapter
        self._key = key
        self._web = Web(
            Limits(
                tries=config.tries,
                timeout=config.timeout,
                requests_per_minute=config.requests_per_minute,
                allow_private=allow_private,
            ),
            key,
        )

    def queries(self, question: str, as_of: date) -> list[str]:
        """What is sent for a question."""
        return queries_of(question, self.config.query, as_of)

    def most_requests(self, question: str, as_of: date) -> int:
        """Requests that a question takes at most, failures and repeated tries apart."""
        pages = math.ceil(self.config.results / self._adapter.page_size)
        return pages * len(self.queries(question, as_of))

    def search(self, query: str, as_of: date) -> bytes:
        """The reply to a question, verbatim; several replies as a JSON list.

        Raises FetchError; its kind says whether another question may fare better.
        """
        replies = []
        for sent in self.queries(query, as_of):
            for start in range(0, self.config.results, self._adapter.page_size):
                reply = self._ask(sent, start)
                replies.append(reply)
                if self._adapter.found(json.loads(reply)) < self._adapter.page_size:
                    break
        return replies[0] if len(replies) == 1 else b"[" + b",".join(replies) + b"]"

    def parse(self, payload: bytes) -> list[Evidence]:
        """Evidence of all replies, each page once."""
        found = (e for response in responses(payload) for e in self._adapter.parse(response))
        return [e for e in dict.fromkeys(found) if e.title or e.snippet or e.highlight]

    def _ask(self, query: str, start: int) -> bytes:
        asked = self._adapter.ask(self.config, self._key, query, start)
        url = self.config.url or self._adapter.url
        if asked.body is not None:
            fetched = self._web.post(url, asked.body, asked.headers, self._complaint)
        else:
            fetched = self._web.get(url, asked.params, asked.headers, self._complaint)
        return fetched.content

    def _complaint(self, fetched: Fetched) -> str | None:
        try:
            response = json.loads(fetched.content)
        except (ValueError, RecursionError):
            title = page_title(fetched.content)
            return f"a page ({title}), no results" if title else "not valid JSON"
        if not isinstance(response, dict):
            return "not a search response"
        try:
            for _ in self._adapter.parse(response):
                pass
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return f"not a search response ({error})"
        problem = self._adapter.problem(response)
        return problem and problem[:LONGEST_PROBLEM]


def responses(payload: bytes) -> list[dict[str, Any]]:
    """The replies in a payload."""
    data = json.loads(payload)
    return data if isinstance(data, list) else [data]
