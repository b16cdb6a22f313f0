"""What is configured, what is missing, and how to mend it."""

import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

from fresh_assets.answers.systems import read_systems
from fresh_assets.errors import UserError
from fresh_assets.search.engines import make_engine
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.publish import latest, open_latest
from fresh_assets.web.fetch import place_of

NETWORK_FILESYSTEMS = {"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"}


@dataclass(frozen=True)
class Finding:
    """One thing looked at; `state` is ok, note (works, but) or broken (will fail)."""

    state: str
    subject: str
    text: str


def examine(settings: Settings) -> list[Finding]:
    """Look at the whole set-up; never raises for what a person can mend."""
    return [
        *_environment(),
        *_home(settings),
        *_guarded("warehouse", _warehouse(settings)),
        *_guarded("archive", _archive(settings)),
        *_guarded("systems", _systems(settings)),
        *_upstream(settings),
        *_guarded("search", _search(settings)),
        *_guarded("published file", _published(settings)),
    ]


def _guarded(subject: str, findings: Iterator[Finding]) -> list[Finding]:
    try:
        return list(findings)
    except (UserError, OSError, duckdb.Error, sqlite3.Error) as error:
        return [Finding("broken", subject, str(error))]


def _environment() -> Iterator[Finding]:
    known = {f"FRESH_ASSETS_{name}".upper() for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.startswith("FRESH_ASSETS_") and name not in known:
            yield Finding("note", name, f"no such setting; there are {', '.join(sorted(known))}")


def _home(settings: Settings) -> Iterator[Finding]:
    home = settings.home.resolve()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    if not existing.is_dir():
        yield Finding("broken", "home", f"{existing} is no folder: set FRESH_ASSETS_HOME")
    elif not os.access(existing, os.W_OK):
        yield Finding("broken", "home", f"{home} cannot be written: set FRESH_ASSETS_HOME")
    elif _filesystem(existing) in NETWORK_FILESYSTEMS:
        yield Finding("note", "home", f"{home} is on a network file system, where locks may fail")
    else:
        yield Finding("ok", "home", str(home))


def _filesystem(folder: Path) -> str:
    mounts = Path("/proc/mounts")
    if not mounts.exists():
        return ""
    entries = (line.split() for line in mounts.read_text(encoding="utf-8").splitlines())
    fitting = [
        (len(e[1]), e[2]) for e in entries if folder.is_relative_to(e[1].replace("\\040", " "))
    ]
    return max(fitting)[1] if fitting else ""


def _warehouse(settings: Settings) -> Iterator[Finding]:
    if not settings.warehouse_file.exists():
        yield Finding(
            "note", "warehouse", "empty: `fresh-assets demo` or `fresh-assets import-version`"
        )
        return
    with Warehouse(settings.warehouse_file, lock_timeout=2).reader() as con:
        versions, newest = con.execute(
            "SELECT count(DISTINCT version), max(version) FROM freshqa.revisions"
        ).fetchall()[0]
    state = "ok" if versions else "note"
    yield Finding(state, "warehouse", f"{versions} versions, newest {newest}")


def _archive(settings: Settings) -> Iterator[Finding]:
    if settings.archive_file.exists():
        weeks = Archive(settings.archive_file).weeks()
        yield Finding("ok", "archive", f"search results of {len(weeks)} weeks")


def _systems(settings: Settings) -> Iterator[Finding]:
    names = ", ".join(read_systems(settings.systems_toml).systems)
    yield Finding("ok" if names else "note", "systems", names or "none; name some in systems.toml")


def _search(settings: Settings) -> Iterator[Finding]:
    for name in settings.engines:
        try:
            make_engine(name, settings)
        except UserError as error:
            yield Finding("broken", "search", str(error))
        else:
            yield Finding("ok", "search", f"{name} searches the questions of a new week")


def _upstream(settings: Settings) -> Iterator[Finding]:
    if re.match("https?://", settings.upstream):
        yield Finding("ok", "upstream", f"versions are listed at {place_of(settings.upstream)}")
    elif settings.upstream:
        state = "ok" if Path(settings.upstream).is_file() else "broken"
        told = "is the list of versions" if state == "ok" else "is neither a file nor http(s)://"
        yield Finding(state, "upstream", f"{settings.upstream} {told}")
    else:
        told = "FRESH_ASSETS_UPSTREAM is not set: versions come from files you import"
        yield Finding("note", "upstream", told)


def _published(settings: Settings) -> Iterator[Finding]:
    if not settings.published.exists():
        yield Finding("note", "published file", "none yet: `fresh-assets refresh`")
        return
    with open_latest(settings.published) as con:
        con.execute("FROM _snapshot").fetchall()
    yield Finding("ok", "published file", str(latest(settings.published)))
