"""The weekly snapshot: only what is missing is searched, and the past never live."""

from datetime import date

import pytest

from fresh_assets.errors import UserError
from fresh_assets.search.drift import find_drift
from fresh_assets.search.engine import Evidence
from fresh_assets.search.snapshot import parse_snapshot, search_missing, snapshot_rows
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse

WEEK = date(2026, 1, 5)
NEXT_WEEK = date(2026, 1, 12)


class CountingEngine:
    """Answers with the query."""

    name = "counting"

    def __init__(self, *, is_live: bool) -> None:
        self.is_live = is_live
        self.asked: list[str] = []

    def search(self, query: str, as_of: date) -> bytes:
        self.asked.append(query)
        return query.encode()

    def parse(self, payload: bytes) -> list[Evidence]:
        return [Evidence("organic", title=payload.decode(), date_text="2 days ago")]


def search(archive: Archive, engine: CountingEngine, *keys: str, today: date = WEEK) -> None:
    questions = {key: f"{key}?" for key in keys}
    assert search_missing(archive, engine, WEEK, WEEK, questions, today) is None


def test_only_missing_questions_are_searched(archive: Archive) -> None:
    engine = CountingEngine(is_live=False)
    search(archive, engine, "a", "b")
    search(archive, engine, "a", "b", "c")
    assert engine.asked == ["a?", "b?", "c?"]


def test_a_past_week_is_never_searched_live(archive: Archive) -> None:
    with pytest.raises(UserError, match="cannot search it: import"):
        search(archive, CountingEngine(is_live=True), "a", today=NEXT_WEEK)
    assert archive.searches(WEEK) == []
    search(archive, CountingEngine(is_live=False), "a", today=NEXT_WEEK)
    assert len(archive.searches(WEEK)) == 1


def test_evidence_is_parsed_from_the_archive_again_and_again(archive: Archive) -> None:
    engine = CountingEngine(is_live=False)
    search(archive, engine, "b", "a")
    results = snapshot_rows(archive, WEEK, archive.searches(WEEK))
    first = parse_snapshot(archive, results, {"counting": engine})
    assert first.equals(parse_snapshot(archive, results, {"counting": engine}))
    assert first.select("question_key", "rank", "title", "date", "date_precision").rows() == [
        ("a", 0, "a?", date(2026, 1, 3), "day"),
        ("b", 0, "b?", date(2026, 1, 3), "day"),
    ]


def test_drift_says_what_moved_since_the_week_before(warehouse: Warehouse) -> None:
    rows = [
        # week, engine, key, rank, kind, title, highlight, url
        ("2026-01-05", "e", "k", 0, "answer_box", "Mayor", "Moll", None),
        ("2026-01-05", "e", "k", 1, "organic", "kept", None, "u1"),
        ("2026-01-05", "e", "k", 2, "organic", "before", "old words", "u2"),
        ("2026-01-05", "e", "k", 3, "organic", "gone", None, "u3"),
        ("2026-01-12", "e", "k", 0, "answer_box", "Mayor", "Brandt", None),
        ("2026-01-12", "e", "k", 1, "organic", "kept", None, "u1"),
        ("2026-01-12", "e", "k", 2, "organic", "after", "new words", "u2"),
        ("2026-01-12", "e", "k", 3, "organic", "new", None, "u4"),
        ("2026-01-05", "e", "same", 0, "organic", "t", None, "u"),
        ("2026-01-12", "e", "same", 0, "organic", "t", None, "u"),
        ("2026-01-12", "e", "only now", 0, "organic", "t", None, "u"),
        ("2026-01-12", "other", "k", 0, "organic", "t", None, "u"),
    ]
    with warehouse.writer() as con:
        con.executemany(
            "INSERT INTO search.evidence (week, engine, question_key, rank, kind, title, highlight, url) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
    with warehouse.reader() as con:
        assert find_drift(con, WEEK).is_empty()
        frame = find_drift(con, NEXT_WEEK).sort("question_key")
        assert len(find_drift(con, date(2026, 1, 19))) == 0
    moved, same = frame.rows(named=True)
    assert moved == {
        "week": NEXT_WEEK, "engine": "e", "question_key": "k", "previous_week": WEEK,
        "drift": 0.5, "urls": 3, "new_urls": 1, "gone_urls": 1, "changed_texts": 1,
        "new_highlights": ["Brandt", "new words"], "box_changed": True,
        "box_before": "Moll", "box_after": "Brandt",
    }  # fmt: skip
    assert (same["question_key"], same["drift"], same["box_changed"]) == ("same", 0.0, False)
