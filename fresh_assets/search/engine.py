"""What a search engine is: verbatim payloads in, evidence out, kept apart so that the archive can
be parsed again at any time."""

from dataclasses import dataclass
from datetime import date
from typing import Protocol


@dataclass(frozen=True)
class Evidence:
    """One normalised search result; text fields are None when the payload has none."""

    kind: str
    source: str | None = None
    date_text: str | None = None
    title: str | None = None
    snippet: str | None = None
    highlight: str | None = None
    url: str | None = None


class Engine(Protocol):
    """A search engine. `is_live`: it can only show results as of now, so never for a past week."""

    name: str
    is_live: bool

    def search(self, query: str, as_of: date) -> bytes:
        """Return the payload for `query` as it is on `as_of`, verbatim."""
        ...

    def parse(self, payload: bytes) -> list[Evidence]:
        """Return the evidence of a payload, in the order of its sections."""
        ...
