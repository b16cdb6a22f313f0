"""A stale answer from the signal to the leaderboard; decisions, how long they hold, the patch."""

import csv
import io
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

from fresh_assets.benchmark.ground_truth import ground_truth
from fresh_assets.benchmark.imports import Source
from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.demo.files import REFERENCES, make_demo
from fresh_assets.errors import UserError
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.staleness.review import Decision, corrections_csv, open_cases
from fresh_assets.warehouse.publish import open_latest
from fresh_assets.warehouse.slices import write_slice
from fresh_assets_tests.benchmark.files import as_csv, row, rows
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform
from fresh_assets_tests.test_cli import output_of, run

KNOWING = REFERENCES[0]


def quiet(_: str) -> None:
    pass


def planted(home: Path) -> dict[str, str]:
    """The question whose ground truth was not taken up in time, by the key of the demo world."""
    lines = csv.DictReader((home / "demo" / "truth.csv").open())
    (stale,) = (r for r in lines if r["version"] == str(DEMO_WEEK) and r["is_stale"] == "True")
    return stale


def rating_of(platform: Platform, question: str) -> list[str]:
    with platform.warehouse.reader() as con:
        found = con.execute(
            "SELECT rating FROM eval.judgements JOIN freshqa.ground_truth USING (week, question_key) "
            "WHERE system = ? AND mode = 'relaxed' AND is_current AND question = ?",
            [KNOWING, question],
        ).fetchall()
    return [rating for (rating,) in found]


def correct_answers(platform: Platform) -> int:
    with open_latest(platform.settings.published) as con:
        return con.execute(
            "SELECT round(accuracy * judged)::INTEGER FROM mart.leaderboard WHERE system = ? "
            "AND mode = 'relaxed' AND judge = 'lexical'", [KNOWING],
        ).fetchall()[0][0]  # fmt: skip


@pytest.mark.slow
def test_a_planted_stale_answer_travels_to_the_leaderboard(tmp_path: Path) -> None:
    platform = demo_platform(tmp_path, make_demo(60, seed=10))
    platform.refresh(DEMO_WEEK, [], quiet)
    plant = planted(tmp_path)
    question, true = plant["question"], plant["true_answer"]
    assert rating_of(platform, question) == ["unrated"], "right, but not by the stale answer"
    before = correct_answers(platform)

    with platform.warehouse.reader() as con:
        cases = open_cases(con, DEMO_WEEK, 60)
        place = next(n for n, case in enumerate(cases) if case.question == question)
    case = cases[place]
    assert case.risk
    assert case.reasons
    assert any(true in text for _, text, _ in case.evidence), "the evidence knows better"
    assert place < 20, "near the front of the queue of 60"

    typed = "s\n" * place + f"c\n{true}\nnew season\nhttps://courier.example/1\nq\n"
    told = run(tmp_path, "review", "--reviewer", "ana", "--at-most", "60", typed=typed)
    assert told.returncode == 0, told.stderr
    assert question in told.stdout
    assert "1 decisions recorded" in told.stdout

    done = [step for s in platform.refresh(DEMO_WEEK, [], quiet) for step in s.assets]
    assert done[0] == "freshqa/ground_truth"
    assert "eval/judgements" in done
    assert "search/results" not in done
    assert rating_of(platform, question) == ["correct"]
    assert correct_answers(platform) == before + 1
    with platform.warehouse.reader() as con:
        again = con.sql(
            "SELECT count(DISTINCT question_key) FROM eval.judgements WHERE NOT is_current"
        ).fetchall()[0][0]
        assert again == 1, "no other answer was judged against another truth"
        upstream = con.execute(
            "SELECT answers[1] FROM freshqa.current_questions WHERE version = ? AND question = ?",
            [DEMO_WEEK, question],
        ).fetchall()
        assert upstream == [(plant["ground_truth"],)], "upstream stays untouched"
        assert question not in [c.question for c in open_cases(con, DEMO_WEEK, 60)]

    patch = tmp_path / "patch.csv"
    assert "1 rows" in output_of(tmp_path, "export-corrections", str(patch))
    (changed,) = csv.DictReader(patch.open())
    assert (changed["question"], changed["answer_0"]) == (question, true)
    assert changed["note"].startswith("correct (ana): new season")
    assert "https://courier.example/1" in changed["source"]


@pytest.fixture
def platform(tmp_path: Path) -> Platform:
    platform = Platform(Settings(home=tmp_path))
    bring(platform, date(2024, 1, 1), row(1, answer_0="Ana Bol"))
    return platform


