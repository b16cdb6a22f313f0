"""Upstream over HTTP: the list of versions and the sheets they are published in."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from fresh_assets.benchmark.imports import Imported, Source, import_version
from fresh_assets.benchmark.version_index import (
    Entry,
    check_history,
    merge_entries,
    parse_history,
    parse_index,
)
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.web.fetch import Fetched, FetchError, Limits, Web, page_title, place_of

MOST_TABS = 20
FETCHES_AT_ONCE = 4
_GID = re.compile(rb"gid[=:]\W{0,6}(\d{1,12})")
_QUOTA = re.compile(
    rb"quota|try again later|unusual traffic|unable to open the file", re.IGNORECASE
)


@dataclass(frozen=True)
class Listed:
    """A version that upstream lists, and the sheet it is in.

    `overwritten_by`: a later version whose content the same sheet holds now.
    """

    version: date
    sheet_id: str
    resource_key: str | None
    overwritten_by: date | None


def make_web(settings: Settings) -> Web:
    """What upstream is fetched with."""
    return Web(Limits(allow_private=settings.allow_private))


def fetch_kept(web: Web, archive: Archive, url: str) -> bytes:
    """The content of `url`; it is sent again only if it changed since the last time."""
    place = place_of(url)
    last = archive.last_fetch(place)
    headers = {}
    if last and last.etag:
        headers["If-None-Match"] = last.etag
    if last and last.modified:
        headers["If-Modified-Since"] = last.modified
    fetched = web.get(url, headers=headers)
    if last and fetched.status == 304:
        return archive.get(last.content_hash)
    etag, modified = fetched.headers.get("etag"), fetched.headers.get("last-modified")
    archive.put_fetch(place, fetched.content, etag, modified)
    return fetched.content


def read_index(settings: Settings, archive: Archive) -> list[Entry]:
    """The upstream list, and after it the versions that only the imported list has."""
    source, kept = settings.upstream_index, settings.index_file
    older = parse_history(read_text(kept)) if kept.exists() else []
    if older and not settings.upstream and not Path(source).exists():
        return older
    if re.match(r"https?://", source):
        text = fetch_kept(make_web(settings), archive, source).decode("utf-8", "replace")
    else:
        text = read_text(Path(source))
    return merge_entries(parse_index(text, place_of(source)), older)


def read_text(file: Path) -> str:
    """Text of a file of the version index."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the version index {file} could not be read: {error}") from error


