"""Index of a large catalog: `python -m benchmarks.index_speed FILE` (JSON lines of steps, e.g. 14,278).

Build and publish from cached vectors; search beside a plain numpy product at the same thread count, the
named baseline; texts encoded after 1 % of the catalog changed; query encoding one by one and in a batch.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import faiss
import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from fresh_assets.catalog.encoder import Encoder, VectorCache
from fresh_assets.catalog.entries import entry_texts, read_entries
from fresh_assets.catalog.index import build_index, open_index

K, QUERIES = 15, 64


def best(work: Callable[[], object], times: int = 7) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    file = parser.parse_args().file
    faiss.omp_set_num_threads(1)
    threadpool_limits(1, user_api="blas")
    entries = read_entries(file.read_bytes(), file.name, "steps")
    names, encoder = entries["name"].to_list(), Encoder()
    table = Table(title=f"{len(names):,} entries, one thread, best of 7")
    for column in ("what", "ours", "baseline", "ratio"):
        table.add_column(column, justify="left" if column == "what" else "right")
    with tempfile.TemporaryDirectory() as home:
        cache = VectorCache(Path(home) / "vectors.sqlite")
        vectors, _ = cache.encode(encoder, entry_texts(entries))
        folder = Path(home) / "index"

        def build() -> None:
            known, _ = cache.encode(encoder, entry_texts(entries))
            build_index(folder, "steps", names, known, (encoder.name, encoder.hash))

        table.add_row(
            "build and publish from cached vectors", f"{best(build, 3):.2f} s", "limit 1 s", ""
        )
        index = open_index(folder, "steps", encoder.hash)
        for number in (1, QUERIES):
            asked = np.ascontiguousarray(vectors[:: len(vectors) // number][:number])

            def plain(asked: np.ndarray = asked) -> None:
                scores = asked @ vectors.T
                top = np.argpartition(-scores, K, axis=1)[:, :K]
                np.argsort(-np.take_along_axis(scores, top, axis=1), axis=1)

            ours, theirs = best(lambda a=asked: index.search(a, K)), best(plain)
            table.add_row(
                f"search, {number} queries (baseline: numpy)", f"{ours * 1e3:.2f} ms",
                f"{theirs * 1e3:.2f} ms", f"{ours / theirs:.2f}",
            )  # fmt: skip
        changed = pl.col("title") + pl.when(pl.int_range(pl.len()) % 100 == 0).then(
            pl.lit(" anew")
        ).otherwise(pl.lit(""))
        _, encoded = cache.encode(encoder, entry_texts(entries.with_columns(changed)))
        share = f"{encoded / len(names):.1%}"
        table.add_row("texts encoded after 1 % changed", str(encoded), str(len(names)), share)
        texts = entry_texts(entries)[:QUERIES]
        one = best(lambda: [encoder.encode([text]) for text in texts], 2)
        batch = best(lambda: encoder.encode(texts), 2)
        table.add_row(
            f"encoding {QUERIES} queries at once (baseline: one by one)", f"{batch:.2f} s",
            f"{one:.2f} s", f"{batch / one:.2f}",
        )  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
