"""Why ratings moved between two weeks."""

from datetime import date
from pathlib import Path

import pytest

from fresh_assets.demo.files import REFERENCES, Demo
from fresh_assets.refresh import Platform
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform

EARLIER = date(2026, 1, 12)


@pytest.fixture(scope="module")
def two_weeks(tmp_path_factory: pytest.TempPathFactory, demo: Demo) -> Platform:
    platform = demo_platform(tmp_path_factory.mktemp("weeks"), demo, REFERENCES[1:2])
    for system in REFERENCES[1:2]:
        file = platform.settings.home / "demo" / "answers" / system / f"{EARLIER}.csv"
        platform.import_answers(file.read_bytes(), file.name, EARLIER, system)
    for week in (EARLIER, DEMO_WEEK):
        platform.refresh(week, [], lambda _: None)
    return platform


def test_a_system_that_never_learns_loses_where_the_truth_moved(two_weeks: Platform) -> None:
    with two_weeks.warehouse.reader() as con:
        causes = con.execute(
            "SELECT cause, sum(no_longer_correct), sum(became_correct) FROM mart.week_changes "
            "WHERE system = ? AND mode = 'relaxed' GROUP BY cause",
            [REFERENCES[1]],
        ).fetchall()
        changed = con.execute(
            "SELECT count(*) FROM freshqa.answer_history WHERE valid_from > ? AND valid_from <= ?",
            [EARLIER, DEMO_WEEK],
        ).fetchall()[0][0]
    ((cause, lost, won),) = causes
    assert cause == "ground truth changed"
    assert 0 < lost <= changed
    assert won < lost


def test_search_moves_with_its_evidence(two_weeks: Platform) -> None:
    with two_weeks.warehouse.reader() as con:
        rows = con.sql(
            "SELECT evidence_changed, answer_changed, ground_truth_changed, previous_week, week "
            "FROM eval.rating_changes WHERE system = 'search-answer'"
        ).fetchall()
        drift = con.sql("SELECT DISTINCT week, previous_week FROM search.drift").fetchall()
    assert rows
    assert all(evidence or truth for evidence, _, truth, _, _ in rows)
    assert {row[3:] for row in rows} == {(EARLIER, DEMO_WEEK)}
    assert drift == [(DEMO_WEEK, EARLIER)]


def test_the_leaderboard_ranks_by_accuracy(two_weeks: Platform, tmp_path: Path) -> None:
    with two_weeks.warehouse.reader() as con:
        rows = con.execute(
            "SELECT place, accuracy FROM mart.leaderboard WHERE week = ? AND mode = 'relaxed' ORDER BY place",
            [DEMO_WEEK],
        ).fetchall()
    assert [place for place, _ in rows] == [1, 2]
    assert rows[0][1] >= rows[1][1]
