"""Who finds the entries of a catalog for a request: one interface, from popularity to a fusion.

A retriever is built over one list of names (steps or tables of a catalog) and gives every request
the places of the best `k` of them with scores, best first.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fresh_assets.catalog.encoder import Vectors
from fresh_assets.catalog.entries import words_of
from fresh_assets.retriever.clauses import clauses
from fresh_assets.retriever.requests import Request

Encode = Callable[[Sequence[str]], Vectors]
Matrix = NDArray[np.float32]
NONE = -1
"""Place of no entry: a retriever may know of fewer than k."""
CANDIDATES = 100
"""Best of every part among which the fusion chooses."""
NEIGHBOURS = 20
"""Past requests whose names count."""
SHARPNESS = 12.0
"""How much more a nearer past request counts: weight exp(SHARPNESS x cosine)."""


@dataclass(frozen=True)
class Hits:
    """Places in the list of names and scores, best first: requests x k; NONE pads."""

    places: NDArray[np.int64]
    scores: Matrix


class Retriever(Protocol):
    """Finds entries for requests."""

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The best `k` entries of every request."""
        ...


def best(scores: Matrix, k: int, *, floor: float = -np.inf) -> Hits:
    """Hits of a full matrix of scores; entries that do not score above `floor` are none."""
    k = min(k, scores.shape[1])
    if not k:
        return Hits(np.zeros((len(scores), 0), np.int64), np.zeros((len(scores), 0), np.float32))
    top = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1, kind="stable")
    places = np.take_along_axis(top, order, axis=1).astype(np.int64)
    found = np.take_along_axis(scores, places, axis=1)
    return Hits(np.where(found > floor, places, NONE), found)


class Popularity:
    """The names most frequent in the past, whatever is asked."""

    def __init__(self, names: Sequence[str], past: Sequence[Request], what: str) -> None:
        counts = Counter(name for request in past for name in request.names(what))
        self.counts = np.array([counts[name] for name in names], dtype=np.float32)

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The same entries for all; names that never occurred are none."""
        hits = best(self.counts[None, :], k, floor=0)
        shape = (len(queries), hits.places.shape[1])
        return Hits(np.broadcast_to(hits.places, shape), np.broadcast_to(hits.scores, shape))


class Bm25:
    """Words in common (BM25, bm25s), names split into words."""

    def __init__(self, texts: Sequence[str]) -> None:
        import bm25s  # noqa: PLC0415  (slow to import)

        self._index = bm25s.BM25()
        self._size = len(texts)
        self._index.index(self._tokens(texts), show_progress=False)

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Entries that share a word with the request."""
        k = min(k, self._size)
        if not queries:
            return Hits(np.zeros((0, k), np.int64), np.zeros((0, k), np.float32))
        places, scores = self._index.retrieve(
            self._tokens(queries), k=k, show_progress=False, n_threads=1
        )
        scores = np.asarray(scores, dtype=np.float32)
        return Hits(np.where(scores > 0, np.asarray(places, np.int64), NONE), scores)

    @staticmethod
    def _tokens(texts: Sequence[str]) -> Any:
        import bm25s  # noqa: PLC0415

        read = [f"{text} {words_of(text)}" for text in texts]
        return bm25s.tokenize(read, stopwords="en", show_progress=False)


class Dense:
    """Cosine of an encoder's vectors; `vectors` has a row of norm 1 for each entry."""

    def __init__(self, vectors: Vectors, encode: Encode) -> None:
        self._vectors = vectors
        self._encode = encode

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """One retrieval for the whole request, as in arXiv 2404.08189."""
        return best(self._encode(queries) @ self._vectors.T, k)


class DensePerStep:
    """Cosine, the request split into its clauses: the best any clause finds.

    The remedy that arXiv 2404.08189 proposes for a rare step that the whole request hides.
    """

    def __init__(self, vectors: Vectors, encode: Encode) -> None:
        self._vectors = vectors
        self._encode = encode

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """For each entry the highest cosine to the request or to one of its clauses."""
        parts = [[query, *clauses(query)] for query in queries]
        flat = self._encode([part for of_query in parts for part in of_query])
        starts = np.cumsum([0, *(len(of_query) for of_query in parts)])[:-1]
        return best(np.maximum.reduceat(flat @ self._vectors.T, starts, axis=0), k)