def keep_index(settings: Settings, content: bytes, file_name: str) -> int:
    """Keep a list of versions that the upstream list lacks; return how many it has."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInputError(file_name, "not UTF-8", "Save it as UTF-8") from error
    entries = check_history(text, file_name)
    file = settings.index_file
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(file)
    return len(entries)


def listed_versions(con: duckdb.DuckDBPyConnection) -> list[Listed]:
    """Versions of freshqa.version_index that have a sheet, oldest first."""
    rows = con.execute("""
        SELECT version, sheet_id, resource_key FROM freshqa.version_index
        WHERE version IS NOT NULL AND sheet_id IS NOT NULL ORDER BY version
    """).fetchall()
    return _listed(rows)


def listed_entries(entries: Iterable[Entry]) -> list[Listed]:
    """Entries that are versions with a sheet, oldest first."""
    found = ((e.version, e.sheet_id, e.resource_key) for e in entries)
    return _listed(sorted((v, s, k) for v, s, k in found if v and s))


def _listed(rows: Sequence[tuple[date, str, str | None]]) -> list[Listed]:
    newest = {sheet_id: version for version, sheet_id, _ in rows}
    return [
        Listed(version, sheet_id, key, newest[sheet_id] if newest[sheet_id] > version else None)
        for version, sheet_id, key in rows
    ]


def imported_versions(con: duckdb.DuckDBPyConnection) -> set[date]:
    """Versions that have a revision."""
    rows = con.execute("SELECT DISTINCT version FROM freshqa.revisions").fetchall()
    return {version for (version,) in rows}


def import_listed(
    warehouse: Warehouse, archive: Archive, settings: Settings, version: date
) -> Imported:
    """Fetch the sheet of a listed version and record it; unchanged rows make no new revision."""
    with warehouse.reader() as con:
        listed = {entry.version: entry for entry in listed_versions(con)}
    if version not in listed:
        raise UserError(
            f"version {version} is not in the upstream list: import its file, or a list that has "
            "it with `fresh-assets import-index`"
        )
    content = fetch_sheet(make_web(settings), settings.sheets, listed[version])
    return import_version(warehouse, archive, content, source_of(listed[version]))


def source_of(listed: Listed) -> Source:
    """Where the rows of a listed version come from."""
    return Source(listed.version, f"sheet {listed.sheet_id}")


def fetch_sheets(
    settings: Settings, wanted: Iterable[Listed]
) -> Iterator[tuple[Listed, Future[bytes]]]:
    """The sheets of `wanted`, in order; a few are fetched side by side, ahead of their turn."""
    web = make_web(settings)
    with ThreadPoolExecutor(FETCHES_AT_ONCE) as pool:
        ahead: deque[tuple[Listed, Future[bytes]]] = deque()
        for listed in wanted:
            ahead.append((listed, pool.submit(fetch_sheet, web, settings.sheets, listed)))
            if len(ahead) == FETCHES_AT_ONCE:
                yield ahead.popleft()
        yield from ahead


def fetch_sheet(web: Web, server: str, listed: Listed) -> bytes:
    """The tab of a sheet that holds the questions, as CSV.

    Without a tab's number the first is exported; if it is another one, the others are looked
    through. Raises UserError that says what a person must do.
    """
    if listed.overwritten_by:
        raise UserError(
            f"version {listed.version}: its sheet was overwritten by version "
            f"{listed.overwritten_by}, its own content is gone"
        )
    sheet = f"{server.rstrip('/')}/spreadsheets/d/{listed.sheet_id}"
    key = {"resourcekey": listed.resource_key} if listed.resource_key else {}
    content = _export(web, sheet, key, listed)
    if _holds_questions(content):
        return content
    page = _fetch(web, f"{sheet}/htmlview", key, listed).content
    for gid in list(dict.fromkeys(_GID.findall(page)))[:MOST_TABS]:
        content = _export(web, sheet, {**key, "gid": gid.decode()}, listed)
        if _holds_questions(content):
            return content
    raise _sheet_error(listed, "no tab of it has the columns of FreshQA")


def _export(web: Web, sheet: str, params: dict[str, str], listed: Listed) -> bytes:
    fetched = _fetch(web, f"{sheet}/export", {"format": "csv", **params}, listed)
    if problem := _page_problem(fetched):
        raise _sheet_error(listed, problem)
    return fetched.content


def _fetch(web: Web, url: str, params: dict[str, str], listed: Listed) -> Fetched:
    try:
        return web.get(url, params)
    except FetchError as error:
        raise _sheet_error(listed, error.problem) from error


def _sheet_error(listed: Listed, problem: str) -> UserError:
    return UserError(f"version {listed.version}, sheet {listed.sheet_id}: {problem}")


def _page_problem(fetched: Fetched) -> str | None:
    """What a page says that came in place of an export; None if it is no page."""
    start = fetched.content[:1000].lstrip().lower()
    if not start.startswith((b"<!doctype html", b"<html")):
        return None
    title = page_title(fetched.content) or "without title"
    if "ServiceLogin" in fetched.url or "sign in" in title.lower():
        return "it asks to sign in: it is not public, or its link needs a resourcekey"
    if _QUOTA.search(fetched.content):
        return f"the server's quota is used up ({title}): try again later"
    return f"a page came in place of the export ({title})"


def _holds_questions(content: bytes) -> bool:
    return b"effective_year" in content[:20_000] and b",TEST," in content
