"""Retrievers on real sets: `python -m benchmarks.retrieval DIR [--sets n8n,azure] [--encoder E]`.

DIR holds the workflow sets. Recall@15 of steps and @10 of tables by split, without the common steps, for
every retriever; the named baseline is the best of the single ones, and *default - best* the paired
difference of the default to it with its 95 % interval (bootstrap over requests). Nothing but train and
dev is learnt from; a set without them is served by the fusion of the set before it that has some.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fresh_assets.catalog.encoder import Encoder, VectorCache
from fresh_assets.catalog.entries import read_entries
from fresh_assets.catalog.packaged import MINILM
from fresh_assets.retriever.build import (
    DEFAULT,
    Corpus,
    all_retrievers,
    corpus_of,
    learn_fusion,
)
from fresh_assets.retriever.recall import AT, difference, measure
from fresh_assets.retriever.requests import FITTED, STEPS, TABLES, Request, read_requests

SINGLES = ("popularity", "bm25", "neighbours", "dense")
SETS = {
    "n8n": (STEPS, TABLES), "servicenow": (TABLES,), "splunk_detections": (TABLES,),
    "servicenow_gold": (STEPS, TABLES), "azure": (STEPS,), "spider_dev": (TABLES,),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One catalog with the requests asked of it."""

    of: str
    what: str
    requests: list[Request]
    corpus: Corpus


FOLDERS = {"servicenow_gold": "servicenow"}
FILES = {"servicenow": "table_items.jsonl", "servicenow_gold": "gold_workflows.jsonl"}


def requests_of(folder: Path, name: str) -> list[Request]:
    file = folder / FILES.get(name, "items.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    english = [line for line in lines if line.get("lang", "en") == "en"]
    kept = "\n".join(json.dumps(line) for line in english)
    return read_requests(kept.encode(), file.name)


def tasks(folder: Path, names: Sequence[str], encode) -> Iterator[Task]:
    for name in names:
        place = folder / FOLDERS.get(name, name)
        requests = requests_of(place, name)
        for what in SETS[name]:
            file = place / f"catalog_{what}.jsonl"
            entries = read_entries(file.read_bytes(), file.name, what)
            if what == STEPS:
                entries = entries.filter(~entries["is_common"], entries["kind"] != "trigger")
            kept = set(entries["name"])
            asked = [replace(r, steps=tuple(s for s in r.steps if s in kept)) for r in requests]
            yield Task(name, what, asked, corpus_of(entries, encode))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--encoder", default=MINILM)
    options = parser.parse_args()
    encoder = Encoder(options.encoder)
    table = Table(title=f"Recall@15 of steps, @10 of tables; encoder {options.encoder}")
    columns = (
        "set",
        "split (n)",
        "what",
        *SINGLES,
        "dense_per_step",
        DEFAULT,
        "default - best of the single",
    )
    for column in columns:
        table.add_column(column, justify="left" if column in columns[:3] else "right")
    with tempfile.TemporaryDirectory() as home:
        cache = VectorCache(Path(home) / "vectors.sqlite")

        def encode(texts):
            return cache.encode(encoder, texts)[0]

        learnt = {}
        for task in tasks(options.folder, options.sets.split(","), encode):
            started = time.perf_counter()
            splits = sorted({r.split for r in task.requests} - set(FITTED)) or ["dev"]
            taught = [r for r in task.requests if splits != ["dev"] or r.split != "dev"]
            fusion = learn_fusion(task.corpus, taught, task.what, encode)
            if fusion:
                learnt[task.what] = (task.of, fusion)
            taught_by, fusion = learnt.get(task.what, ("", None))
            found = all_retrievers(task.corpus, taught, task.what, encode, fusion)
            for split in splits:
                asked = [r for r in task.requests if r.split == split and r.names(task.what)]
                if not asked:
                    continue
                k, texts = AT[task.what], [r.text for r in asked]
                recalls = {
                    name: measure(one.search(texts, k), task.corpus.names, asked, task.what).recall(
                        k
                    )
                    for name, one in found.items()
                }
                strongest = max(SINGLES, key=lambda name: recalls[name].mean())
                shown = [f"{recalls[n].mean():.3f}" for n in (*SINGLES, "dense_per_step")]
                if DEFAULT in recalls:
                    mean, low, high = difference(recalls[DEFAULT], recalls[strongest])
                    shown += [
                        f"{recalls[DEFAULT].mean():.3f}",
                        f"{mean:+.3f} ({low:+.3f} to {high:+.3f}) {strongest}"
                        + (f" (fusion of {taught_by})" if taught_by != task.of else ""),
                    ]
                else:
                    shown += ["", f"nothing to learn from; best: {strongest}"]
                table.add_row(task.of, f"{split} ({len(asked)})", task.what, *shown)
            print(task.of, task.what, f"{time.perf_counter() - started:.0f} s", flush=True)
    Console(width=170).print(table)


if __name__ == "__main__":
    main()
