"""The fictional world: the same every time, like the real thing, with every truth known."""

import csv
import io
from datetime import date

import pytest

from fresh_assets.benchmark.version_file import parse_version, refuse_damage
from fresh_assets.benchmark.version_index import parse_readme
from fresh_assets.demo.files import (
    REFERENCES,
    Demo,
    corpus,
    make_demo,
    reference_answers,
    truth_csv,
    upstream_readme,
    version_csv,
)


def test_the_same_seed_makes_the_same_world() -> None:
    first, second, other = make_demo(40, 3), make_demo(40, 3), make_demo(40, 4)
    day = first.days[2]
    assert version_csv(first, day) == version_csv(second, day) != version_csv(other, day)
    assert corpus(first) == corpus(second)
    assert truth_csv(first) == truth_csv(second)


def test_versions_are_clean_and_have_every_kind(demo: Demo) -> None:
    for day in demo.days:
        parsed = parse_version(version_csv(demo, day), "v.csv")
        refuse_damage(parsed)
        assert parsed.findings == ()
        q = parsed.questions
        assert len(q) == len(demo.questions)
        assert set(q["fact_type"]) == {"fast-changing", "slow-changing", "never-changing"}
        assert set(q["num_hops"]) == {"one-hop", "multi-hop"}
        assert set(q["split"]) == {"TEST", "DEV"}
        assert 0.1 < (q["false_premise"].mean() or 0) < 0.4


def test_answers_change_by_their_pace(demo: Demo) -> None:
    def values(pace: str) -> list[int]:
        return [
            len({q.truth(demo.world, day).answers for day in demo.days})
            for q in demo.questions
            if q.pace == pace and not q.is_false
        ]

    assert set(values("never")) == {1}
    assert sum(values("fast")) / len(values("fast")) > 2


def test_stale_ground_truth_is_marked(demo: Demo) -> None:
    rows = list(csv.DictReader(io.StringIO(truth_csv(demo).decode())))
    stale = [row for row in rows if row["is_stale"] == "True"]
    assert 0 < len(stale) < len(rows) / 5
    assert all(row["true_answer"] != row["ground_truth"] for row in stale)
    assert not any(row["version"] == demo.days[0].isoformat() for row in stale)


def test_the_current_value_is_in_a_page_of_the_day(demo: Demo) -> None:
    pages = corpus(demo)
    for question in demo.questions:
        if question.pace == "never" and len(question.chain) == 1 and not question.is_false:
            truth = question.truth(demo.world, demo.days[-1])
            assert any(truth.sentence in page.text for page in pages)


def test_upstream_list_names_every_version(demo: Demo) -> None:
    entries = parse_readme(upstream_readme(demo))
    assert [e.version for e in entries] == demo.days[::-1]
    assert sum(e.note == "year taken from the neighbours" for e in entries) == 1


@pytest.mark.parametrize("system", REFERENCES)
def test_reference_answers_name_every_question(demo: Demo, system: str) -> None:
    day = demo.days[3]
    rows = list(csv.DictReader(io.StringIO(reference_answers(demo, system, day).decode())))
    questions = parse_version(version_csv(demo, day), "v.csv").questions["question"]
    assert {row["question"] for row in rows} == set(questions)
    assert all(row["answer"] for row in rows)


@pytest.mark.slow
def test_a_world_of_a_hundred_thousand_questions() -> None:
    big = make_demo(100_000)
    parsed = parse_version(version_csv(big, date(2026, 1, 5)), "v.csv")
    assert len(parsed.questions) == 100_000
    assert parsed.questions["question_hash"].n_unique() == 100_000