class NamedApp:
    """Entries of an app that the request names, rarer apps first."""

    def __init__(self, apps: Sequence[str]) -> None:
        self._words = [frozenset(words_of(app).split()) for app in apps]
        often = Counter(self._words)
        self._weight = {
            words: float(np.log(1 + len(apps) / n)) for words, n in often.items() if words
        }

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Entries all words of whose app are in the request."""
        scores = np.zeros((len(queries), len(self._words)), dtype=np.float32)
        for row, query in enumerate(queries):
            said = set(words_of(query).split())
            named = {words: weight for words, weight in self._weight.items() if words <= said}
            if named:
                scores[row] = [named.get(words, 0.0) for words in self._words]
        return best(scores, k, floor=0)


class Neighbours:
    """Names of the most similar past requests, each weighted by its similarity."""

    def __init__(
        self, names: Sequence[str], past: Sequence[Request], what: str, encode: Encode
    ) -> None:
        self._place = {name: place for place, name in enumerate(names)}
        self._past = [
            [self._place[name] for name in request.names(what) if name in self._place]
            for request in past
        ]
        self._encode = encode
        self._vectors = encode([request.text for request in past])
        self._texts = [request.text for request in past]

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """Entries of past requests; a past request with the very same text does not count."""
        scores = np.zeros((len(queries), len(self._place)), dtype=np.float32)
        if not self._past:
            return best(scores, k, floor=0)
        similar = self._encode(queries) @ self._vectors.T
        nearest = np.argsort(-similar, axis=1)[:, : NEIGHBOURS + 1]
        for row, query in enumerate(queries):
            near = [n for n in nearest[row] if self._texts[n] != query][:NEIGHBOURS]
            weights = np.exp(SHARPNESS * similar[row, near])
            for weight, n in zip(weights / max(weights.sum(), 1e-9), near, strict=True):
                scores[row, self._past[n]] += weight
        return best(scores, k, floor=0)


class Hybrid:
    """All of them together, weighed by a model of what made an entry right in the past."""

    def __init__(self, parts: Mapping[str, Retriever], fusion: "Fusion") -> None:
        self._parts = parts
        self._fusion = fusion

    def search(self, queries: Sequence[str], k: int) -> Hits:
        """The best by the fusion among the best of every part."""
        places, found = candidates(self._parts, queries)
        width = max((len(row) for row in places), default=0)
        ordered = np.full((len(queries), min(k, width)), NONE, dtype=np.int64)
        scores = np.full(ordered.shape, -np.inf, dtype=np.float32)
        for row, (of_query, features) in enumerate(zip(places, found, strict=True)):
            said = self._fusion.log_odds(features)
            top = np.argsort(-said, kind="stable")[: ordered.shape[1]]
            ordered[row, : len(top)] = of_query[top]
            scores[row, : len(top)] = said[top]
        return Hits(ordered, scores)


def candidates(
    parts: Mapping[str, Retriever], queries: Sequence[str]
) -> tuple[list[NDArray[np.int64]], list[Matrix]]:
    """(places, features) of every request: the union of the best of all parts.

    Features of a part: its score over the best of the request, the reciprocal of the rank, whether
    it found the entry at all, the score itself, and the best score of the request: how sure it is.
    """
    hits = {name: part.search(queries, CANDIDATES) for name, part in parts.items()}
    places, features = [], []
    for row in range(len(queries)):
        of_query = np.unique(np.concatenate([h.places[row] for h in hits.values()]))
        of_query = of_query[of_query != NONE]
        columns = [_features(h.places[row], h.scores[row], of_query) for h in hits.values()]
        places.append(of_query)
        features.append(np.concatenate(columns, axis=1))
    return places, features


def _features(found: NDArray[np.int64], scores: Matrix, wanted: NDArray[np.int64]) -> Matrix:
    made = np.zeros((len(wanted), 5), dtype=np.float32)
    real = found != NONE
    found, scores = found[real], scores[real]
    if not len(found) or not len(wanted):
        return made
    at = np.searchsorted(wanted, found)
    top = max(float(scores.max()), 1e-9)
    made[at, 0] = scores / top
    made[at, 1] = 1 / (1 + np.arange(len(found)))
    made[at, 2] = 1
    made[at, 3] = scores
    made[:, 4] = top
    return made


@dataclass(frozen=True)
class Fusion:
    """A fitted model over the features of `candidates`."""

    model: Any

    def log_odds(self, features: Matrix) -> Matrix:
        """Log odds that an entry belongs to the request."""
        if not len(features):
            return np.zeros(0, dtype=np.float32)
        shares = self.model.predict_proba(features)[:, 1].clip(1e-7, 1 - 1e-7)
        return np.asarray(np.log(shares / (1 - shares)), dtype=np.float32)


def fit_fusion(
    rows: Sequence[tuple[Mapping[str, Retriever], Sequence[Request]]],
    names: Sequence[str],
    what: str,
) -> Fusion:
    """Learn from (retrievers, requests that these have not learnt from)."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  (1 s to import)

    place = {name: i for i, name in enumerate(names)}
    found: list[Matrix] = []
    labels: list[NDArray[np.bool_]] = []
    for parts, requests in rows:
        places, features = candidates(parts, [request.text for request in requests])
        for of_query, request in zip(places, requests, strict=True):
            gold = [place[name] for name in request.names(what) if name in place]
            labels.append(np.isin(of_query, gold))
        found += features
    model = HistGradientBoostingClassifier(
        max_iter=200, learning_rate=0.05, max_leaf_nodes=15, min_samples_leaf=40, random_state=0
    )
    model.fit(np.concatenate(found), np.concatenate(labels))
    return Fusion(model)
