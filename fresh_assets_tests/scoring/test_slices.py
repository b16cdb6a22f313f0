"""Slices that depend on history and system, ratings by people, repeated samples: a week by hand."""

from datetime import date, timedelta

import polars as pl
import pytest

from fresh_assets.answers.asking import ANSWER_SCHEMA
from fresh_assets.answers.systems import read_systems
from fresh_assets.benchmark.ground_truth import ground_truth
from fresh_assets.benchmark.imports import Source
from fresh_assets.errors import UserError
from fresh_assets.judging.rating import rate_answers
from fresh_assets.refresh import Platform
from fresh_assets.scoring.accuracy import accuracy
from fresh_assets.settings import Settings
from fresh_assets.warehouse.slices import write_slice
from fresh_assets_tests.benchmark.files import as_csv, row, rows

FIRST, WEEK = date(2024, 1, 1), date(2024, 1, 8)
SYSTEM, AGAIN = "m", "m/repeat-2"


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Platform:
    return week_by_hand(Settings(home=tmp_path_factory.mktemp("home")))


def week_by_hand(settings: Settings) -> Platform:
    """Two versions: question 1 changed its answer, 2 its wording, 3 has an answer of 2024."""
    platform = Platform(settings)
    recent = {"effective_year": "2024"}
    before = rows(row(1, answer_0="Old"), row(2), row(3, **recent))
    after = rows(
        row(1, answer_0="New"),
        row(2, question="What is the name of the thing number 2?"),
        row(3, **recent),
    )
    for day, version in ((FIRST, before), (WEEK, after)):
        platform.import_version(as_csv(version), Source(day, f"{day}.csv"))
    platform.refresh_benchmark(lambda _: None)
    with platform.warehouse.reader() as con:
        truths = ground_truth(con, WEEK, WEEK)
    write_slice(platform.warehouse, "freshqa.ground_truth", {"week": str(WEEK)}, truths)
    for name, wrong in ((SYSTEM, "Thing 0"), (AGAIN, "Thing 4")):
        answer(platform, truths, name, wrong)
    return platform


def answer(platform: Platform, truths: pl.DataFrame, system: str, wrong: str) -> None:
    """Right answers to all questions but the one whose answer is `wrong`."""
    key = {"week": str(WEEK), "system": system}
    said = truths.with_columns(
        state=pl.lit("answered"), reason=pl.lit(None, pl.String),
        answer=pl.when(pl.col("answers").list.first() == wrong).then(pl.lit("Nobody knows Bob"))
        .otherwise(pl.col("answers").list.first()),
    )  # fmt: skip
    empty = {n: pl.lit(None, t) for n, t in ANSWER_SCHEMA.items() if n not in said.columns}
    given = said.with_columns(**empty).with_columns(
        evidence_ranks=pl.lit([], pl.List(pl.Int32)), method=pl.lit("closed_book"),
        system_hash=pl.lit("h"), version=pl.lit(WEEK),
    )  # fmt: skip
    columns = [*ANSWER_SCHEMA, "method", "system_hash", "version"]
    write_slice(platform.warehouse, "eval.answers", key, given.select(columns))
    write_slice(platform.warehouse, "eval.judgements", key, rate_answers(said))
    config = pl.DataFrame(
        {"system": [system], "method": ["closed_book"], "options": ["{}"], "system_hash": ["h"],
         "knowledge_cutoff": [FIRST + timedelta(days=1)]}
    )  # fmt: skip
    write_slice(platform.warehouse, "eval.systems", {"system": system}, config)


def cells(platform: Platform, slice_: str) -> list[tuple[object, ...]]:
    with platform.warehouse.reader() as con:
        frame = accuracy(con, WEEK).filter(pl.col("slice") == slice_, pl.col("mode") == "relaxed")
    return frame.sort("system").select("system", "asked", "correct").rows()


def test_the_stable_core_and_what_is_newer_than_the_model(platform: Platform) -> None:
    assert [row[1] for row in cells(platform, "overall")] == [6, 6]
    assert [row[1] for row in cells(platform, "stable core")] == [4, 4]
    assert [row[1:] for row in cells(platform, "changed since cutoff")] == [(1, 1), (1, 1)]


def test_a_person_is_a_judge_of_what_the_person_saw(platform: Platform) -> None:
    with platform.warehouse.reader() as con:
        key, hash_ = con.execute(
            "SELECT question_key, answer_hash FROM eval.judgements WHERE system = ? LIMIT 1",
            [SYSTEM],
        ).fetchall()[0]
    rated = pl.DataFrame(
        {
            "rater": ["ana", "tom"], "system": [SYSTEM] * 2, "question_key": [key] * 2,
            "mode": ["relaxed"] * 2, "rating": ["incorrect"] * 2, "comment": [""] * 2,
            "answer_hash": [hash_, "another answer"], "file_name": ["f"] * 2,
        }
    )  # fmt: skip
    write_slice(platform.warehouse, "eval.human_ratings", {"week": str(WEEK)}, rated)
    with platform.warehouse.reader() as con:
        found = accuracy(con, WEEK).filter(pl.col("slice") == "overall")
    people = found.filter(pl.col("judge").str.starts_with("human"))
    assert people.select("judge", "system", "asked", "judged", "correct", "unrated").rows() == [
        ("human:ana", SYSTEM, 6, 1, 0, 5)
    ]
    assert people.select("bound_low", "bound_high").row(0) == (0, pytest.approx(5 / 6))


def test_repeated_samples_show_the_variance_within_a_system(platform: Platform) -> None:
    with platform.warehouse.reader() as con:
        frame = accuracy(con, WEEK)
    write_slice(platform.warehouse, "mart.accuracy", {"week": str(WEEK)}, frame)
    with platform.warehouse.reader() as con:
        found = con.sql(
            "SELECT system, samples, sd_accuracy, share_varying FROM mart.repeats "
            "WHERE mode = 'relaxed' AND judge = 'lexical'"
        ).fetchall()
    assert found == [(SYSTEM, 2, 0, pytest.approx(2 / 6))], "equal accuracy, other questions"


def test_repeats_make_systems_that_differ_only_in_the_sample() -> None:
    text = (
        '[systems.m]\nmethod = "closed_book"\nendpoint = "local"\nmodel = "q"\n'
        "knowledge_cutoff = 2024-01-02\n"
    )
    (one,) = read_systems(text).systems.values()
    first, second, third = read_systems(text + "repeats = 3\n").systems.values()
    assert [s.name for s in (first, second, third)] == ["m", "m/repeat-2", "m/repeat-3"]
    assert first.hash == one.hash
    assert [s.repeat for s in (first, second, third)] == [0, 1, 2]  # type: ignore[union-attr]
    later = read_systems(text.replace("2024", "2025")).systems["m"]
    assert later.hash == one.hash, "what a model knows of is no part of how it is asked"
    for wrong in ("repeats = 0", "repeats = 101", 'repeats = "many"'):
        with pytest.raises(UserError, match=r"systems.m"):
            read_systems(text + wrong)
    with pytest.raises(UserError, match="only for systems that ask a model"):
        read_systems('[systems.s]\nmethod = "search_answer"\nrepeats = 2\n')
