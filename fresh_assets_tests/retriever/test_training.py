"""Fine-tuning on CPU with the real encoder: every kind of negatives, resume, what is learnt."""

import json
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from fresh_assets.catalog.encoder import Encoder
from fresh_assets.retriever.build import Corpus
from fresh_assets.retriever.requests import STEPS, TABLES, Request
from fresh_assets.retriever.training import (
    RECIPES,
    Negatives,
    Pair,
    Recipe,
    dev_recall,
    negatives_of,
    positive_pairs,
    train,
)

SECRET = {
    "red": "open the ledger", "blue": "close the ledger", "green": "print the report",
    "white": "archive the report", "black": "call the customer", "grey": "pay the supplier",
}  # fmt: skip
"""Colours that mean a step, which no encoder can know off the shelf."""
NAMES = [text.replace(" ", "_") for text in SECRET.values()]
TEXTS = list(SECRET.values())
TINY = Recipe(epochs=1, batch=6, learning_rate=3e-4)


def requests(split: str, forms: tuple[str, ...]) -> list[Request]:
    return [
        Request(f"{split}-{colour}-{i}", split, form.format(colour), (text.replace(" ", "_"),))
        for i, form in enumerate(forms)
        for colour, text in SECRET.items()
    ]


ASKED = [
    *requests("train", ("do the {} thing", "{} please", "we need {}", "start {} now", "it is {} time")),
    *requests("dev", ("now {}", "time for {}")),
    Request("no-steps", "train", "just say hello", ()),
]  # fmt: skip


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


def corpora(encoder: Encoder) -> dict[str, Corpus]:
    return {STEPS: Corpus(NAMES, TEXTS, encoder.encode(TEXTS), NAMES)}


def test_pairs_are_all_positives_of_train() -> None:
    found = positive_pairs(ASKED, {STEPS: Corpus(NAMES, TEXTS, np.zeros((6, 1)), NAMES)})
    assert len(found) == 30
    assert Pair("do the red thing", 0, STEPS) in found
    assert not any(pair.query == "just say hello" for pair in found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", get_args(Negatives))
def test_negatives_do_not_belong_to_the_request(encoder: Encoder, kind: Negatives) -> None:
    made = corpora(encoder)
    pairs = positive_pairs(ASKED, made)
    gold = {(r.text, STEPS): set(r.steps) for r in ASKED}
    recipe = replace(TINY, negatives=kind)
    first, second = (
        list(negatives_of(pairs, made, gold, encoder, recipe, number)) for number in (1, 2)
    )
    again = list(negatives_of(pairs, made, gold, encoder, recipe, 1))
    assert first == again, "seeded"
    for pair, drawn in zip(pairs, first, strict=True):
        assert pair.place not in drawn
    if kind != "bm25":
        assert first != second, "drawn anew every epoch"
        assert all(len(drawn) == (3 if kind == "all" else 1) for drawn in first) or kind == "all"


@pytest.mark.slow
def test_it_learns_what_was_not_known_and_goes_on_where_it_stopped(
    tmp_path: Path, encoder: Encoder
) -> None:
    made = corpora(encoder)
    recipe = replace(TINY, epochs=6, patience=6)
    first_rank = {r.text: r.steps[0] for r in ASKED if r.split == "dev"}
    before = right(encoder, first_rank)
    one = train(Encoder(), ASKED, made, replace(recipe, max_seconds=-1), tmp_path / "none")
    assert one == [], "no time, no epoch"
    done = train(Encoder(), ASKED, made, recipe, tmp_path / "full")
    assert [epoch.number for epoch in done] == [1, 2, 3, 4, 5, 6]
    assert done[-1].loss < done[0].loss
    tuned = Encoder(str(tmp_path / "full" / "epoch-6"))
    assert right(tuned, first_rank) > before + 3
    assert tuned.hash != encoder.hash
    state = tmp_path / "full" / "training.json"
    kept = json.loads(state.read_text())
    state.write_text(json.dumps({**kept, "epochs": kept["epochs"][:-1]}))
    (tmp_path / "full" / "epoch-6").rename(tmp_path / "full" / "epoch-5")
    again = train(Encoder(), ASKED, made, recipe, tmp_path / "full")
    assert again[:5] == done[:5]
    assert len(again) == 6, "one epoch was left"
    assert train(Encoder(), ASKED, made, recipe, tmp_path / "full") == again, "nothing is left"
    assert dev_recall(tuned, ASKED, made) == 1, "all six steps are within 15"
    assert dev_recall(tuned, ASKED, {TABLES: made[STEPS]}) == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", get_args(Negatives))
def test_the_loss_of_the_paper_trains_with_every_kind(tmp_path: Path, kind: Negatives) -> None:
    recipe = replace(RECIPES["paper"], negatives=kind, epochs=1, batch=32, most_pairs=12)
    (epoch,) = train(Encoder(), ASKED, corpora(Encoder()), recipe, tmp_path)
    assert 0 < epoch.loss < 1
    assert (tmp_path / "best").is_dir()


def right(encoder: Encoder, wanted: dict[str, str]) -> int:
    """How many requests have their step in the first place."""
    places = (encoder.encode(list(wanted)) @ encoder.encode(TEXTS).T).argmax(axis=1)
    return sum(NAMES[place] == name for place, name in zip(places, wanted.values(), strict=True))
