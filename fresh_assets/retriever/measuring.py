"""Recall of every retriever on the requests of a catalog, as rows of mart.retriever_recall."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import polars as pl

from fresh_assets.catalog.indexing import suggestable
from fresh_assets.retriever.build import Corpus, all_retrievers, corpus_of, learn_fusion
from fresh_assets.retriever.recall import CURVE, Measured, difference, interval, measure
from fresh_assets.retriever.requests import (
    FITTED,
    STEPS,
    TABLES,
    Request,
    learnt_catalogs,
    stored_requests,
)
from fresh_assets.retriever.retrievers import Encode, Retriever

ROWS_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "what": pl.String, "with_common": pl.Boolean, "split": pl.String, "retriever": pl.String,
    "k": pl.Int32, "requests": pl.Int32, "recall": pl.Float64, "recall_low": pl.Float64,
    "recall_high": pl.Float64, "full_cover": pl.Float64, "mrr": pl.Float64,
    "over_popularity": pl.Float64, "over_popularity_low": pl.Float64,
    "over_popularity_high": pl.Float64,
}  # fmt: skip
KINDS = ((STEPS, False), (STEPS, True), (TABLES, False))
"""What is measured: steps without and with the common ones, tables (none of which is common)."""


@dataclass(frozen=True)
class Past:
    """Requests that may be learnt from, and the entries they were made for."""

    requests: Sequence[Request]
    corpus: Corpus


def retrievers_of(
    con: duckdb.DuckDBPyConnection, catalog: str, what: str, encode: Encode, *, common: bool = False
) -> tuple[Corpus, Mapping[str, Retriever]]:
    """The entries of a catalog and every retriever over them.

    The past is that of all deployments; the fusion is learnt where that past was made and serves
    a catalog of other names as it is. Without a past there is no fusion.
    """
    entries = suggestable(con, catalog, what, common=common)
    corpus = corpus_of(entries, encode)
    past = past_of(con, what, encode, common=common)
    fusion = learn_fusion(past.corpus, past.requests, what, encode)
    return corpus, all_retrievers(corpus, past.requests, what, encode, fusion)


def past_of(
    con: duckdb.DuckDBPyConnection, what: str, encode: Encode, *, common: bool = False
) -> Past:
    """Train and dev of every deployment's newest catalog, names that may be suggested."""
    keys = learnt_catalogs(con)
    entries = [suggestable(con, key, what, common=common) for key in keys]
    together = pl.concat(entries).unique("name", keep="last", maintain_order=True) if keys else None
    empty = pl.DataFrame(schema=dict.fromkeys(("name", "title", "description", "app"), pl.String))
    corpus = corpus_of(empty if together is None else together, encode)
    requests = [
        replace(request, id=f"{key}/{request.id}") for key in keys for request in _learnt(con, key)
    ]
    return Past(only_known(requests, corpus.names, what), corpus)


def only_known(requests: Sequence[Request], names: Sequence[str], what: str) -> list[Request]:
    """The requests without the names that are not among `names`."""
    known = set(names)
    return [r.only(what, (name for name in r.names(what) if name in known)) for r in requests]


def recall_rows(con: duckdb.DuckDBPyConnection, catalog: str, encode: Encode) -> pl.DataFrame:
    """Content rows of mart.retriever_recall but for the encoder; none without requests."""
    asked = [request for request in stored_requests(con, catalog) if request.split not in FITTED]
    rows: list[dict[str, Any]] = []
    for what, common in KINDS:
        if asked and len(suggestable(con, catalog, what, common=common)):
            corpus, retrievers = retrievers_of(con, catalog, what, encode, common=common)
            wanted = _wanted(con, catalog, asked, what, common=common)
            found = _rows(corpus, retrievers, wanted, what)
            rows += [{"what": what, "with_common": common, **row} for row in found]
    return pl.DataFrame(rows, schema=ROWS_SCHEMA)


def _wanted(
    con: duckdb.DuckDBPyConnection,
    catalog: str,
    asked: Sequence[Request],
    what: str,
    *,
    common: bool,
) -> list[Request]:
    """Common steps that are left out are no gold; a name in no catalog stays, as not found."""
    if what == TABLES or common:
        return [request for request in asked if request.names(what)]
    left_out = con.execute(
        "SELECT name FROM catalog.steps WHERE catalog = ? AND is_common", [catalog]
    ).fetchall()
    kept = [r.only(STEPS, (s for s in r.steps if (s,) not in left_out)) for r in asked]
    return [request for request in kept if request.steps]


def _rows(
    corpus: Corpus, retrievers: Mapping[str, Retriever], asked: Sequence[Request], what: str
) -> Iterator[dict[str, Any]]:
    for split in sorted({request.split for request in asked}):
        of_split = [request for request in asked if request.split == split]
        texts = [request.text for request in of_split]
        found = {
            name: measure(retriever.search(texts, max(CURVE)), corpus.names, of_split, what)
            for name, retriever in retrievers.items()
        }
        for name, measured in found.items():
            for k in CURVE:
                yield {"split": split, "retriever": name, **_row(measured, found["popularity"], k)}


def _row(measured: Measured, popularity: Measured, k: int) -> dict[str, Any]:
    recall = measured.recall(k)
    low, high = interval(recall)
    over, over_low, over_high = difference(recall, popularity.recall(k))
    return {
        "k": k, "requests": len(recall), "recall": float(recall.mean()), "recall_low": low,
        "recall_high": high, "full_cover": float(measured.full(k).mean()),
        "mrr": float(measured.reciprocal.mean()), "over_popularity": over,
        "over_popularity_low": over_low, "over_popularity_high": over_high,
    }  # fmt: skip


def _learnt(con: duckdb.DuckDBPyConnection, catalog: str) -> list[Request]:
    return [request for request in stored_requests(con, catalog) if request.split in FITTED]
