"""Retrievers: what each one goes by, and the recall they are measured with."""

from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fresh_assets.catalog.encoder import Vectors
from fresh_assets.errors import BadInputError
from fresh_assets.retriever.build import DEFAULT, Corpus, all_retrievers, corpus_of, learn_fusion
from fresh_assets.retriever.clauses import clauses
from fresh_assets.retriever.recall import difference, interval, measure
from fresh_assets.retriever.requests import STEPS, Request, read_requests
from fresh_assets.retriever.retrievers import (
    NONE,
    Bm25,
    Dense,
    DensePerStep,
    Hits,
    NamedApp,
    Neighbours,
    Popularity,
)

WORDS = "mail chat file table row user send post copy delete list find".split()


def encode(texts: Sequence[str]) -> Vectors:
    """Counts of known words, of norm 1: a transparent stand-in for an encoder."""
    counts = [[text.lower().split().count(word) for word in WORDS] + [0.1] for text in texts]
    vectors = np.array(counts, dtype=np.float32).reshape(-1, len(WORDS) + 1)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


NAMES = ["mail.send", "chat.post", "file.copy", "file.delete", "table.list"]
TEXTS = ["send mail", "post chat", "copy file", "delete file", "list table"]
PAST = [
    Request("1", "train", "send mail to user", ("mail.send",)),
    Request("2", "train", "post chat and send mail", ("chat.post", "mail.send")),
    Request("3", "train", "copy file", ("file.copy", "gone.step")),
]


def names(hits: Hits, row: int = 0) -> list[str]:
    return [NAMES[place] for place in hits.places[row] if place != NONE]


def test_popularity_goes_by_the_past_alone() -> None:
    found = Popularity(NAMES, PAST, STEPS).search(["delete file", "anything"], 5)
    assert names(found) == names(found, 1) == ["mail.send", "chat.post", "file.copy"]


def test_bm25_goes_by_words_and_finds_nothing_without_one() -> None:
    found = Bm25(TEXTS).search(["please delete the file", "zzz"], 5)
    assert names(found)[0] == "file.delete"
    assert set(names(found)) == {"file.delete", "file.copy"}
    assert names(found, 1) == []


def test_dense_goes_by_the_cosine() -> None:
    found = Dense(encode(TEXTS), encode).search(["delete file", "list table row"], 2)
    assert names(found) == ["file.delete", "file.copy"]
    assert found.scores[0, 0] == pytest.approx(1, abs=1e-3)
    assert names(found, 1)[0] == "table.list"


def test_per_step_sees_what_the_whole_request_hides() -> None:
    query = "send send send mail mail mail, then list table"
    whole = Dense(encode(TEXTS), encode).search([query], 1)
    parts = DensePerStep(encode(TEXTS), encode).search([query, "post chat"], 2)
    assert names(whole) == ["mail.send"]
    assert set(names(parts)) == {"mail.send", "table.list"}
    assert names(parts, 1)[0] == "chat.post", "a request without clauses is asked as a whole"


def test_neighbours_take_the_names_of_like_requests_but_not_of_the_same() -> None:
    found = Neighbours(NAMES, PAST, STEPS, encode).search(["post chat", "copy file"], 5)
    assert names(found)[:2] == ["chat.post", "mail.send"] or names(found)[0] == "mail.send"
    assert "file.copy" not in names(found, 1), "the very same past request does not count"
    assert names(Neighbours(NAMES, [], STEPS, encode).search(["x"], 3)) == []


def test_a_named_app_brings_its_entries() -> None:
    found = NamedApp(["Mail", "Chat", "Google Files", "Google Files", ""]).search(
        ["put it into googleFiles", "files only"], 5
    )
    assert set(names(found)) == {"file.copy", "file.delete"}
    assert names(found, 1) == []


def test_a_request_is_split_at_its_verbs_and_marks() -> None:
    assert clauses("When a mail comes, copy the file and then post it to chat") == [
        "a mail comes", "copy the file", "post it", "chat",
    ]  # fmt: skip
    assert clauses("copy the file") == []


@given(st.text(max_size=300))
def test_clauses_are_parts_of_the_text(text: str) -> None:
    assert all(part in text for part in clauses(text))


