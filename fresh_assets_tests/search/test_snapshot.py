"""The weekly snapshot: only what is missing is searched, and the past never live."""

from datetime import date

import pytest

from fresh_assets.errors import UserError
from fresh_assets.search.engine import Evidence
from fresh_assets.search.snapshot import parse_snapshot, search_missing, snapshot_rows
from fresh_assets.warehouse.archive import Archive

WEEK = date(2026, 1, 5)


class CountingEngine:
    """Answers with the query; breaks at `breaks_at` searches."""

    name = "counting"

    def __init__(self, *, is_live: bool, breaks_at: int = 1000) -> None:
        self.is_live = is_live
        self.breaks_at = breaks_at
        self.asked: list[str] = []

    def search(self, query: str, as_of: date) -> bytes:
        if len(self.asked) == self.breaks_at:
            raise ConnectionError("the network is gone")
        self.asked.append(query)
        return query.encode()

    def parse(self, payload: bytes) -> list[Evidence]:
        return [Evidence("organic", title=payload.decode(), date_text="2 days ago")]


def search(archive: Archive, engine: CountingEngine, *keys: str, is_past: bool = False) -> int:
    queries = {key: f"{key}?" for key in keys}
    return search_missing(archive, engine, WEEK, WEEK, queries, is_past=is_past)


def test_only_missing_questions_are_searched(archive: Archive) -> None:
    engine = CountingEngine(is_live=True)
    assert search(archive, engine, "a", "b") == 2
    assert search(archive, engine, "a", "b", "c") == 1
    assert engine.asked == ["a?", "b?", "c?"]


def test_a_broken_live_search_keeps_what_was_found(archive: Archive) -> None:
    with pytest.raises(ConnectionError):
        search(archive, CountingEngine(is_live=True, breaks_at=2), "a", "b", "c")
    engine = CountingEngine(is_live=True)
    search(archive, engine, "a", "b", "c")
    assert engine.asked == ["c?"]


def test_a_past_week_is_never_searched_live(archive: Archive) -> None:
    with pytest.raises(UserError, match="cannot search it: import"):
        search(archive, CountingEngine(is_live=True), "a", is_past=True)
    assert archive.searches(WEEK) == []
    assert search(archive, CountingEngine(is_live=False), "a", is_past=True) == 1


def test_evidence_is_parsed_from_the_archive_again_and_again(archive: Archive) -> None:
    engine = CountingEngine(is_live=True)
    search(archive, engine, "b", "a")
    results = snapshot_rows(archive, WEEK)
    first = parse_snapshot(archive, results, {"counting": engine})
    assert first.equals(parse_snapshot(archive, results, {"counting": engine}))
    assert first.select("question_key", "rank", "title", "date", "date_precision").rows() == [
        ("a", 0, "a?", date(2026, 1, 3), "day"),
        ("b", 0, "b?", date(2026, 1, 3), "day"),
    ]
