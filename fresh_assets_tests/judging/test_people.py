"""Ratings by people: a blind sheet out, ratings back, every mistake named."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from fresh_assets.demo.files import REFERENCES, Demo
from fresh_assets.errors import UserError
from fresh_assets.judging.people import COLUMNS, Item, read_items, read_sheet, sample, sheet
from fresh_assets.refresh import Platform
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform
from fresh_assets_tests.test_cli import output_of


@pytest.fixture(scope="module")
def items(refreshed: Platform) -> list[Item]:
    with refreshed.warehouse.reader() as con:
        return read_items(con, DEMO_WEEK)


def filled(text: str, **cells: str) -> bytes:
    """The sheet with every row rated as given."""
    rows = list(csv.DictReader(io.StringIO(text)))
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows({**row, **cells} for row in rows)
    return out.getvalue().encode()


def test_a_sheet_is_blind_and_the_same_for_two_raters(items: list[Item]) -> None:
    chosen = sample(items, 20, DEMO_WEEK)
    assert sum(item.false_premise for item in chosen) == 10
    ana, tom = sheet(chosen, "ana"), sheet(chosen, "tom")
    assert ana != tom
    assert sorted(ana.splitlines()) == sorted(tom.splitlines())
    assert not any(system in ana for system in (*REFERENCES, "search-answer"))


def test_ratings_come_back(items: list[Item]) -> None:
    chosen = sample(items, 6, DEMO_WEEK)
    rows = read_sheet(
        filled(sheet(chosen, "a"), relaxed="C", strict="incorrect"), "s.csv", "a", DEMO_WEEK, items
    )
    assert len(rows) == 12
    assert set(rows.select("mode", "rating").rows()) == {
        ("relaxed", "correct"),
        ("strict", "incorrect"),
    }
    by_item = {(item.system, item.question_key): item.answer_hash for item in chosen}
    assert {
        (r["system"], r["question_key"]): r["answer_hash"] for r in rows.rows(named=True)
    } == by_item


def wrong() -> Iterator[tuple[dict[str, str], str]]:
    yield {"relaxed": "maybe"}, "row 2, column relaxed: 'maybe' is no rating"
    yield {"item": "abc", "relaxed": "c"}, "row 2, column item: 'abc' is no answer of this week"
    yield {"relaxed": "", "strict": ""}, "no row is rated"


@pytest.mark.parametrize(("cells", "told"), wrong())
def test_mistakes_name_row_and_column(items: list[Item], cells: dict[str, str], told: str) -> None:
    text = sheet(sample(items, 6, DEMO_WEEK), "a")
    with pytest.raises(UserError, match=told):
        read_sheet(filled(text, **cells), "s.csv", "a", DEMO_WEEK, items)


def test_a_sheet_without_its_columns_or_with_an_item_twice_is_refused(items: list[Item]) -> None:
    with pytest.raises(UserError, match="no column item, strict"):
        read_sheet(b"question,relaxed\nq,c\n", "s.csv", "a", DEMO_WEEK, items)
    text = filled(sheet(items[:1], "a"), relaxed="c").decode()
    twice = text + text.splitlines(keepends=True)[1]
    with pytest.raises(UserError, match="row 3: the item is there twice"):
        read_sheet(twice.encode(), "s.csv", "a", DEMO_WEEK, items)


def test_two_raters_are_compared_with_each_other_and_with_the_judge(
    tmp_path: Path, demo: Demo
) -> None:
    platform = demo_platform(tmp_path, demo, REFERENCES[:1])
    platform.refresh(DEMO_WEEK, [REFERENCES[0]], lambda _: None)
    with platform.warehouse.reader() as con:
        every = read_items(con, DEMO_WEEK)
    text = sheet(sample(every, 20, DEMO_WEEK), "ana")
    content = filled(text, relaxed="correct", strict="correct")
    assert platform.import_ratings(content, "ana.csv", DEMO_WEEK, "ana") == 40
    lines = content.decode().splitlines(keepends=True)
    other = "".join(
        [
            *lines[:11],
            *(line.replace("correct,correct", "incorrect,correct") for line in lines[11:]),
        ]
    )
    assert platform.import_ratings(other.encode(), "tom.csv", DEMO_WEEK, "tom") == 40
    assert platform.import_ratings(content, "ana.csv", DEMO_WEEK, "ana") == 40
    platform.refresh(DEMO_WEEK, [REFERENCES[0]], lambda _: None)
    with platform.warehouse.reader() as con:
        found = con.sql(
            "SELECT rater_a, rater_b, rated, only_a, agreement, kappa FROM mart.judge_agreement "
            "WHERE slice = 'overall' AND mode = 'relaxed' ORDER BY ALL"
        ).fetchall()
        assert con.sql("SELECT count(*) FROM eval.human_ratings").fetchall() == [(80,)]
    assert [row[:2] for row in found] == [
        ("human:ana", "human:tom"), ("human:ana", "lexical"), ("human:tom", "lexical"),
    ]  # fmt: skip
    assert found[0][2] >= 10
    assert found[0][5] is None
    assert found[0][4] == pytest.approx(1 - found[0][3] / found[0][2])
    rate = ("rate", "--rater", "eve", "--answers", "4")
    told = output_of(tmp_path, *rate, typed="x\nc\nc\n\ni\nc\nnot sure\nc\n")
    assert "2 answers rated, 2 left" in told
    assert REFERENCES[0] not in told
    assert "2 answers rated, 0 left" in output_of(tmp_path, *rate, typed="c\nc\n\n" * 2)
    with platform.warehouse.reader() as con:
        said = con.sql(
            "SELECT mode, count(*) FILTER (WHERE rating = 'correct'), max(comment) "
            "FROM eval.human_ratings WHERE rater = 'eve' GROUP BY mode ORDER BY mode"
        ).fetchall()
    assert said == [("relaxed", 3, "not sure"), ("strict", 4, "not sure")]


def test_accuracy_is_corrected_by_what_people_said(tmp_path: Path, demo: Demo) -> None:
    platform = demo_platform(tmp_path, demo, REFERENCES)
    platform.refresh(DEMO_WEEK, list(REFERENCES), lambda _: None)
    with platform.warehouse.reader() as con:
        every = read_items(con, DEMO_WEEK)
        judged = {
            (system, key): rating
            for system, key, rating in con.sql(
                "SELECT system, question_key, rating FROM eval.judgements "
                "WHERE mode = 'relaxed' AND rating <> 'unrated'"
            ).fetchall()
        }
    names = {item.name: judged.get((item.system, item.question_key), "") for item in every}
    rows = list(csv.DictReader(io.StringIO(sheet(every, "ana"))))
    called_correct = [row for row in rows if names[row["item"]] == "correct"]
    wrong = {row["item"] for row in called_correct[:8]}
    for row in rows:
        row["relaxed"] = "incorrect" if row["item"] in wrong else names[row["item"]]
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS)
    writer.writeheader()
    writer.writerows(rows)
    platform.import_ratings(out.getvalue().encode(), "ana.csv", DEMO_WEEK, "ana")
    platform.refresh(DEMO_WEEK, list(REFERENCES), lambda _: None)
    with platform.warehouse.reader() as con:
        found = con.sql("SELECT * FROM mart.corrected_accuracy ORDER BY system").pl()
    called_incorrect = sum(rating == "incorrect" for rating in judged.values())
    assert set(found["system"]) == set(REFERENCES)
    assert set(found["sensitivity"]) == {1.0}
    assert found["specificity"][0] == pytest.approx(called_incorrect / (called_incorrect + 8))
    perfect, frozen = found.rows(named=True)
    assert perfect["accuracy"] == perfect["corrected"] == 1
    assert frozen["corrected"] < frozen["accuracy"]
    assert frozen["corrected_low"] < frozen["corrected"] < frozen["corrected_high"]
    assert set(found["people_rated"]) == {len(judged)}
