"""The upstream list of versions: README text or a history CSV, every irregular entry accounted for.

An entry that is no version keeps its place in the list with the reason; none is dropped.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime

import polars as pl

from fresh_assets.errors import BadInputError

_LINK = re.compile(
    r"\[(?P<label>[^\[\]]+)\]\s*\(?\s*(?P<url>https?://docs\.google\.com/spreadsheets/[^\s)\]]+)"
)
_UNLINKED = re.compile(r"\[(?P<label>FreshQA [^\[\]]+)\](?!\s*\(?\s*https?://)")
_LABEL = re.compile(
    r"FreshQA\s+(?P<month>[A-Za-z]+)\.?\s+(?P<day>\d{1,2})(?:,?\s+(?P<year>\d{4}))?"
)
_NEXT_UPDATE = re.compile(r"\*\*Next update:?\*\*:?\s*(?P<when>[^\n]+)")
_SHEET = re.compile(r"/spreadsheets/d/(?P<id>[\w-]+)")
_RESOURCE_KEY = re.compile(r"[?&]resourcekey=(?P<key>[\w-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Entry:
    """One entry of the list; `version` is None exactly where `problem` says why."""

    position: int
    label: str
    version: date | None = None
    sheet_id: str | None = None
    resource_key: str | None = None
    next_update: date | None = None
    note: str | None = None
    problem: str | None = None

    def noting(self, note: str) -> "Entry":
        """Return the entry with a further note."""
        return replace(self, note=f"{self.note}; {note}" if self.note else note)


def parse_index(text: str, source: str) -> list[Entry]:
    """Parse README text or a history CSV, newest entry first.

    An index without any version is refused, so that a changed page never empties the table.
    """
    entries = parse_history(text) if _is_history(text) else parse_readme(text)
    if not any(entry.version for entry in entries):
        raise BadInputError(
            source, "no FreshQA version is listed", "Give the upstream README or a history CSV"
        )
    return entries


def _is_history(text: str) -> bool:
    header = text.lstrip("\ufeff").partition("\n")[0]
    return {"version_date", "sheet_id"} <= set(next(csv.reader([header]), []))


def merge_entries(newest: Sequence[Entry], older: Sequence[Entry]) -> list[Entry]:
    """The list, then what only `older` has; positions go on."""
    listed = {entry.version for entry in newest}
    added = [entry for entry in older if entry.version not in listed]
    return _cross_checked([replace(entry, position=i) for i, entry in enumerate([*newest, *added])])


def as_frame(entries: Sequence[Entry]) -> pl.DataFrame:
    """Content rows of freshqa.version_index."""
    types = {"position": pl.Int32, "version": pl.Date, "next_update": pl.Date}
    schema = {name: types.get(name, pl.String) for name in Entry.__dataclass_fields__}
    return pl.DataFrame([asdict(entry) for entry in entries], schema=schema)


def check_history(text: str, source: str) -> list[Entry]:
    """Entries of a history CSV that a person gives; BadInputError names the first wrong row."""
    if not _is_history(text):
        raise BadInputError(
            source, "no columns version_date and sheet_id", "Give them, and resourcekey if needed"
        )
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    if not rows:
        raise BadInputError(source, "no versions in it", "Give a row for each")
    for number, row in enumerate(rows, 2):
        place = f"row {number}"
        if not _iso_date(row["version_date"] or ""):
            problem = f"version_date {row['version_date']!r} is no date"
            raise BadInputError(source, problem, "Write YYYY-MM-DD", place)
        if not re.fullmatch(r"[\w-]{10,100}", row["sheet_id"] or ""):
            problem = f"sheet_id {row['sheet_id']!r} is no id of a sheet"
            raise BadInputError(source, problem, "Take it from the sheet's address", place)
    entries = parse_history(text)
    if twice := next((e for e in entries if e.problem), None):
        raise BadInputError(source, twice.problem or "", "Keep one of them")
    return entries


def parse_readme(text: str) -> list[Entry]:
    """Entries of the README: every spreadsheet link, in order, with irregular labels resolved."""
    found = sorted([*_LINK.finditer(text), *_UNLINKED.finditer(text)], key=lambda m: m.start())
    entries = [_from_link(position, match) for position, match in enumerate(found)]
    entries = _with_years(entries, [m["label"] for m in found])
    return _with_next_update(_cross_checked(entries), text)


def parse_history(text: str) -> list[Entry]:
    """Entries of a CSV with version_date, sheet_id and optionally label, resourcekey."""
    rows = list(csv.DictReader(io.StringIO(text.lstrip("\ufeff"))))
    dated = [(row, _iso_date(row.get("version_date") or "")) for row in rows]
    dated.sort(key=lambda pair: pair[1] or date.min, reverse=True)
    entries = [
        Entry(
            position,
            row.get("label") or row.get("version_date") or "",
            version=version,
            sheet_id=row.get("sheet_id") or None,
            resource_key=row.get("resourcekey") or None,
            problem=None if version else f"version_date {row.get('version_date')!r} is no date",
        )
        for position, (row, version) in enumerate(dated)
    ]
    return _cross_checked(entries)


def _from_link(position: int, match: re.Match[str]) -> Entry:
    label = " ".join(match["label"].split())
    url = match.groupdict().get("url")
    sheet = _SHEET.search(url or "")
    key = _RESOURCE_KEY.search(url or "")
    entry = Entry(
        position,
        label,
        sheet_id=sheet["id"] if sheet else None,
        resource_key=key["key"] if key else None,
    )
    if url and "](" not in match[0].replace(" ", ""):
        entry = entry.noting("link repaired: no parenthesis after the label")
    parsed = _LABEL.fullmatch(label)
    if not parsed:
        return replace(entry, problem="the label is not 'FreshQA <month> <day>, <year>'")
    if not url:
        return replace(entry, problem="the label has no link to a sheet")
    if not sheet:
        return replace(entry, problem="the link holds no sheet id")
    if not _month(parsed["month"]):
        return replace(entry, problem=f"{parsed['month']!r} is no month")
    if not parsed["year"]:
        return entry
    version = _date(int(parsed["year"]), parsed["month"], parsed["day"])
    return replace(entry, version=version, problem=None if version else "no such day")


def _with_years(entries: Sequence[Entry], labels: Sequence[str]) -> list[Entry]:
    """Give entries without a year the year that fits between their dated neighbours."""
    resolved = list(entries)
    for i, entry in enumerate(entries):
        if entry.version or entry.problem:
            continue
        newer = next((e.version for e in reversed(resolved[:i]) if e.version), None)
        older = next((e.version for e in entries[i + 1 :] if e.version), None)
        label = _LABEL.fullmatch(" ".join(labels[i].split()))
        years = {d.year for d in (newer, older) if d}
        fitting = [
            day
            for year in sorted(years, reverse=True)
            if label
            and (day := _date(year, label["month"], label["day"]))
            and (newer is None or day <= newer)
            and (older is None or day >= older)
        ]
        resolved[i] = (
            replace(entry, version=fitting[0]).noting("year taken from the neighbours")
            if fitting
            else replace(entry, problem="no year, and none fits between the neighbours")
        )
    return resolved


def _cross_checked(entries: Sequence[Entry]) -> list[Entry]:
    """Refuse a second entry of a date; note shared sheets and entries out of order."""
    seen: set[date] = set()
    newest_below: date | None = None
    checked = []
    for entry in entries:
        current = entry
        if current.version in seen:
            current = replace(
                current, version=None, problem=f"{current.version} is already listed above"
            )
        if current.version:
            seen.add(current.version)
            if newest_below and current.version > newest_below:
                current = current.noting("out of order: newer than the entry above")
            newest_below = current.version
        checked.append(current)
    sheets = Counter(entry.sheet_id for entry in checked if entry.version and entry.sheet_id)
    return [
        entry.noting("several versions share this sheet")
        if entry.version and entry.sheet_id and sheets[entry.sheet_id] > 1
        else entry
        for entry in checked
    ]


def _with_next_update(entries: list[Entry], text: str) -> list[Entry]:
    newest = next((e for e in entries if e.version), None)
    match = _NEXT_UPDATE.search(text)
    if newest is None or newest.version is None:
        return entries
    if not match:
        noted = newest.noting("no next update is announced")
    else:
        when = match["when"].strip().strip("*").rstrip(".").strip()
        label = _LABEL.fullmatch(f"FreshQA {when}")
        day = label and label["year"] and _date(int(label["year"]), label["month"], label["day"])
        if not day:
            noted = newest.noting(f"next update {when!r} is no date")
        elif day <= newest.version:
            noted = replace(newest, next_update=day).noting(
                "the announced next update is not later"
            )
        else:
            noted = replace(newest, next_update=day)
    return [noted if entry.position == newest.position else entry for entry in entries]


def _month(name: str) -> int | None:
    for form in ("%B", "%b"):
        try:
            return datetime.strptime(name.title(), form).month  # noqa: DTZ007
        except ValueError:
            continue
    return 9 if name.lower() == "sept" else None


def _date(year: int, month: str, day: str) -> date | None:
    try:
        return date(year, _month(month) or 0, int(day))
    except ValueError:
        return None


def _iso_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None
