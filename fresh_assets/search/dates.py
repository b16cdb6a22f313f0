"""Dates as search engines write them, resolved against a fixed day, never the system clock."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_AGO = re.compile(
    r"(?P<number>\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\s*"
    r"(?P<unit>s(?:ec(?:ond)?)?|m(?:in(?:ute)?)?|h(?:(?:ou)?r)?|d(?:ay)?|w(?:(?:ee)?k)?"
    r"|mo(?:n(?:th)?)?|y(?:(?:ea)?r)?)s?\s+ago"
)
_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_NAMED = {"today": 0, "just now": 0, "yesterday": 1, "last week": 7}
_WEEKDAY = re.compile(r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+")
_RANGE = re.compile(r"\s*(?:–|—|\bto\b| - |(?<=[\d.a-z])-(?=[\da-z]))\s*")
_ABSOLUTE = [
    re.compile(pattern)
    for pattern in (
        rf"{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"{_DAY}\s+{_MONTH},?\s+{_YEAR}",
        rf"{_YEAR}-(?P<monthnumber>\d\d)-(?P<day>\d\d)(?:[t ].*)?",
        rf"(?P<monthnumber>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}",
        rf"{_MONTH},?\s+{_YEAR}",
        rf"{_YEAR}",
        rf"{_MONTH}\s+{_DAY}",
        rf"{_DAY}\s+{_MONTH}",
    )
]


@dataclass(frozen=True)
class PartialDate:
    """First day of the period known, and how precisely: `day`, `month` or `year`."""

    day: date
    precision: str


def parse_date(text: str | None, as_of: date) -> PartialDate | None:
    """Read a date as shown on `as_of`; None where it cannot be read.

    Relative dates (any unit) count back from `as_of`; a date without a year is its last occurrence
    up to `as_of`; a range is its end. A date after `as_of` by more than a day is not believed.
    """
    cleaned = " ".join((text or "").lower().split()).strip(" .,;·")
    found = _relative(cleaned, as_of) or _absolute(_WEEKDAY.sub("", cleaned), as_of)
    if found and found.day > as_of + timedelta(days=1):
        return None
    return found


def _relative(text: str, as_of: date) -> PartialDate | None:
    if text in _NAMED:
        return PartialDate(as_of - timedelta(days=_NAMED[text]), "day")
    match = _AGO.fullmatch(text)
    if not match:
        return None
    word, unit = match["number"], match["unit"]
    number = int(word) if word.isdigit() else 1 if word in {"a", "an"} else _WORDS.index(word) + 1
    if unit.startswith("mo") or unit[0] == "y":
        years = number if unit[0] == "y" else 0
        back: relativedelta | timedelta = relativedelta(
            years=years, months=number if not years else 0
        )
    else:
        back = timedelta(days=number * _SECONDS[unit[0]] // 86400)
    try:
        return PartialDate(as_of - back, "day")
    except (OverflowError, ValueError):
        return None


def _absolute(text: str, as_of: date) -> PartialDate | None:
    single = _single(text, as_of)
    if single:
        return single
    parts = [part for part in _RANGE.split(text) if part]
    if len(parts) != 2:
        return None
    start, end = parts
    first_month = re.search(_MONTH, start)
    if re.fullmatch(r"\d\d", end) and re.fullmatch(r"(19|20)\d\d", start):
        end = start[:2] + end
    elif re.match(r"\d", end) and not re.search(_MONTH, end) and first_month:
        end = f"{first_month[0]} {end}"
    return _single(end, as_of) if _single(end, as_of) and re.search(r"\d", start) else None


def _single(text: str, as_of: date) -> PartialDate | None:
    for pattern in _ABSOLUTE:
        match = pattern.fullmatch(text)
        if match:
            return _build(match.groupdict(), as_of)
    return None


def _build(parts: dict[str, str | None], as_of: date) -> PartialDate | None:
    year, day = parts.get("year"), parts.get("day")
    month = MONTHS.get(parts.get("month") or "") or int(parts.get("monthnumber") or 0)
    try:
        if year and month and day:
            return PartialDate(date(int(year), month, int(day)), "day")
        if year and month:
            return PartialDate(date(int(year), month, 1), "month")
        if year:
            return PartialDate(date(int(year), 1, 1), "year")
        return PartialDate(_last_occurrence(month, int(day or 0), as_of), "day")
    except ValueError:
        return None


def _last_occurrence(month: int, day: int, as_of: date) -> date:
    """Newest such day up to `as_of`; ValueError if there is none in the last eight years."""
    for year in range(as_of.year, as_of.year - 9, -1):
        try:
            candidate = date(year, month, day)
        except ValueError:
            continue
        if candidate <= as_of:
            return candidate
    raise ValueError(f"no day {month}/{day} before {as_of}")
