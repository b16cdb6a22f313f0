"""Fine-tuning of the encoder on past requests (arXiv 2404.08189): pairs, negatives, losses.

An epoch is a run of sentence-transformers' Trainer. After each one the encoder is measured on dev
and saved; a training that is started again in the same folder goes on after the last saved epoch.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fresh_assets.catalog.encoder import Encoder
from fresh_assets.retriever.build import Corpus
from fresh_assets.retriever.recall import AT, measure
from fresh_assets.retriever.requests import Request, fitted
from fresh_assets.retriever.retrievers import NONE, Bm25, Dense, Retriever

Negatives = Literal["random", "bm25", "ance", "all"]
KINDS: tuple[Negatives, ...] = ("random", "bm25", "ance")
LONGEST = 48
"""Tokens of a text while training: requests and entries are short."""
HARD_AMONG = 30
"""Best of a retriever among which hard negatives are drawn."""
STATE = "training.json"


@dataclass(frozen=True)
class Recipe:
    """How to train. `per_positive`: negatives of each kind for a positive; `max_seconds`: begin no
    further epoch after that; `patience`: epochs without a better dev recall before it stops;
    `most_pairs`: pairs of an epoch, others in each."""

    loss: Literal["contrastive", "ranking"] = "ranking"
    negatives: Negatives = "random"
    epochs: int = 8
    batch: int = 32
    learning_rate: float = 5e-5
    per_positive: int = 1
    max_seconds: float = 1200
    patience: int = 3
    most_pairs: int | None = 1600
    seed: int = 0

    @property
    def hash(self) -> str:
        """Hash of all that is in it."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]


RECIPES = {
    "paper": Recipe(
        "contrastive", "all", epochs=10, batch=128, learning_rate=2e-5, max_seconds=float("inf"),
        patience=10, most_pairs=None,
    ),
    "cpu": Recipe(),
}  # fmt: skip
"""paper: AdamW, 2e-5, batch 128, 10 epochs, all negatives (on a GPU); cpu: half an hour."""


@dataclass(frozen=True)
class Pair:
    """A request and the text of an entry that belongs to it; `place` is that of the entry."""

    query: str
    place: int
    what: str


@dataclass(frozen=True)
class Epoch:
    """What an epoch brought: mean loss, recall on dev (mean over steps and tables), seconds."""

    number: int
    loss: float
    dev_recall: float
    seconds: float


def best_epoch(epochs: Sequence[Epoch]) -> Epoch:
    """The first of those with the highest recall on dev."""
    return max(epochs, key=lambda epoch: epoch.dev_recall)


def positive_pairs(requests: Sequence[Request], corpora: Mapping[str, Corpus]) -> list[Pair]:
    """Every (request, entry) of the training split; a workflow of four steps gives four."""
    places = {w: {name: i for i, name in enumerate(c.names)} for w, c in corpora.items()}
    return [
        Pair(request.text, places[what][name], what)
        for request in fitted(requests)
        for what in corpora
        for name in request.names(what)
        if name in places[what]
    ]


