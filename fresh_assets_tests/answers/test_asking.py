"""Asking a real server on loopback by every method: states, steps, limits, costs."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from fresh_assets.answers.answering import Week, answer_week, estimate_systems
from fresh_assets.answers.asking import ANSWER_SCHEMA
from fresh_assets.answers.refusal import refusal
from fresh_assets.answers.systems import read_systems
from fresh_assets.errors import UserError
from fresh_assets.search.corpus import Document, write_corpus
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets_tests.openai_server import Reply, Script, openai_server

DAY = date(2026, 2, 9)
QUESTIONS = ["Who is the mayor of Velmora?", "How high is Mount Kest?", "Who wrote The Tower?"]


def week() -> Week:
    questions = pl.DataFrame(
        {
            "question_key": ["k0", "k1", "k2"],
            "question": QUESTIONS,
            "split": ["TEST", "DEV", "TEST"],
        }
    )
    evidence = pl.DataFrame(
        [
            {
                "week": DAY, "engine": "corpus", "question_key": "k0", "rank": 0, "kind": "organic",
                "source": "s", "date": DAY, "date_precision": "day", "date_text": "x", "title": "t",
                "snippet": "Ana Bol is the mayor.", "highlight": None, "url": "u",
            }
        ],
        schema_overrides={"highlight": pl.String, "rank": pl.Int32},
    )  # fmt: skip
    return Week(DAY, DAY, questions, evidence, pl.DataFrame())


def answer(
    home: Path, script: Script, options: str, **settings: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Answers by question key and the requests the server got."""
    documents = [
        Document("c1", "c.example", date(2026, 1, 1), "Kest", "Mount Kest is 4,112 metres high.")
    ]
    write_corpus(documents, home / "corpus.jsonl")
    with openai_server(script) as server:
        text = f'[endpoints.e]\nurl = "{server.url}"\n[systems.s]\nendpoint = "e"\nmodel = "m"\n{options}\n'
        systems = read_systems(text)
        frame = answer_week(
            systems.find("s"),
            systems,
            week(),
            Settings(home=home, **settings),
            Archive(home / "a.sqlite"),
        )
    assert frame.schema == pl.Schema(ANSWER_SCHEMA)
    return frame.rows_by_key("question_key", named=True, unique=True), server.requests


