"""Every retriever over one catalog, and the fusion of them, learnt from past requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from fresh_assets.catalog.encoder import Vectors
from fresh_assets.catalog.entries import entry_texts
from fresh_assets.retriever.requests import Request, fitted
from fresh_assets.retriever.retrievers import (
    Bm25,
    Dense,
    DensePerStep,
    Encode,
    Fusion,
    Hybrid,
    NamedApp,
    Neighbours,
    Popularity,
    Retriever,
    fit_fusion,
)

FOLDS = 5
FEWEST, MOST = 3, 20
"""Entries of an app that a request for all of them may name."""
OFTEN = 0.05
"""Share of the past from which an app is never held out: it is everywhere."""
DEFAULT = "hybrid"


@dataclass(frozen=True)
class Corpus:
    """The entries of a catalog that may be suggested: names, texts, vectors, parent apps."""

    names: Sequence[str]
    texts: Sequence[str]
    vectors: Vectors
    apps: Sequence[str]


def corpus_of(entries: pl.DataFrame, encode: Encode) -> Corpus:
    """The corpus of entries as of `read_entries`; an entry without an app is one of its own."""
    texts, names = entry_texts(entries), entries["name"].to_list()
    apps = [app or name for name, app in entries.select("name", "app").iter_rows()]
    return Corpus(names, texts, encode(texts), apps)


def single_retrievers(
    corpus: Corpus, past: Sequence[Request], what: str, encode: Encode
) -> dict[str, Retriever]:
    """All retrievers but the fusion; `past` are the requests that may be learnt from."""
    return {
        "popularity": Popularity(corpus.names, past, what),
        "bm25": Bm25(corpus.texts),
        "dense": Dense(corpus.vectors, encode),
        "neighbours": Neighbours(corpus.names, past, what, encode),
        "app": NamedApp(corpus.apps),
        "dense_per_step": DensePerStep(corpus.vectors, encode),
    }


def learn_fusion(
    corpus: Corpus, requests: Sequence[Request], what: str, encode: Encode
) -> Fusion | None:
    """Fit the fusion on train and dev; None without past requests.

    Requests are asked about with retrievers that have learnt from the others only. In half of the
    folds the others are those without certain apps, and those with them are asked: so the fusion
    also learns what to trust where names never occurred. To these come requests that only name an
    app and want its entries.
    """
    past = [r for r in (*fitted(requests), *fitted(requests, "dev")) if r.names(what)]
    if len(past) < FOLDS:
        return None
    app_of = dict(zip(corpus.names, corpus.apps, strict=True))
    apps = [{app_of[name] for name in r.names(what) if name in app_of} for r in past]
    often = Counter(app for of_request in apps for app in of_request)
    rare = sorted(app for app in set(corpus.apps) if often[app] <= OFTEN * len(past))
    whole_apps = _whole_apps(corpus, what)
    rows = []
    for fold in range(FOLDS):
        asked = past[fold::FOLDS]
        known = [r for i, r in enumerate(past) if i % FOLDS != fold]
        rows.append((single_retrievers(corpus, known, what, encode), asked))
        hidden = set(rare[fold::FOLDS])
        asked = [r for r, of_request in zip(past, apps, strict=True) if of_request & hidden]
        asked += [made for made in whole_apps if made.id in hidden]
        known = [r for r, of_request in zip(past, apps, strict=True) if not of_request & hidden]
        rows.append((single_retrievers(corpus, known, what, encode), asked))
    return fit_fusion(rows, corpus.names, what)


def _whole_apps(corpus: Corpus, what: str) -> list[Request]:
    """For every app with several entries a request that names it."""
    entries: dict[str, list[str]] = {}
    for name, app in zip(corpus.names, corpus.apps, strict=True):
        entries.setdefault(app, []).append(name)
    several = {app: tuple(names) for app, names in entries.items() if FEWEST <= len(names) <= MOST}
    return [Request(app, "train", app).only(what, names) for app, names in several.items()]


def all_retrievers(
    corpus: Corpus,
    requests: Sequence[Request],
    what: str,
    encode: Encode,
    fusion: Fusion | None,
) -> Mapping[str, Retriever]:
    """Every retriever; `fusion` may be learnt on another corpus, without one there is no hybrid."""
    singles = single_retrievers(corpus, fitted(requests), what, encode)
    return {**singles, DEFAULT: Hybrid(singles, fusion)} if fusion else singles
