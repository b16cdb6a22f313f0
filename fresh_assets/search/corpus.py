"""The local engine: BM25 over dated documents. It can search any day, as if it were that day."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

import bm25s
import numpy as np

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search.engine import Evidence

NAME = "corpus"
SNIPPET_WORDS = 60


@dataclass(frozen=True)
class Document:
    """A page of the corpus."""

    url: str
    source: str
    date: date
    title: str
    text: str


@dataclass(frozen=True)
class Hit:
    """A document as the payload shows it."""

    url: str
    source: str
    date: str
    title: str
    snippet: str


class CorpusEngine:
    """BM25 over the documents dated up to the day asked about."""

    name = NAME
    is_live = False

    def __init__(self, documents: Sequence[Document], limit: int) -> None:
        self._documents = documents
        self._limit = limit
        self._index = lru_cache(maxsize=2)(self._build)

    def search(self, query: str, as_of: date) -> bytes:
        """Return the best documents as JSON; documents that share no word with it are left out."""
        documents, index = self._index(as_of)
        if not documents:
            return _payload(query, as_of, [])
        (words,) = bm25s.tokenize([query], stopwords="en", return_ids=False, show_progress=False)
        scores = index.get_scores(words)
        found = np.flatnonzero(scores)
        best = found[np.argsort(-scores[found], kind="stable")][: self._limit]
        hits = [_hit(documents[i], query) for i in best.tolist()]
        return _payload(query, as_of, hits)

    def parse(self, payload: bytes) -> list[Evidence]:
        """Every hit is organic evidence."""
        return [
            Evidence(
                "organic",
                hit["source"],
                hit["date"],
                hit["title"],
                hit["snippet"],
                None,
                hit["url"],
            )
            for hit in json.loads(payload)["hits"]
        ]

    def _build(self, as_of: date) -> tuple[list[Document], bm25s.BM25]:
        documents = [d for d in self._documents if d.date <= as_of]
        index = bm25s.BM25()
        if documents:
            texts = [f"{d.title} {d.text}" for d in documents]
            index.index(
                bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False
            )
        return documents, index


def read_corpus(file: Path) -> list[Document]:
    """Read documents from JSON lines (url, source, date, title, text)."""
    if not file.exists():
        raise UserError(
            f"no corpus at {file}: put documents there, or import the results of the week with "
            "`fresh-assets import-snapshot`"
        )
    documents = []
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                documents.append(Document(**{**row, "date": date.fromisoformat(row["date"])}))
            except (KeyError, TypeError, ValueError) as error:
                raise BadInputError(
                    file.name,
                    f"not a document ({error})",
                    "Each line is a JSON object with url, source, date, title, text",
                    f"line {number}",
                ) from error
    return documents


def write_corpus(documents: Sequence[Document], file: Path) -> None:
    """Write documents as JSON lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = (
        json.dumps({**asdict(d), "date": d.date.isoformat()}, ensure_ascii=False) for d in documents
    )
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _payload(query: str, as_of: date, hits: list[Hit]) -> bytes:
    body = {"query": query, "as_of": as_of.isoformat(), "hits": [asdict(hit) for hit in hits]}
    return json.dumps(body, ensure_ascii=False).encode()


def _hit(document: Document, query: str) -> Hit:
    return Hit(
        document.url,
        document.source,
        document.date.isoformat(),
        document.title,
        _snippet(document.text, query),
    )


def _snippet(text: str, query: str) -> str:
    """The window of the text that holds most words of the query."""
    words = text.split()
    if len(words) <= SNIPPET_WORDS:
        return text
    wanted = {w.strip(".,?!'\"").lower() for w in query.split()}
    matches = np.array([w.strip(".,?!'\"").lower() in wanted for w in words], dtype=int)
    windows = np.convolve(matches, np.ones(SNIPPET_WORDS, dtype=int), mode="valid")
    start = int(windows.argmax())
    return " ".join(words[start : start + SNIPPET_WORDS])
