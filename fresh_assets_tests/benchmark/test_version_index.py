"""The upstream list of versions, with every irregular form seen in its history."""

from datetime import date
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fresh_assets.benchmark.upstream import read_index
from fresh_assets.benchmark.version_index import (
    as_frame,
    parse_history,
    parse_index,
    parse_readme,
)
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets_tests.web_server import Page, web_server

ID = "1dHEKPuZXWtzj_te61DqcUnStQy6oakkXRcWF_J-hy1U"


def link(label: str, sheet: str = ID, rest: str = "/edit?usp=sharing") -> str:
    return f"[{label}](https://docs.google.com/spreadsheets/d/{sheet}{rest})"


def page(*links: str, head: str = "") -> str:
    return "\n\n".join(["# Benchmark", "## FreshQA", head, *links])


@pytest.mark.parametrize(
    ("label", "version"),
    [
        ("FreshQA Oct 6, 2023", date(2023, 10, 6)),
        ("FreshQA Oct 15, 2023", date(2023, 10, 15)),
        ("FreshQA May 6, 2024", date(2024, 5, 6)),
        ("FreshQA June 3, 2024", date(2024, 6, 3)),
        ("FreshQA June 10, 2024", date(2024, 6, 10)),
        ("FreshQA December 02, 2024", date(2024, 12, 2)),
        ("FreshQA Sept 30, 2025", date(2025, 9, 30)),
    ],
)
def test_label_forms(label: str, version: date) -> None:
    (entry,) = parse_readme(page(link(label)))
    assert (entry.version, entry.sheet_id, entry.problem) == (version, ID, None)


@given(
    st.dates(date(2023, 10, 1), date(2030, 12, 31)), st.sampled_from(["%B", "%b"]), st.booleans()
)
def test_every_date_is_read_back(day: date, month: str, padded: bool) -> None:
    number = f"{day.day:02d}" if padded else str(day.day)
    (entry,) = parse_readme(page(link(f"FreshQA {day:{month}} {number}, {day.year}")))
    assert entry.version == day


def test_year_is_taken_from_the_neighbours() -> None:
    entries = parse_readme(
        page(
            link("FreshQA Jan 8, 2025", "a"),
            link("FreshQA Dec 30", "b"),
            link("FreshQA Dec 23, 2024", "c"),
        )
    )
    assert [e.version for e in entries] == [
        date(2025, 1, 8),
        date(2024, 12, 30),
        date(2024, 12, 23),
    ]
    assert entries[1].note == "year taken from the neighbours"


def test_year_of_the_newest_entry_comes_from_the_one_below() -> None:
    entries = parse_readme(page(link("FreshQA May 27", "a"), link("FreshQA May 20, 2024", "b")))
    assert entries[0].version == date(2024, 5, 27)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (link("FreshQA Febtober 3, 2024"), "is no month"),
        (link("FreshQA Feb 30, 2024"), "no such day"),
        (link("FreshQA latest"), "the label is not"),
        (link("FreshEval sample results"), "the label is not"),
        ("[FreshQA Feb 5, 2024] will follow", "has no link"),
        (link("FreshQA Feb 5, 2024", sheet=""), "no sheet id"),
    ],
)
def test_what_is_no_version_keeps_its_place_with_the_reason(entry: str, problem: str) -> None:
    entries = parse_readme(page(link("FreshQA Mar 4, 2024", "x"), entry))
    assert entries[1].version is None
    assert problem in (entries[1].problem or "")


def test_resource_key_and_broken_markdown() -> None:
    with_key = link(
        "FreshQA May 13, 2024", "a", "/edit?usp=sharing&resourcekey=0-rddWsLSn8JaYS1PygZPVYw"
    )
    broken = "[FreshQA Apr 22, 2024]https://docs.google.com/spreadsheets/d/b---c/edit?usp=sharing)."
    first, second = parse_readme(page(with_key, broken))
    assert first.resource_key == "0-rddWsLSn8JaYS1PygZPVYw"
    assert (second.version, second.sheet_id) == (date(2024, 4, 22), "b---c")
    assert second.note == "link repaired: no parenthesis after the label"


def test_two_links_on_adjacent_lines_with_full_stops() -> None:
    text = page(link("FreshQA Jan 8, 2024", "a") + ".\n" + link("FreshQA Jan 2, 2024", "b") + ".")
    assert [e.sheet_id for e in parse_readme(text)] == ["a", "b"]


def test_same_date_twice_and_shared_sheet() -> None:
    twice = parse_readme(
        page(link("FreshQA Apr 15, 2024", "new"), link("FreshQA Apr 15, 2024", "old"))
    )
    assert [e.problem for e in twice] == [None, "2024-04-15 is already listed above"]
    shared = parse_readme(page(link("FreshQA Oct 15, 2023"), link("FreshQA Oct 6, 2023")))
    assert all(e.note == "several versions share this sheet" for e in shared[1:])
    assert "several versions share this sheet" in (shared[0].note or "")


def test_out_of_order_is_noted() -> None:
    entries = parse_readme(
        page(link("FreshQA Apr 8, 2024", "a"), link("FreshQA Apr 15, 2024", "b"))
    )
    assert entries[1].note == "out of order: newer than the entry above"


@pytest.mark.parametrize(
    ("announced", "day", "note"),
    [
        ("**Next update:** December 1, 2025", date(2025, 12, 1), None),
        ("**Next update:** November 24, 2025.", date(2025, 11, 24), "not later"),
        ("**Next update:** 2025", None, "is no date"),
        ("", None, "no next update"),
    ],
)
def test_next_update(announced: str, day: date | None, note: str | None) -> None:
    (entry,) = parse_readme(page(link("FreshQA November 24, 2025"), head=announced))
    assert entry.next_update == day
    assert (note or "") in (entry.note or "")
    assert note or entry.note is None


def test_history_csv() -> None:
    text = f"version_date,sheet_id,label,resourcekey\n2023-10-06,{ID},FreshQA Oct 6,\nsoon,x,,0-k\n"
    good, bad = parse_history(text)
    assert (good.version, good.sheet_id, good.label) == (date(2023, 10, 6), ID, "FreshQA Oct 6")
    assert bad.problem == "version_date 'soon' is no date"


def test_a_page_without_versions_is_refused() -> None:
    with pytest.raises(BadInputError, match="no FreshQA version is listed"):
        parse_index("<html>sign in</html>", "page")


def test_unreachable_index_is_one_line(tmp_path: Path, archive: Archive) -> None:
    with pytest.raises(UserError, match="could not be read"):
        read_index(Settings(home=tmp_path, upstream=str(tmp_path / "none.md")), archive)
    with (
        web_server(lambda *_: Page(status=404)) as server,
        pytest.raises(UserError, match="HTTP 404"),
    ):
        read_index(Settings(home=tmp_path, upstream=f"{server.url}/README.md"), archive)


def test_real_history_has_87_versions(real: Path) -> None:
    frame = as_frame(parse_index((real / "upstream_versions_history.csv").read_text(), "h.csv"))
    assert frame["version"].n_unique() == 87
    assert frame["sheet_id"].n_unique() == 86
    assert frame["problem"].null_count() == 87
    keys = dict(
        frame.filter(frame["resource_key"].is_not_null()).select("version", "resource_key").rows()
    )
    assert keys[date(2024, 5, 13)] == "0-rddWsLSn8JaYS1PygZPVYw"
