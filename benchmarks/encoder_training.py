"""Fine-tuning on the n8n set: `python -m benchmarks.encoder_training DIR [--minutes M] [--strategies]`.

DIR holds the workflow sets. Recall of the dense retriever (steps @15, tables @10) by split: the packaged
encoder off the shelf, the named baseline, beside the same encoder after the `cpu` recipe, with the paired
difference and its 95 % interval. `--strategies` trains the four kinds of negatives instead, one epoch on
the same 1,200 pairs each; `all` has three negatives for a pair and so three times the steps.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.retrieval import tasks
from fresh_assets.catalog.encoder import Encoder
from fresh_assets.retriever.recall import AT, difference, measure
from fresh_assets.retriever.requests import FITTED
from fresh_assets.retriever.retrievers import Dense
from fresh_assets.retriever.training import RECIPES, Recipe, train

STRATEGIES = ("random", "bm25", "ance", "all")


def recalls(encoder: Encoder, found) -> dict[tuple[str, str], object]:
    """Recall by request for every split and kind of entry."""
    made = {}
    for task in found:
        dense = Dense(encoder.encode(task.corpus.texts), encoder.encode)
        for split in sorted({r.split for r in task.requests} - set(FITTED)):
            asked = [r for r in task.requests if r.split == split and r.names(task.what)]
            hits = dense.search([r.text for r in asked], AT[task.what])
            measured = measure(hits, task.corpus.names, asked, task.what)
            made[split, task.what] = measured.recall(AT[task.what])
    return made


def trained(recipe: Recipe, found, folder: Path) -> tuple[Encoder, list, float]:
    requests = found[0].requests
    corpora = {task.what: task.corpus for task in found}
    started = time.perf_counter()
    epochs = train(Encoder(), requests, corpora, recipe, folder)
    return Encoder(str(folder / "best")), epochs, time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=25)
    parser.add_argument("--strategies", action="store_true")
    options = parser.parse_args()
    seconds = options.minutes * 60
    found = list(tasks(options.folder, ["n8n"], Encoder().encode))
    before = recalls(Encoder(), found)
    console = Console(width=150)
    base = replace(RECIPES["cpu"], max_seconds=seconds)
    recipes = {"cpu": base}
    if options.strategies:
        recipes = {
            name: replace(base, negatives=name, epochs=1, most_pairs=1200) for name in STRATEGIES
        }
    with tempfile.TemporaryDirectory() as home:
        for name, recipe in recipes.items():
            encoder, epochs, took = trained(recipe, found, Path(home) / name)
            after = recalls(encoder, found)
            table = Table(
                title=f"{name}: {len(epochs)} epochs in {took / 60:.1f} minutes, {recipe}"
            )
            for column in ("split", "what", "n", "off the shelf", "fine-tuned", "difference"):
                table.add_column(column, justify="right")
            for (split, what), theirs in before.items():
                ours = after[split, what]
                mean, low, high = difference(ours, theirs)
                table.add_row(
                    split, what, str(len(ours)), f"{theirs.mean():.3f}", f"{ours.mean():.3f}",
                    f"{mean:+.3f} ({low:+.3f} to {high:+.3f})",
                )  # fmt: skip
            console.print(table)
            for epoch in epochs:
                console.print(epoch, highlight=False)


if __name__ == "__main__":
    main()
