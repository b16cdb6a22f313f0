"""Readable text out of payloads."""

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

_NOT_TEXT = re.compile(
    r"link|_stick|kgmid|thumbnail|image|favicon|logo|token|source|position|_id$|_indexes$"
)
_TAG = re.compile(r"<[^<>]{1,200}>")
_MARKED = re.compile(r"<(?:strong|b|em)>(.*?)</(?:strong|b|em)>", re.IGNORECASE | re.DOTALL)


def text_of(value: Any) -> str | None:
    """Readable text of a scalar; None when there is none."""
    if isinstance(value, bool) or value is None or isinstance(value, dict | list):
        return None
    whole = str(value).encode("utf-8", "replace").decode()  # half an emoji, cut by the engine
    return " ".join(whole.split()) or None


def plain_text(value: Any) -> str | None:
    """Text of a scalar without HTML tags and entities."""
    return text_of(html.unescape(_TAG.sub("", str(value)))) if isinstance(value, str) else None


def marked_words(value: Any) -> str | None:
    """What an HTML excerpt emphasises, joined with bars."""
    found = _MARKED.findall(value) if isinstance(value, str) else []
    return join(" | ", map(plain_text, found))


def host(url: Any) -> str | None:
    """Host of a URL without a leading www."""
    if not isinstance(url, str):
        return None
    try:
        return text_of((urlsplit(url).hostname or "").removeprefix("www."))
    except ValueError:
        return None


def join(separator: str, parts: Iterable[str | None]) -> str | None:
    """The parts that are there, joined; None if none is."""
    return separator.join(part for part in parts if part) or None


def facts(value: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """`name: value` lines of everything readable in a section, nested names joined by dots."""
    for name, item in value.items():
        if _NOT_TEXT.search(name):
            continue
        for entry in item if isinstance(item, list) else [item]:
            if isinstance(entry, dict):
                yield from facts(entry, f"{prefix}{name}.")
            elif isinstance(entry, list):
                yield from facts({name: entry}, prefix)
            elif (text := text_of(entry)) and not text.startswith("http"):
                yield f"{prefix}{name}: {text}"


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a section: a list, a single one, or none. TypeError if it holds others."""
    items = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, dict) for item in items):
        raise TypeError("a section holds what is no object")
    return items
