"""Recall of a retriever: mean share and full cover of the gold names, MRR, with intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fresh_assets.retriever.requests import STEPS, TABLES, Request
from fresh_assets.retriever.retrievers import Hits

AT = {STEPS: 15, TABLES: 10}
"""The k of arXiv 2404.08189."""
CURVE = (1, 3, 5, 10, 15, 20, 30, 50)
SAMPLES = 2000


@dataclass(frozen=True)
class Measured:
    """Per request with at least one gold name: share of them found within k, rank of the first.

    `found`: requests x k, how many gold names were found within each k; `gold`: how many there are.
    """

    found: NDArray[np.int64]
    gold: NDArray[np.int64]
    first: NDArray[np.int64]

    def recall(self, k: int) -> NDArray[np.float64]:
        """Share of the gold names among the first k, by request."""
        if not self.found.shape[1]:
            return np.zeros(len(self.gold))
        return np.asarray(self.found[:, min(k, self.found.shape[1]) - 1] / self.gold)

    def full(self, k: int) -> NDArray[np.float64]:
        """1 where all gold names are among the first k, by request."""
        return np.asarray(self.recall(k) == 1, dtype=np.float64)

    @property
    def reciprocal(self) -> NDArray[np.float64]:
        """One over the rank of the first gold name, 0 if none was found."""
        return np.where(self.first > 0, 1 / np.maximum(self.first, 1), 0.0)


def measure(hits: Hits, names: Sequence[str], requests: Sequence[Request], what: str) -> Measured:
    """Measure hits for `requests`, all of which have gold names.

    A gold name that is not among `names` counts as never found.
    """
    place = {name: i for i, name in enumerate(names)}
    found = np.zeros(hits.places.shape, dtype=np.int64)
    for row, request in enumerate(requests):
        wanted = [place[name] for name in request.names(what) if name in place]
        found[row] = np.isin(hits.places[row], wanted)
    first = np.where(found.any(axis=1), found.argmax(axis=1) + 1, 0) if found.size else None
    gold = np.array([len(request.names(what)) for request in requests], dtype=np.int64)
    none = np.zeros(len(requests), dtype=np.int64)
    return Measured(found.cumsum(axis=1), gold, none if first is None else first)


def interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """95 % interval of a mean, by bootstrap over the requests."""
    random = np.random.default_rng(seed)
    drawn = random.integers(0, len(values), (SAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def difference(
    ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> tuple[float, float, float]:
    """(mean difference on the same requests, low and high end of its 95 % interval)."""
    return (float((ours - theirs).mean()), *interval(ours - theirs))