def train(
    encoder: Encoder,
    requests: Sequence[Request],
    corpora: Mapping[str, Corpus],
    recipe: Recipe,
    folder: Path,
) -> list[Epoch]:
    """Train on from `encoder`, whose weights change; `folder`/best holds the best by dev recall.

    `corpora`: steps and tables that may be suggested. Goes on after the epochs that `folder` holds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = _read_state(folder, recipe)
    model = Encoder(str(folder / f"epoch-{done[-1].number}")) if done else encoder
    model.model.max_seq_length = LONGEST
    pairs = positive_pairs(requests, corpora)
    gold = {(r.text, what): set(r.names(what)) for r in fitted(requests) for what in corpora}
    started = time.monotonic()
    for number in range(len(done) + 1, recipe.epochs + 1):
        if time.monotonic() - started > recipe.max_seconds or _is_over(done, recipe):
            break
        began = time.monotonic()
        rows = _rows(_drawn(pairs, recipe, number), corpora, gold, model, recipe, number)
        loss = _run_epoch(model.model, rows, recipe, number, folder / "running")
        recall = dev_recall(model, requests, corpora)
        done.append(Epoch(number, loss, recall, time.monotonic() - began))
        _save(model, done, recipe, folder)
    return done


def _drawn(pairs: Sequence[Pair], recipe: Recipe, number: int) -> list[Pair]:
    """The pairs of an epoch: all, or as many as the recipe takes, others in every epoch."""
    order = np.random.default_rng([recipe.seed, number, 1]).permutation(len(pairs))
    return [pairs[i] for i in order[: recipe.most_pairs]]


def dev_recall(
    encoder: Encoder, requests: Sequence[Request], corpora: Mapping[str, Corpus], split: str = "dev"
) -> float:
    """Recall of the dense retriever on a split, mean over steps and tables; 0 without requests."""
    found = []
    for what, corpus in corpora.items():
        asked = [r for r in fitted(requests, split) if r.names(what)]
        if asked:
            dense = Dense(encoder.encode(corpus.texts), encoder.encode)
            hits = dense.search([r.text for r in asked], AT[what])
            found.append(measure(hits, corpus.names, asked, what).recall(AT[what]).mean())
    return float(np.mean(found)) if found else 0.0


def negatives_of(
    pairs: Sequence[Pair],
    corpora: Mapping[str, Corpus],
    gold: Mapping[tuple[str, str], set[str]],
    encoder: Encoder,
    recipe: Recipe,
    number: int,
) -> Iterator[list[int]]:
    """For each pair the places of entries that do not belong to its request.

    random: any; bm25: those with words in common; ance: those the encoder as it is now takes for
    the nearest, so they are mined anew every epoch; all: each of the three.
    """
    random = np.random.default_rng([recipe.seed, number])
    kinds = KINDS if recipe.negatives == "all" else (recipe.negatives,)
    hard = {
        (kind, what): _hard(kind, corpus, [p.query for p in pairs if p.what == what], encoder)
        for kind in kinds
        for what, corpus in corpora.items()
        if kind != "random"
    }
    for pair in pairs:
        names = corpora[pair.what].names
        drawn: list[int] = []
        for kind in kinds:
            near = range(len(names)) if kind == "random" else hard[kind, pair.what][pair.query]
            wrong = gold[pair.query, pair.what]
            order = random.permutation(len(near))[: 8 * recipe.per_positive]
            found = [near[i] for i in order if names[near[i]] not in wrong]
            drawn += found[: recipe.per_positive]
        yield drawn


def _hard(
    kind: str, corpus: Corpus, queries: Sequence[str], encoder: Encoder
) -> dict[str, list[int]]:
    asked = list(dict.fromkeys(queries))
    miner: Retriever = (
        Bm25(corpus.texts)
        if kind == "bm25"
        else Dense(encoder.encode(corpus.texts), encoder.encode)
    )
    places = miner.search(asked, min(HARD_AMONG, len(corpus.names))).places
    return {q: [int(p) for p in row if p != NONE] for q, row in zip(asked, places, strict=True)}


def _rows(
    pairs: Sequence[Pair],
    corpora: Mapping[str, Corpus],
    gold: Mapping[tuple[str, str], set[str]],
    encoder: Encoder,
    recipe: Recipe,
    number: int,
) -> dict[str, list[Any]]:
    """Columns for the loss: (request, entry, label), or (request, entry, hard negative)."""
    made: dict[str, list[Any]] = {"request": [], "entry": []}
    last = "label" if recipe.loss == "contrastive" else "negative"
    made[last] = []
    negatives = negatives_of(pairs, corpora, gold, encoder, recipe, number)
    for pair, wrong in zip(pairs, negatives, strict=True):
        texts = corpora[pair.what].texts
        if recipe.loss == "contrastive":
            places, labels = [pair.place, *wrong], [1.0, *[0.0] * len(wrong)]
            made["request"] += [pair.query] * len(places)
            made["entry"] += [texts[place] for place in places]
            made["label"] += labels
        else:
            for place in wrong:
                made["request"].append(pair.query)
                made["entry"].append(texts[pair.place])
                made["negative"].append(texts[place])
    return made


def _run_epoch(
    model: Any, rows: dict[str, list[Any]], recipe: Recipe, number: int, folder: Path
) -> float:
    from datasets import Dataset  # noqa: PLC0415  (heavy)
    from sentence_transformers import (  # noqa: PLC0415
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer import losses  # noqa: PLC0415

    is_ranking = recipe.loss == "ranking"
    kind = losses.MultipleNegativesRankingLoss if is_ranking else losses.ContrastiveLoss
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder), num_train_epochs=1, per_device_train_batch_size=recipe.batch,
        learning_rate=recipe.learning_rate, lr_scheduler_type="constant_with_warmup",
        warmup_steps=10 if number == 1 else 0, seed=recipe.seed + number, report_to=[],
        save_strategy="no", logging_steps=20, disable_tqdm=True,
        batch_sampler="no_duplicates" if is_ranking else "batch_sampler",
    )  # fmt: skip
    trainer = SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=Dataset.from_dict(rows), loss=kind(model)
    )
    found = float(trainer.train().training_loss)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def _is_over(done: Sequence[Epoch], recipe: Recipe) -> bool:
    best = max((epoch.dev_recall for epoch in done), default=0.0)
    since = [epoch.dev_recall < best for epoch in done[-recipe.patience :]]
    return len(done) > recipe.patience and all(since)


def _save(model: Encoder, done: Sequence[Epoch], recipe: Recipe, folder: Path) -> None:
    place = folder / f"epoch-{done[-1].number}"
    building = folder / f".{place.name}"
    shutil.rmtree(building, ignore_errors=True)
    model.model.save(str(building))
    shutil.rmtree(place, ignore_errors=True)
    building.rename(place)
    best = best_epoch(done)
    if best is done[-1]:
        fresh = folder / ".best"
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.copytree(place, fresh)
        shutil.rmtree(folder / "best", ignore_errors=True)
        fresh.rename(folder / "best")
    state = {"recipe": asdict(recipe), "epochs": [asdict(epoch) for epoch in done]}
    temporary = folder / f".{STATE}"
    temporary.write_text(json.dumps(state, indent=1), encoding="utf-8")
    temporary.replace(folder / STATE)
    for older in folder.glob("epoch-*"):
        if older != place:
            shutil.rmtree(older)


def _read_state(folder: Path, recipe: Recipe) -> list[Epoch]:
    file = folder / STATE
    if not file.exists():
        return []
    state = json.loads(file.read_text(encoding="utf-8"))
    if state["recipe"] != json.loads(json.dumps(asdict(recipe))):
        return []
    return [Epoch(**epoch) for epoch in state["epochs"]]
