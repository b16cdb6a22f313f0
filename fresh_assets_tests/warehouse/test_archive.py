"""The archive keeps what came from outside, verbatim and once."""

from datetime import date

import pytest

from fresh_assets.warehouse.archive import Archive

WEEK, VERSION, DAY = date(2026, 1, 5), date(2026, 1, 5), date(2026, 1, 6)


def test_content_comes_back_as_it_was(archive: Archive) -> None:
    content = bytes(range(256)) * 100
    assert archive.get(archive.put(content)) == content
    assert archive.put(content) == archive.put(content)
    with pytest.raises(KeyError):
        archive.get("nothing")


def test_a_search_is_never_rewritten(archive: Archive) -> None:
    first = [("k1", "one?", DAY, b"a"), ("k2", "two?", DAY, b"b")]
    assert archive.put_searches(WEEK, "corpus", VERSION, first) == 2
    again = [("k2", "two?", DAY, b"other"), ("k3", "three?", DAY, b"a")]
    assert archive.put_searches(WEEK, "corpus", VERSION, again) == 1
    found = {s.question_key: archive.get(s.payload_hash) for s in archive.searches(WEEK)}
    assert found == {"k1": b"a", "k2": b"b", "k3": b"a"}
    assert archive.weeks() == [WEEK]


def test_failing_search_keeps_nothing_of_its_batch_half(archive: Archive) -> None:
    def searches() -> object:
        yield "k1", "one?", DAY, b"a"
        raise RuntimeError("the engine broke")

    with pytest.raises(RuntimeError):
        archive.put_searches(WEEK, "corpus", VERSION, searches())  # type: ignore[arg-type]
    assert archive.searches(WEEK) == []
