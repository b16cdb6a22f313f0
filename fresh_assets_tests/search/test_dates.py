"""Dates as engines write them, read against a fixed day."""

from datetime import date, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fresh_assets.search.dates import PartialDate, parse_date

AS_OF = date(2024, 1, 18)


@pytest.mark.parametrize(
    ("text", "day", "precision"),
    [
        ("45 seconds ago", date(2024, 1, 18), "day"),
        ("5 mins ago", date(2024, 1, 18), "day"),
        ("3 hours ago", date(2024, 1, 18), "day"),
        ("12 hr ago", date(2024, 1, 18), "day"),
        ("36 hours ago", date(2024, 1, 17), "day"),
        ("a day ago", date(2024, 1, 17), "day"),
        ("two days ago", date(2024, 1, 16), "day"),
        ("30 days ago", date(2023, 12, 19), "day"),
        ("1 week ago", date(2024, 1, 11), "day"),
        ("3 weeks ago", date(2023, 12, 28), "day"),
        ("1 mo ago", date(2023, 12, 18), "day"),
        ("2 months ago", date(2023, 11, 18), "day"),
        ("5 years ago", date(2019, 1, 18), "day"),
        ("yesterday", date(2024, 1, 17), "day"),
        ("last week", date(2024, 1, 11), "day"),
        ("2012", date(2012, 1, 1), "year"),
        ("Jun 2015", date(2015, 6, 1), "month"),
        ("June 2015", date(2015, 6, 1), "month"),
        ("Jan 3", date(2024, 1, 3), "day"),
        ("10 Dec", date(2023, 12, 10), "day"),
        ("Sat, Jan 13", date(2024, 1, 13), "day"),
        ("Feb 29", date(2020, 2, 29), "day"),
        ("May 22, 2023", date(2023, 5, 22), "day"),
        ("Sept 3, 2020", date(2020, 9, 3), "day"),
        ("3rd June 2021", date(2021, 6, 3), "day"),
        ("2023-12-01T10:00:00Z", date(2023, 12, 1), "day"),
        ("5/13/2022", date(2022, 5, 13), "day"),
        ("May 5 – 7, 2023", date(2023, 5, 7), "day"),
        ("Dec 30, 2022 – Jan 2, 2023", date(2023, 1, 2), "day"),
        ("2023–24", date(2024, 1, 1), "year"),
        ("2019 - 2021", date(2021, 1, 1), "year"),
        ("June 2020 – May 2021", date(2021, 5, 1), "month"),
    ],
)
def test_readable_dates(text: str, day: date, precision: str) -> None:
    assert parse_date(text, AS_OF) == PartialDate(day, precision)


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        "12345678901234567890",
        "Feb 30, 2023",
        "tomorrow",
        "Dec 2031",
        "10.5K+ views",
        "soon",
    ],
)
def test_what_cannot_be_read_stays_undated(text: str | None) -> None:
    assert parse_date(text, AS_OF) is None


@given(st.text(max_size=40), st.dates(date(2000, 1, 1), date(2090, 1, 1)))
def test_any_text_gives_no_date_after_the_day(text: str, as_of: date) -> None:
    found = parse_date(text, as_of)
    assert found is None or found.day <= as_of + timedelta(days=1)


@given(
    st.integers(0, 9999),
    st.sampled_from(["second", "minute", "hour", "day", "week", "month", "year"]),
)
def test_every_unit_counts_back(number: int, unit: str) -> None:
    found = parse_date(f"{number} {unit}s ago", AS_OF)
    if found is None:
        assert unit == "year"
    else:
        assert found.day <= AS_OF
        assert (found.day == AS_OF) == (number == 0) or unit in {"second", "minute", "hour"}


@given(
    st.dates(date(1990, 1, 1), AS_OF),
    st.sampled_from(["%b %d, %Y", "%d %B %Y", "%Y-%m-%d", "%m/%d/%Y"]),
)
def test_full_dates_do_not_depend_on_the_day(day: date, form: str) -> None:
    assert parse_date(day.strftime(form), AS_OF) == PartialDate(day, "day")
