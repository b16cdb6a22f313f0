"""Weeks that were begun with a live engine: finished, replayed, given up, edited later."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path

import pytest

from fresh_assets.benchmark.imports import Source
from fresh_assets.partitions import this_week
from fresh_assets.refresh import Platform, RefreshError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Query, sha256
from fresh_assets_tests.benchmark.files import as_csv, row, rows
from fresh_assets_tests.conftest import SEARCH_ANSWER, settings_of
from fresh_assets_tests.search.payloads import SERPAPI, WIKIPEDIA
from fresh_assets_tests.web_server import Got, Page, json_page, web_server

VERSION = date(2026, 1, 5)
LAST_WEEK = this_week() - timedelta(weeks=1)
NUMBER = 40


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPAPI_API_KEY", "sk-search-1")


@contextmanager
def platform_of(home: Path, failing: set[str], **options: object) -> Iterator[Platform]:
    """A home whose SerpApi fails on the questions `failing`."""

    def page(got: Got, _: int) -> Page:
        return Page(status=400) if got.params["q"] in failing else json_page(SERPAPI)

    with web_server(page) as server:
        engines = home / "engines.toml"
        home.mkdir(exist_ok=True)
        engines.write_text(f'[serpapi]\ntype = "serpapi"\nurl = "{server.url}/s"\ntries = 1\n')
        platform = Platform(
            settings_of(home, SEARCH_ANSWER, engines_file=engines, max_unrated=1, **options)
        )
        platform.import_version(as_csv(rows(number=NUMBER)), Source(VERSION, "v.csv"))
        platform.refresh_benchmark(lambda _: None)
        yield platform


def question(number: int) -> str:
    return f"What is the name of thing number {number}?"


def begin(platform: Platform, week: date, number: int) -> None:
    """Archive live results of the first questions of a week."""
    payload = json.dumps(SERPAPI).encode()
    with platform.warehouse.reader() as con:
        asked = con.sql(
            "SELECT question_key, question FROM freshqa.current_questions ORDER BY id"
        ).fetchall()
    for key, text in asked[:number]:
        query = Query(week, "serpapi", text, week, sha256(payload), 1, None)
        platform.archive.put_query(query, payload, VERSION, [key])


def refresh(platform: Platform, week: date) -> None:
    platform.refresh(week, [], lambda _: None)


def engines_of(platform: Platform, week: date) -> dict[str, int]:
    with platform.warehouse.reader() as con:
        found = con.execute(
            "SELECT engine, count(*) FROM search.results WHERE week = ? GROUP BY ALL", [week]
        )
        return dict(found.fetchall())


def test_a_week_that_was_not_finished_is_told_and_can_be_imported_later(tmp_path: Path) -> None:
    with platform_of(tmp_path, set()) as platform:
        begin(platform, LAST_WEEK, 5)
        with pytest.raises(RefreshError, match="35 of 40 questions were not searched"):
            refresh(platform, LAST_WEEK)
        saved = [
            {"search_parameters": {"q": question(i)}, "organic_results": SERPAPI["organic_results"]}
            for i in range(NUMBER)
        ]
        platform.import_snapshot(json.dumps(saved).encode(), "saved.json", LAST_WEEK, VERSION, None)
        refresh(platform, LAST_WEEK)
        assert engines_of(platform, LAST_WEEK) == {"recorded": NUMBER}
        assert platform.refresh(LAST_WEEK, [], lambda _: None) == []


def test_a_finished_week_is_replayed_without_a_key_and_after_a_small_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with platform_of(tmp_path, set()) as platform:
        begin(platform, LAST_WEEK, NUMBER)
        monkeypatch.delenv("SERPAPI_API_KEY")
        refresh(platform, LAST_WEEK)
        edited = as_csv(
            rows(row(3, question="Which vessel did the old harbour master paint?"), number=NUMBER)
        )
        platform.import_version(edited, Source(VERSION, "v2.csv"))
        refresh(platform, LAST_WEEK)
        assert engines_of(platform, LAST_WEEK) == {"serpapi": NUMBER}


def test_another_engine_takes_the_place_of_one_that_failed(tmp_path: Path) -> None:
    with platform_of(tmp_path, {question(i) for i in range(NUMBER)}, engine="serpapi") as platform:
        begin(platform, this_week(), 5)
        with pytest.raises(RefreshError, match="serpapi was stopped: .*HTTP 400"):
            refresh(platform, this_week())
    with web_server(lambda *_: json_page(WIKIPEDIA)) as wikipedia:
        engines = tmp_path / "engines.toml"
        engines.write_text(
            f'{engines.read_text()}\n[w]\ntype = "wikipedia"\nurl = "{wikipedia.url}"\n'
        )
        chosen = settings_of(
            tmp_path, SEARCH_ANSWER, engines_file=engines, engine="w", max_unrated=1
        )
        other = Platform(chosen)
        refresh(other, this_week())
    assert engines_of(other, this_week()) == {"w": NUMBER}


@pytest.mark.parametrize(
    ("allowed", "failing", "passes"), [(0.3, 12, True), (0.1, 12, False), (0, 1, False)]
)
def test_a_share_may_be_unsearched(
    tmp_path: Path, allowed: float, failing: int, passes: bool
) -> None:
    scattered = {question(3 * i) for i in range(failing)}
    with platform_of(tmp_path, scattered, engine="serpapi", max_unsearched=allowed) as platform:
        if passes:
            refresh(platform, this_week())
            assert engines_of(platform, this_week()) == {"serpapi": NUMBER - failing}
        else:
            with pytest.raises(RefreshError, match=f"could not search {failing} of 40 questions"):
                refresh(platform, this_week())


def test_half_an_emoji_in_a_reply_does_not_stop_the_week(tmp_path: Path) -> None:
    with platform_of(tmp_path, set(), engine="serpapi") as platform:
        begin(platform, this_week(), NUMBER - 1)
        with platform.warehouse.reader() as con:
            key, text = con.execute(
                "SELECT question_key, question FROM freshqa.current_questions WHERE id = ?",
                [NUMBER - 1],
            ).fetchall()[0]
        payload = (
            b'{"organic_results": [{"title": "cut \\ud83d", "link": "https://x\\ud83d.example/"}]}'
        )
        query = Query(this_week(), "serpapi", text, this_week(), sha256(payload), 1, None)
        platform.archive.put_query(query, payload, VERSION, [key])
        refresh(platform, this_week())
        with platform.warehouse.reader() as con:
            titles = con.execute(
                "SELECT title FROM search.evidence WHERE question_key = ?", [key]
            ).fetchall()
    assert titles == [("cut ?",)]


def test_an_unreachable_list_of_versions_does_not_stop_a_refresh(tmp_path: Path) -> None:
    with platform_of(tmp_path, set()) as platform:
        begin(platform, LAST_WEEK, NUMBER)
    with web_server(lambda *_: Page(status=403)) as server:
        settings = Settings.model_validate(
            {**platform.settings.model_dump(), "upstream": f"{server.url}/R.md"}
        )
        told: list[str] = []
        Platform(settings).refresh(LAST_WEEK, [], told.append)
    assert any("could not be read, going on without it" in line for line in told)