def last(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def test_states_of_answers(tmp_path: Path) -> None:
    def script(body: dict[str, Any], _: int) -> Reply:
        if "Velmora" in last(body):
            return Reply("Ana Bol", extra={"citations": ["https://v.example"]})
        if "Kest" in last(body):
            return Reply("I do not know the height.")
        return Reply("The author is the", finish_reason="length")

    rows, requests = answer(tmp_path, script, 'method = "closed_book"\nmax_tokens = 20')
    states = {key: (row["state"], row["answer"], row["reason"]) for key, row in rows.items()}
    assert states == {
        "k0": ("answered", "Ana Bol", None),
        "k1": ("refused", "I do not know the height.", "does not know"),
        "k2": ("truncated", "The author is the", "finish reason length"),
    }
    assert rows["k0"]["citations"] == ["https://v.example"]
    assert rows["k0"]["model"] == "m-2026"
    assert rows["k0"]["cost"] is None
    assert sorted({r["max_tokens"] for r in requests}) == [20, 80]


def test_errors_are_states_with_their_kind(tmp_path: Path) -> None:
    def script(body: dict[str, Any], _: int) -> Reply:
        return Reply(None) if "Velmora" in last(body) else Reply(status=400)

    rows, _ = answer(tmp_path, script, 'method = "closed_book"')
    assert (rows["k0"]["state"], rows["k1"]["state"]) == ("empty", "error")
    assert rows["k1"]["reason"].startswith("HTTP 400")


def test_a_second_run_asks_nothing(tmp_path: Path) -> None:
    first, requests = answer(tmp_path, lambda *_: Reply("Ana"), 'method = "few_shot"')
    assert len(requests) == 3
    with openai_server(lambda *_: Reply(status=500)) as other:
        assert other.requests == []
    assert not any(row["from_cache"] for row in first.values())


def test_only_so_many_questions_are_asked_test_first(tmp_path: Path) -> None:
    rows, requests = answer(
        tmp_path, lambda *_: Reply("Ana"), 'method = "closed_book"\nat_most = 2'
    )
    assert len(requests) == 2
    assert (rows["k1"]["state"], rows["k1"]["reason"]) == (
        "deferred",
        "at most 2 questions are asked",
    )


def test_reasoning_models_take_other_parameters(tmp_path: Path) -> None:
    _, requests = answer(
        tmp_path, lambda *_: Reply("Ana"), 'method = "closed_book"\nreasoning = true'
    )
    assert "max_completion_tokens" in requests[0]
    assert not {"max_tokens", "temperature"} & set(requests[0])


def test_freshprompt_uses_the_evidence_of_the_week(tmp_path: Path) -> None:
    rows, requests = answer(
        tmp_path, lambda *_: Reply("Ana"), 'method = "freshprompt"\ndemonstrations = 0'
    )
    assert rows["k0"]["evidence_ranks"] == [0]
    assert rows["k0"]["engine"] == "corpus"
    assert any("Ana Bol is the mayor." in last(r) for r in requests)
    assert all("Today is February 9, 2026." in r["messages"][0]["content"] for r in requests)


def test_self_ask_follows_up_through_new_archived_searches(tmp_path: Path) -> None:
    def script(body: dict[str, Any], _: int) -> Reply:
        asked = last(body).rsplit("question: ", 1)[1]
        if "Kest" not in asked:
            return Reply("So the final answer is: Ana.")
        if "Intermediate answer" not in asked:
            return Reply("Follow up: How many metres high is Mount Kest?")
        return Reply("So the final answer is: 4,112 metres")

    rows, requests = answer(tmp_path, script, 'method = "self_ask"')
    assert rows["k1"]["answer"] == "4,112 metres"
    assert rows["k1"]["follow_ups"] == ["How many metres high is Mount Kest?"]
    assert rows["k1"]["output_tokens"] == 10
    assert any("Intermediate answer: Mount Kest is 4,112 metres high." in last(r) for r in requests)


def test_self_ask_ends_after_its_follow_ups(tmp_path: Path) -> None:
    rows, requests = answer(
        tmp_path,
        lambda _, n: Reply(f"Follow up: what about {n}?"),
        'method = "self_ask"\nfollow_ups = 2\nat_most = 1',
    )
    assert len(requests) == 3
    assert len(rows["k0"]["follow_ups"]) == 2


def test_decomposed_merges_the_evidence_of_its_queries(tmp_path: Path) -> None:
    def script(body: dict[str, Any], _: int) -> Reply:
        planning = "search queries" in body["messages"][0]["content"]
        return Reply("1. height of Mount Kest\n2. Kest") if planning else Reply("4,112")

    rows, requests = answer(tmp_path, script, 'method = "decomposed"\ndemonstrations = 0')
    assert rows["k1"]["follow_ups"] == ["height of Mount Kest", "Kest"]
    prompt = next(last(r) for r in requests if "query: How high is Mount Kest?" in last(r))
    assert prompt.count("Mount Kest is 4,112 metres high.") == 1


def test_a_budget_needs_a_price_and_stops_at_its_limit(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="the price of m is unknown"):
        answer(tmp_path, lambda *_: Reply("Ana"), 'method = "closed_book"', budget=1.0)
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[m]\ninput = 1000\ncached_input = 0\noutput = 1000\ndate = 2026-01-01\nsource = "t"\n'
    )
    rows, requests = answer(
        tmp_path,
        lambda *_: Reply("Ana"),
        'method = "closed_book"\nmax_tokens = 100',
        budget=0.2,
        prices_file=prices,
    )
    assert len(requests) == 1
    assert sorted(row["state"] for row in rows.values()) == ["answered", "deferred", "deferred"]


def test_a_missing_key_is_named_before_anything_is_asked(tmp_path: Path) -> None:
    systems = read_systems(
        '[endpoints.e]\nurl = "http://127.0.0.1:9"\napi_key_env = "NO_SUCH_KEY"\n'
        '[systems.s]\nmethod = "closed_book"\nendpoint = "e"\nmodel = "m"\n'
    )
    with pytest.raises(UserError, match="NO_SUCH_KEY is not set"):
        answer_week(
            systems.find("s"), systems, week(), Settings(home=tmp_path), Archive(tmp_path / "a")
        )


def test_estimates_ask_nothing(tmp_path: Path) -> None:
    systems = read_systems(
        '[systems.a]\nmethod = "closed_book"\nendpoint = "local"\nmodel = "m"\nmax_tokens = 100\n'
        '[systems.b]\nmethod = "self_ask"\nendpoint = "local"\nmodel = "SmolLM2-135M-Instruct"\n'
        '[systems.c]\nmethod = "search_answer"\n'
    )
    rows = estimate_systems(systems, week(), Settings(home=tmp_path))
    assert [(r[0], r[2], r[4], r[5]) for r in rows] == [
        ("a", "3", "300", "unknown"),
        ("b", "12", "3,072", "0.00"),
    ]


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("I cannot provide that information.", "does not know"),
        ("As an AI language model, I have no opinion.", "speaks of itself as an AI"),
        ("There is not enough evidence to say.", "not enough evidence"),
        ("I'm not sure who that is.", "is not sure"),
        ("Ana Bol is the mayor.", None),
        ("x" * 300 + " I do not know", None),
    ],
)
def test_refusals_name_their_rule(text: str, rule: str | None) -> None:
    assert refusal(text) == rule


def test_answering_inside_a_running_loop_is_a_clear_error(tmp_path: Path) -> None:
    async def inside() -> None:
        answer(tmp_path, lambda *_: Reply("Ana"), 'method = "closed_book"')

    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(inside())