def bring(platform: Platform, week: date, changed: dict[str, str]) -> None:
    platform.import_version(as_csv(rows(changed)), Source(week, f"{week}.csv"))
    platform.refresh_benchmark(quiet)


def truth(platform: Platform, week: date) -> pl.DataFrame:
    with platform.warehouse.reader() as con:
        version = con.execute(
            "SELECT max(version) FROM freshqa.revisions WHERE version <= ?", [week]
        ).fetchall()[0][0]
        frame = ground_truth(con, week, version)
    write_slice(platform.warehouse, "freshqa.ground_truth", {"week": str(week)}, frame)
    return frame


def decision(key: str, kind: str = "keep", **more: object) -> Decision:
    return Decision(key, kind, "seen", "ana", **more)  # type: ignore[arg-type]


FIRST = date(2024, 1, 1)
NEXT = FIRST + timedelta(weeks=1)


def test_a_decision_holds_from_its_week_until_upstream_moves(platform: Platform) -> None:
    before, _ = truth(platform, FIRST), truth(platform, NEXT)
    key = before.filter(pl.col("id") == 1)["question_key"][0]
    fix = decision(key, "correct", answers=("Tom Ray", "T. Ray"), source="https://x.example")
    platform.decide(NEXT, fix)

    assert truth(platform, FIRST).equals(before), "an earlier week is as it was"
    one = pl.col("question_key") == key
    now = truth(platform, NEXT).filter(one).row(0, named=True)
    assert now["answers"] == ["Tom Ray", "T. Ray"]
    assert (now["decision"], now["reviewed_week"], now["valid_from"]) == (1, NEXT, NEXT)

    later = NEXT + timedelta(weeks=1)
    bring(platform, later, row(1, answer_0="Ana Bol", note="looked at"))
    assert truth(platform, later).filter(one)["answers"][0].to_list() == ["Tom Ray", "T. Ray"]
    last = later + timedelta(weeks=1)
    bring(platform, last, row(1, answer_0="Uma Lee"))
    moved = truth(platform, last).filter(one).row(0, named=True)
    assert (moved["answers"], moved["decision"]) == (["Uma Lee"], None)


def test_keep_reword_retire_and_the_whole_patch(platform: Platform) -> None:
    keys = truth(platform, FIRST)["question_key"].to_list()
    platform.decide(FIRST, decision(keys[0]))
    platform.decide(FIRST, decision(keys[1], "reword", question="What is it called today?"))
    platform.decide(FIRST, decision(keys[2], "retire"))
    after = truth(platform, FIRST)
    assert len(after) == len(keys) - 1
    assert keys[2] not in after["question_key"]
    reworded = after.filter(pl.col("question_key") == keys[1])
    assert reworded["question"][0] == "What is it called today?"
    with platform.warehouse.reader() as con:
        patch, changed = corrections_csv(con, FIRST, whole=False)
        whole, number = corrections_csv(con, FIRST, whole=True)
    assert [r["note"][:6] for r in csv.DictReader(io.StringIO(patch))] == ["reword", "retire"]
    assert (changed, number) == (2, len(keys) - 1)
    parsed = parse_version(whole.encode(), "patched.csv").questions.sort("id")
    assert parsed["question"].to_list() == after.sort("id")["question"].to_list()
    assert parsed["answers"].to_list() == after.sort("id")["answers"].to_list()


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (decision("nobody"), "no question 'nobody'"),
        (decision("", "burn"), "use keep, correct, reword, retire"),
        (decision("", "correct", source="https://x.example"), "answers go with `correct`"),
        (decision("", "correct", answers=("Tom",)), "needs a source"),
        (decision("", "correct", answers=("Ana Bol",), source="s"), "use `keep`"),
        (decision("", "correct", answers=("Tom", " "), source="s"), "none of them empty"),
        (decision("", "keep", answers=("Tom",)), "answers go with `correct`"),
        (decision("", "reword"), "a wording goes with `reword`"),
        (Decision("", "keep", " ", "ana"), "a reason and a reviewer"),
    ],
)  # fmt: skip
def test_a_decision_that_does_not_hold_together_is_refused(
    platform: Platform, made: Decision, problem: str
) -> None:
    frame = truth(platform, FIRST).filter(pl.col("id") == 1)
    key = made.question_key or frame["question_key"][0]
    with pytest.raises(UserError, match=problem):
        platform.decide(FIRST, Decision(key, *[getattr(made, f) for f in list(made.__dict__)[1:]]))
    with platform.warehouse.reader() as con:
        assert con.sql("SELECT count(*) FROM freshqa.decisions").fetchall() == [(0,)]