def many(split: str, number: int, seed: int) -> list[Request]:
    """Requests that name their two steps, one of them by words only."""
    random = np.random.default_rng(seed)
    made = []
    for i in range(number):
        one, two = random.choice(5, 2, replace=False)
        made.append(
            Request(
                f"{split}{i}",
                split,
                f"{TEXTS[one]} user {TEXTS[two]} row",
                (NAMES[one], NAMES[two]),
            )
        )
    return made


def corpus() -> Corpus:
    return Corpus(NAMES, TEXTS, encode(TEXTS), [name.split(".")[0] for name in NAMES])


def test_the_fusion_is_no_worse_than_its_parts_and_needs_a_past() -> None:
    requests = [*many("train", 80, 0), *many("dev", 20, 1)]
    asked = many("test", 40, 2)
    fusion = learn_fusion(corpus(), requests, STEPS, encode)
    found = all_retrievers(corpus(), requests, STEPS, encode, fusion)
    recalls = {
        name: measure(one.search([r.text for r in asked], 2), NAMES, asked, STEPS).recall(2).mean()
        for name, one in found.items()
    }
    assert recalls[DEFAULT] >= max(recalls[name] for name in ("popularity", "bm25", "neighbours"))
    assert recalls[DEFAULT] > 0.95
    assert recalls["popularity"] < 0.6
    fusion = learn_fusion(corpus(), [], STEPS, encode)
    assert DEFAULT not in all_retrievers(corpus(), [], STEPS, encode, fusion)


def test_recall_of_a_case_by_hand() -> None:
    hits = Hits(np.array([[1, 0, NONE], [4, 3, 2]]), np.zeros((2, 3), np.float32))
    asked = [
        Request("a", "test", "", ("mail.send", "unknown.step")),
        Request("b", "test", "", ("file.copy",)),
    ]
    found = measure(hits, NAMES, asked, STEPS)
    assert found.recall(1).tolist() == [0, 0]
    assert found.recall(2).tolist() == [0.5, 0]
    assert found.recall(3).tolist() == [0.5, 1]
    assert found.recall(99).tolist() == [0.5, 1]
    assert found.full(3).tolist() == [0, 1]
    assert found.reciprocal.tolist() == [1 / 2, 1 / 3]


@given(
    st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True), min_size=1, max_size=6),
    st.integers(1, 5),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_recall_is_bounded_grows_with_k_and_is_one_for_all(gold: list[list[int]], k: int) -> None:
    asked = [Request(str(i), "test", "", tuple(NAMES[p] for p in of)) for i, of in enumerate(gold)]
    order = np.random.default_rng(k).permuted(np.tile(np.arange(5), (len(gold), 1)), axis=1)
    found = measure(Hits(order, np.zeros(order.shape, np.float32)), NAMES, asked, STEPS)
    assert ((found.recall(k) >= 0) & (found.recall(k) <= 1)).all()
    assert (found.recall(k) <= found.recall(5)).all()
    assert (found.recall(5) == 1).all()
    assert (found.full(k) <= found.recall(k)).all()
    low, high = interval(found.recall(k))
    assert low - 1e-9 <= found.recall(k).mean() <= high + 1e-9
    assert difference(found.recall(k), found.recall(k)) == (0, 0, 0)


def test_requests_are_read_and_mistakes_named() -> None:
    (one,) = read_requests(
        b'{"id": 1, "split": "train", "query": "q", "steps": [{"name": "a"}, {"name": "a"}, "b"]}\n',
        "r.jsonl",
    )
    assert one == Request("1", "train", "q", ("a", "b"), ())
    for content, told in (
        (b'{"id": 1}', "line 1: no request"),
        (b'{"id": 1, "split": "s", "query": "q"}\n' * 2, "line 2: '1' is there twice"),
        (b'{"id": 1, "split": "s", "query": "q", "steps": [{}]}', "line 1: no request"),
    ):
        with pytest.raises(BadInputError, match=told):
            read_requests(content, "r.jsonl")


def test_a_corpus_comes_from_the_entries() -> None:
    entries = pl.DataFrame(
        {"name": ["a.b", "c"], "title": ["Do it", ""], "description": ["", ""], "app": ["App", ""]}
    )
    made = corpus_of(entries, encode)
    assert made.names == ["a.b", "c"]
    assert made.texts == ["App. Do it (a b)", "c"]
    assert made.apps == ["App", "c"]
