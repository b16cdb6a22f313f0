"""Requests, training pairs, the fine-tuned encoder and the recall of retrievers, as assets."""

import json
from dataclasses import asdict, replace
from typing import Literal

import dagster as dg
import polars as pl

from fresh_assets.catalog.assets import WHAT
from fresh_assets.catalog.encoder import Encoder, VectorCache
from fresh_assets.catalog.packaged import MINILM
from fresh_assets.partitions import catalogs
from fresh_assets.retriever.cards import curves_png, model_card, publish_encoder
from fresh_assets.retriever.measuring import past_of, recall_rows
from fresh_assets.retriever.pairs import read_pairs
from fresh_assets.retriever.recall import AT
from fresh_assets.retriever.requests import STEPS, TABLES
from fresh_assets.retriever.training import RECIPES, Recipe, best_epoch, train
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key

EVERY = dg.AllPartitionMapping()

requests = dg.AssetSpec(
    ["workflow", "requests"],
    description="Requests with gold workflows. Filled by `fresh-assets import-requests`.",
    partitions_def=catalogs,
)


@dg.asset(
    key_prefix="retriever",
    deps=[requests, *(dg.AssetDep(["catalog", name]) for name in WHAT)],
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def pairs(warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[pl.DataFrame]:
    """Pairs of a training request and an entry: what the encoder and the fusion learn from."""
    with warehouse.reader() as con:
        frame = read_pairs(con)
    counts = frame.filter(pl.col("place") > 0).group_by("what").len().sort("what")
    without = int((frame["place"] == 0).sum())
    return dg.Output(frame, metadata={"without an entry": without, **dict(counts.iter_rows())})


class Training(dg.Config):
    """How to train: a recipe by name, and what departs from it."""

    recipe: Literal["paper", "cpu"] = "cpu"
    negatives: Literal["", "random", "bm25", "ance", "all"] = ""
    minutes: float = 0
    base: str = MINILM

    def read(self) -> Recipe:
        """The recipe with what departs from it."""
        recipe = RECIPES[self.recipe]
        if self.negatives:
            recipe = replace(recipe, negatives=self.negatives)
        return replace(recipe, max_seconds=self.minutes * 60) if self.minutes else recipe


@dg.asset(key_prefix="retriever", deps=[pairs], code_version="1", kinds={"python", "pytorch"})
def encoder(
    context: dg.AssetExecutionContext,
    config: Training,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """Encoder fine-tuned on the pairs. Run by hand (`fresh-assets train-encoder`); goes on where it
    was stopped; FRESH_ASSETS_ENCODER chooses it for use."""
    recipe, base, cache = config.read(), Encoder(config.base), VectorCache(settings.vectors_file)
    with warehouse.reader() as con:
        past = {
            what: past_of(con, what, lambda texts: cache.encode(base, texts)[0])
            for what in (STEPS, TABLES)
        }
        (number, data_hash) = con.execute(
            "SELECT (SELECT count(*) FROM retriever.pairs WHERE place > 0), content_hash "
            "FROM meta.slices WHERE table_name = 'retriever.pairs'"
        ).fetchall()[0]
    tables_of = {request.id: request.tables for request in past[TABLES].requests}
    learnt = [replace(r, tables=tables_of[r.id]) for r in past[STEPS].requests]
    corpora = {what: p.corpus for what, p in past.items() if len(p.corpus.names)}
    folder = settings.training / f"{base.hash}-{data_hash[:12]}-{recipe.hash}"
    epochs = train(base, learnt, corpora, recipe, folder)
    best = best_epoch(epochs)
    frame = pl.DataFrame([asdict(epoch) for epoch in epochs]).rename({"number": "epoch"})
    card = model_card(base, recipe, epochs, number, data_hash)
    made = publish_encoder(folder / "best", settings.encoder_folder, card)
    return dg.Output(
        frame.with_columns(
            is_best=pl.col("epoch") == best.number, base=pl.lit(base.name),
            base_hash=pl.lit(base.hash), encoder_hash=pl.lit(made.hash),
            data_hash=pl.lit(data_hash), pairs=pl.lit(number),
            recipe=pl.lit(json.dumps(asdict(recipe))),
        ),
        metadata={
            "curves": dg.MetadataValue.md(f"![curves](data:image/png;base64,{curves_png(epochs)})"),
            "model card": dg.MetadataValue.md(card),
            "folder": dg.MetadataValue.path(str(settings.encoder_folder)),
        },
    )  # fmt: skip


@dg.asset(
    key_prefix="mart",
    deps=[
        dg.AssetDep(requests, partition_mapping=EVERY),
        *(dg.AssetDep(["catalog", name], partition_mapping=EVERY) for name in WHAT),
    ],
    partitions_def=catalogs,
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def retriever_recall(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """Recall of every retriever on the requests of a catalog that nothing was learnt from, beside
    popularity, over the number of suggestions."""
    used, cache = Encoder(settings.encoder), VectorCache(settings.vectors_file)
    with warehouse.reader() as con:
        key = partition_key(context)["catalog"]
        frame = recall_rows(con, key, lambda texts: cache.encode(used, texts)[0])
    shown = frame.filter(
        pl.col("k") == pl.col("what").replace_strict(AT, return_dtype=pl.Int32),
        ~pl.col("with_common"),
    )
    lines = ["| what | split | retriever | recall | full cover |", "|---|---|---|---|---|"]
    lines += [
        f"| {what} | {split} | {name} | {recall:.3f} | {full:.3f} |"
        for what, split, name, recall, full in shown.select(
            "what", "split", "retriever", "recall", "full_cover"
        ).iter_rows()
    ]
    return dg.Output(
        frame.with_columns(encoder=pl.lit(used.name)),
        metadata={"recall": dg.MetadataValue.md("\n".join(lines))},
    )


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [requests, pairs, encoder, retriever_recall]
