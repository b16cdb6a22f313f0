"""The weekly snapshot: only what is missing is searched, and the past never live."""

from datetime import date

import pytest

from fresh_assets.errors import UserError
from fresh_assets.search.engine import Evidence
from fresh_assets.search.snapshot import parse_snapshot, search_missing, snapshot_rows
from fresh_assets.warehouse.archive import Archive

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
    results = snapshot_rows(archive, WEEK)
    first = parse_snapshot(archive, results, {"counting": engine})
    assert first.equals(parse_snapshot(archive, results, {"counting": engine}))
    assert first.select("question_key", "rank", "title", "date", "date_precision").rows() == [
        ("a", 0, "a?", date(2026, 1, 3), "day"),
        ("b", 0, "b?", date(2026, 1, 3), "day"),
    ]
