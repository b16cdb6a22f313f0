"""Fixtures shared by the rooms: a warehouse, the real FreshQA files, a refreshed demo world."""

import os
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

os.environ["DAGSTER_DISABLE_TELEMETRY"] = "yes"

from fresh_assets.benchmark.imports import Source
from fresh_assets.demo.files import REFERENCES, Demo, make_demo, write_demo
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse

SHARED = Path(__file__).parents[2] / "shared"
DEMO_WEEK = date(2026, 2, 9)
SEARCH_ANSWER = '[systems.search-answer]\nmethod = "search_answer"\n'


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest file first, so that no worker waits for it at the end."""
    items.sort(key=lambda item: "test_day.py" not in item.nodeid)


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb", lock_timeout=30)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "archive.sqlite")


@pytest.fixture(scope="session")
def real() -> Path:
    """Folder of real FreshQA versions, searches and ratings, which are not part of the project."""
    folder = SHARED / "freshqa"
    if not folder.exists():
        pytest.skip(f"the real FreshQA files are not at {folder}")
    return folder


def settings_of(home: Path, systems: str = SEARCH_ANSWER, **more: Any) -> Settings:
    """Settings of a home whose systems file holds `systems`."""
    home.mkdir(parents=True, exist_ok=True)
    file = home / "systems.toml"
    file.write_text(systems)
    return Settings(home=home, systems_file=file, **more)


def demo_platform(home: Path, demo: Demo, systems: tuple[str, ...] = REFERENCES) -> Platform:
    """Import a demo world into `home`, as `fresh-assets demo` does."""
    platform = Platform(settings_of(home))
    write_demo(demo, home)
    for day in demo.days:
        file = home / "demo" / "versions" / f"{day}.csv"
        platform.import_version(file.read_bytes(), Source(day, file.name, "demo"))
    for system in systems:
        file = home / "demo" / "answers" / system / f"{demo.days[-1]}.csv"
        platform.import_answers(file.read_bytes(), file.name, demo.days[-1], system)
    return platform


@pytest.fixture(scope="session")
def demo() -> Demo:
    return make_demo(60)


@pytest.fixture(scope="session")
def refreshed(tmp_path_factory: pytest.TempPathFactory, demo: Demo) -> Iterator[Platform]:
    """A demo home whose last week is refreshed and published; tests only read it."""
    platform = demo_platform(tmp_path_factory.mktemp("home"), demo)
    platform.refresh(DEMO_WEEK, [], lambda _: None)
    yield platform
    platform.instance.dispose()
