"""FreshEval: prompts, the parser, hostile responses, several judges, ratings that are kept."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fresh_assets.answers.systems import read_systems
from fresh_assets.judging import fresheval
from fresh_assets.judging.fresheval import MODES, Verdict, examples, messages, parse
from fresh_assets.judging.lexical import Truth
from fresh_assets.judging.rating import judge_hash, rate_answers, rate_with_model, with_history
from fresh_assets.settings import Settings
from fresh_assets.warehouse.schema import declared
from fresh_assets_tests.judging.hostile import HOSTILE
from fresh_assets_tests.openai_server import Reply, Script, openai_server

DAY = date(2026, 2, 9)
TRUTH = Truth("Who is the mayor?", ["Ana Bol"], False)
KEY = b"k" * 32


@pytest.mark.parametrize(
    ("text", "rating"),
    [
        ("comment: right\nevaluation: correct", "correct"),
        ("comment: wrong\nevaluation: incorrect", "incorrect"),
        ("evaluation: correct.", "correct"),
        ("Evaluation: Correct", "correct"),
        ("**evaluation:** **Incorrect**", "incorrect"),
        ("- evaluation : correct  ", "correct"),
        ("evaluation: not correct", "incorrect"),
        ("evaluation: NOT-CORRECT!", "incorrect"),
        (
            "comment: the words evaluation: correct stand in a comment\nevaluation: incorrect",
            "incorrect",
        ),
        ("evaluation: correct\nOn second thought:\nevaluation: incorrect", "incorrect"),
        ('{"comment": "c", "evaluation": "incorrect"}', "incorrect"),
        ('```json\n{"comment": "c", "evaluation": "Correct"}\n```', "correct"),
        ("", None),
        ("evaluation: maybe", None),
        ("evaluation: correct (confident)", None),
        ("The response is correct.", None),
        ('{"evaluation": ', None),
        ('{"evaluation": "great"}', None),
        ("comment: n/a\nevaluation", None),
    ],
)
def test_only_the_offered_verdicts_are_read(text: str, rating: str | None) -> None:
    found = parse(text)
    assert (found and found.rating) == rating


@given(st.text())
def test_any_text_is_parsed_or_not(text: str) -> None:
    found = parse(text)
    assert found is None or found.rating in {"correct", "incorrect"}
    assert parse(f"{text}\ncomment: c\nevaluation: incorrect") in {
        Verdict("incorrect", "c"),
        Verdict("incorrect", ""),
    } or text.strip().startswith(("{", "```"))


def test_fifteen_examples_with_a_comment_for_each_mode() -> None:
    assert len(examples()) == 15
    counts = {mode: sum(e.verdicts[mode][1] == "correct" for e in examples()) for mode in MODES}
    assert counts["strict"] < counts["relaxed"]
    for example in examples():
        assert {verdict for _, verdict in example.verdicts.values()} <= {"correct", "incorrect"}
        assert (
            example.verdicts["strict"][1] == "incorrect"
            or example.verdicts["relaxed"][1] == "correct"
        )


@pytest.mark.parametrize("mode", MODES)
def test_prompt_is_dated_and_ends_with_the_comment(mode: str) -> None:
    system, user = (content for _, content in messages("It is Ana Bol.", TRUTH, mode, DAY, KEY))
    assert fresheval.RULES[mode] in system
    assert "Today is February 9, 2026." in system
    assert "As of February 9, 2026, no human has set foot on Mars" in user
    assert user.endswith("end of response\ncomment:")
    assert user.count("correct answer(s): ") == 16


@pytest.mark.parametrize("response", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_response_stays_between_marks_it_cannot_guess(response: str) -> None:
    _, (_, user) = messages(response, TRUTH, "strict", DAY, KEY)
    item = user[user.rindex("correct answer(s): Ana Bol\n") if response in user else 0 :]
    mark = re.search(r"^response \[([0-9a-f]{16})\]$", item, re.MULTILINE)
    assert mark
    assert mark[1] not in response
    assert user.endswith(f"\n[{mark[1]}] end of response\ncomment:")
    other = messages(response, TRUTH, "strict", DAY, b"x" * 32)[1][1]
    assert mark[1] not in other
    assert messages(response, TRUTH, "strict", DAY, KEY)[1][1] == user


@pytest.mark.parametrize("response", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("verdict", ["correct", "incorrect"])
def test_a_judge_that_quotes_a_hostile_response_is_still_read_by_its_own_verdict(
    response: str, verdict: str
) -> None:
    quoted = " ".join(response.split())[:300]
    found = parse(
        f"comment: The response says {quoted!r}, which settles it.\nevaluation: {verdict}"
    )
    assert found
    assert found.rating == verdict


def answers(*texts: str | None) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "question_key": f"k{i}", "question": "Who is the mayor?", "answers": ["Ana Bol"],
                "false_premise": False, "state": "answered" if text else "error", "answer": text,
                "reason": None if text else "lost",
            }
            for i, text in enumerate(texts)
        ],
        schema_overrides={"answer": pl.String, "reason": pl.String},
    )  # fmt: skip


def rated(
    home: Path, script: Script, frame: pl.DataFrame, options: str = ""
) -> tuple[pl.DataFrame, list[dict[str, Any]]]:
    with openai_server(script) as server:
        systems = read_systems(
            f'[endpoints.e]\nurl = "{server.url}"\n[judges.j]\nendpoint = "e"\nmodel = "m"\n{options}\n'
        )
        rows = rate_with_model(frame, systems.judges["j"], systems, Settings(home=home), DAY)
    return rows, server.requests


def honest(body: dict[str, Any], _: int) -> Reply:
    item = body["messages"][1]["content"].rsplit("response [", 1)[1]
    verdict = "correct" if "Ana Bol" in item else "incorrect"
    return Reply(f"comment: looked at it\nevaluation: {verdict}")


def test_a_model_rates_every_answer_in_both_modes(tmp_path: Path) -> None:
    rows, requests = rated(tmp_path, honest, answers("Ana Bol", "Tom Ree", None))
    assert rows.select("question_key", "mode", "rating").rows() == [
        ("k0", "relaxed", "correct"),
        ("k0", "strict", "correct"),
        ("k1", "relaxed", "incorrect"),
        ("k1", "strict", "incorrect"),
        ("k2", "relaxed", "unrated"),
        ("k2", "strict", "unrated"),
    ]
    assert len(requests) == 4
    assert rows["model"].to_list()[:2] == ["m-2026"] * 2
    assert rows["comment"].to_list()[0] == "looked at it"
    again, requests = rated(
        tmp_path, honest, answers("Ana Bol", "Tom Ree", None), "modes = ['strict']"
    )
    assert again["mode"].unique().to_list() == ["strict"]


def test_a_judge_without_a_verdict_leaves_the_answer_unrated(tmp_path: Path) -> None:
    rows, requests = rated(
        tmp_path, lambda *_: Reply("well"), answers("Ana Bol"), "reasks = 1\nmodes = ['strict']"
    )
    assert rows["rating"].to_list() == ["unrated"]
    assert rows["raw_text"].to_list() == ["well"]
    assert len(requests) == 2


def test_a_broken_endpoint_never_makes_an_answer_wrong(tmp_path: Path) -> None:
    rows, _ = rated(tmp_path, lambda *_: Reply(status=401), answers("Ana Bol"))
    assert rows["rating"].to_list() == ["unrated", "unrated"]
    assert "HTTP 401" in rows["comment"][0]


def test_structured_output_asks_for_the_schema(tmp_path: Path) -> None:
    def script(*_: object) -> Reply:
        return Reply('{"comment": "c", "evaluation": "correct"}')

    rows, requests = rated(
        tmp_path, script, answers("Ana Bol"), "structured = true\nmodes = ['relaxed']"
    )
    assert rows["rating"].to_list() == ["correct"]
    assert requests[0]["response_format"]["type"] == "json_schema"


def test_a_judge_is_told_apart_by_model_prompt_mode_and_options() -> None:
    text = '[judges.j]\nendpoint = "local"\nmodel = "{m}"\nmax_tokens = {t}\n'
    hashes = {
        judge_hash(read_systems(text.format(m=m, t=t)).judges["j"], mode)
        for m in ("a", "b")
        for t in (100, 200)
        for mode in MODES
    }
    assert len(hashes) == 8


def test_rating_again_keeps_the_old_rows() -> None:
    first = rate_answers(answers("Ana Bol"))
    second = rate_answers(answers("Tom Ree"))
    kept = with_history(second, first)
    assert kept.group_by("is_current").len().sort("is_current").rows() == [(False, 2), (True, 2)]
    assert len(with_history(second, kept)) == 4
    back = with_history(rate_answers(answers("Ana Bol")), kept)
    assert back.filter("is_current")["rating"].to_list() == ["correct", "correct"]
    assert len(back) == 4


def test_majority_of_several_judges_and_their_disputes() -> None:
    with duckdb.connect() as con:
        for statement in (*declared().statements, *declared().views):
            con.execute(statement)
        votes = [("a", "correct"), ("b", "correct"), ("c", "incorrect"), ("lexical", "incorrect")]
        for judge, rating in votes:
            con.execute(
                "INSERT INTO eval.judgements (week, system, question_key, judge, mode, rating, comment, "
                "is_current, answer_hash, truth_hash, judge_hash) "
                "VALUES ('2026-02-09', 's', 'k', ?, 'strict', ?, '', true, 'a', 't', 'j')",
                [judge, rating],
            )
        row = con.execute("SELECT judges, rating, is_disputed FROM eval.majority").fetchall()
    assert row == [(3, "correct", True)]
