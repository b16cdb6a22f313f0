"""The lexical judge: what it takes for correct, incorrect, and not decidable."""

from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import polars as pl
import pytest
import python_calamine
from hypothesis import given

from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.judging.lexical import MODES, Truth, rate
from fresh_assets.judging.rating import rate_answers
from fresh_assets.judging.text import dates, is_number, numbers

Q = "What is asked?"


def verdict(
    response: str, *answers: str, false: bool = False, mode: str = "relaxed", q: str = Q
) -> str:
    return rate(response, Truth(q, answers, false), mode).rating


@pytest.mark.parametrize(
    ("response", "answers", "rating"),
    [
        ("It is Iga Swiatek.", ["Iga Świątek"], "correct"),
        ("It is Naomi Osaka.", ["Iga Świątek"], "incorrect"),
        ("", ["Ana"], "incorrect"),
        ("I do not know the answer.", ["Ana"], "incorrect"),
        ("As an AI, I cannot browse. It may be Ana Bol.", ["Ana Bol"], "correct"),
        ("There are 1,406 of them", ["1406"], "correct"),
        ("twenty-three people", ["23"], "correct"),
        ("about 8.1 billion", ["8.1 billion"], "correct"),
        ("8,100,000,000", ["8.1 billion"], "correct"),
        ("There are 1,410 of them", ["1406"], "unrated"),
        ("There are 7 of them", ["1406"], "incorrect"),
        ("Nobody counted them", ["1406"], "unrated"),
        ("between 3, 5, 8, 13 and 21", ["5"], "unrated"),
        ("5%", ["5%"], "correct"),
        ("5 people", ["5%"], "unrated"),
        ("on 13 October 1971", ["Oct 13, 1971"], "correct"),
        ("on 14 October 1971", ["Oct 13, 1971"], "incorrect"),
        ("Yes, it is", ["Yes"], "correct"),
        ("No, never", ["Yes"], "incorrect"),
        ("The price is $180.", ["Yes"], "unrated"),
        ("Elon Musk has 11 children.", ["11 (one child is deceased)"], "correct"),
        ("Necessity of Violence", ["Babel: Or the Necessity of Violence"], "unrated"),
    ],
)
def test_facts(response: str, answers: list[str], rating: str) -> None:
    assert verdict(response, *answers) == rating


def test_a_number_of_the_question_decides_nothing() -> None:
    assert (
        verdict("In the last 5 years it had 7", "5", q="How many in the last 5 years?") == "unrated"
    )


REBUTTAL = "Ana Bol has not resigned; she is still the mayor of Velmora."


@pytest.mark.parametrize(
    ("response", "rating"),
    [
        (REBUTTAL, "correct"),
        ("Ana Bol never resigned and is still the mayor of Velmora.", "correct"),
        ("She resigned after a dispute.", "incorrect"),
        ("That is not true.", "unrated"),
        ("", "incorrect"),
    ],
)
def test_false_premises_need_a_rebuttal(response: str, rating: str) -> None:
    assert verdict(response, REBUTTAL, false=True) == rating


def test_strict_mode_is_never_more_generous() -> None:
    assert verdict("I think it is Ana Bol.", "Ana Bol", mode="strict") == "incorrect"
    assert verdict("It is 5, out of 9.", "5", mode="strict") == "unrated"
    assert verdict("It is 5.", "5", mode="strict") == "correct"


@given(
    st.text(max_size=80),
    st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3),
    st.booleans(),
)
def test_any_text_gets_one_of_three_ratings(response: str, answers: list[str], false: bool) -> None:
    truth = Truth(Q, answers, false)
    relaxed, strict = (rate(response, truth, mode).rating for mode in MODES)
    assert {relaxed, strict} <= {"correct", "incorrect", "unrated"}
    assert strict != "correct" or relaxed == "correct"


@given(st.integers(0, 10**12))
def test_numbers_with_separators_are_the_same(number: int) -> None:
    assert numbers(f"{number:,}") == numbers(str(number)) == {float(number)}
    assert is_number(f"{number:,}")


@given(st.dates(date(1000, 1, 1)))
def test_dates_in_every_spelling(day: date) -> None:
    for text in (
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year:04d}",
        day.isoformat(),
    ):
        assert dates(text) == {day}


def test_answers_that_were_never_given_are_unrated() -> None:
    frame = pl.DataFrame(
        {
            "question_key": ["a", "b", "c"], "question": [Q] * 3, "answers": [["Ana"]] * 3,
            "false_premise": [False] * 3, "state": ["answered", "empty", "error"],
            "answer": ["Ana", None, None], "reason": [None, "blank", "lost"],
        }
    )  # fmt: skip
    rated = rate_answers(frame).filter(pl.col("mode") == "relaxed")
    assert rated["rating"].to_list() == ["correct", "incorrect", "unrated"]
    assert rated["comment"].to_list()[2] == "not asked: lost"
    assert rated["truth_hash"].n_unique() == 1


@pytest.mark.parametrize(
    "name",
    [
        "varun_freshprompt_gpt35",
        "varun_freshprompt_llama2_70b",
        "varun_4shot_gpt35",
        "varun_4shot_llama2_70b",
    ],
)
def test_agreement_with_a_model_judge_on_real_answers(real: Path, name: str) -> None:
    file = real / "normalized" / "freshqa_2024-03-11.csv"
    truths = parse_version(file.read_bytes(), file.name).questions.rows_by_key(
        "question", named=True, unique=True
    )
    sheet = python_calamine.CalamineWorkbook.from_path(str(real / "ratings" / f"{name}_eval.xlsx"))
    header, *rows = sheet.get_sheet_by_index(0).to_python()
    pairs = []
    for cells in (dict(zip(header, row, strict=True)) for row in rows):
        if known := truths.get(cells["question"]):
            truth = Truth(cells["question"], known["answers"], known["false_premise"])
            pairs.append(
                (
                    rate(str(cells["final_answer"]), truth, "relaxed").rating,
                    str(cells["accuracy"]).lower(),
                )
            )
    rated = [pair for pair in pairs if pair[0] != "unrated"]
    assert len(rated) / len(pairs) > 0.7
    assert sum(mine == theirs for mine, theirs in rated) / len(rated) > 0.85
