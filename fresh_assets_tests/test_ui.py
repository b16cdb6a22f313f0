"""The Dagster UI in a real browser: lineage, partitions and checks of a refreshed home."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Page, expect, sync_playwright

from fresh_assets.refresh import Platform

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(refreshed: Platform) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("fresh-assets")
    environment = {**os.environ, "FRESH_ASSETS_HOME": str(refreshed.settings.home)}
    process = subprocess.Popen(
        [program, "ui", "--port", str(port)], env=environment, start_new_session=True
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{url}/server_info")
        yield url
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(20)
        finally:
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None


def _wait(url: str) -> None:
    for _ in range(240):
        try:
            if requests.get(url, timeout=2).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.5)
    raise TimeoutError(url)


@pytest.fixture
def page() -> Iterator[Page]:
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; `.ci/run` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page(viewport={"width": 1600, "height": 1000})
        browser.close()


def test_lineage_shows_every_room(page: Page, address: str) -> None:
    page.goto(f"{address}/asset-groups")
    for room in ("benchmark", "search", "answers", "judging", "scoring", "publish"):
        expect(page.get_by_text(room, exact=True).first).to_be_visible(timeout=30_000)


def test_an_asset_shows_columns_owner_and_freshness(page: Page, address: str) -> None:
    page.goto(f"{address}/assets/mart/accuracy?view=overview")
    expect(page.get_by_text("Lower end of the 95 % Wilson interval of accuracy.")).to_be_visible(
        timeout=30_000
    )
    expect(page.get_by_text("mart.accuracy").first).to_be_visible()
    expect(page.get_by_text("Freshness policy").first).to_be_visible()


def test_partitions_are_versions_weeks_and_systems(page: Page, address: str) -> None:
    page.goto(f"{address}/assets/eval/answers?view=partitions")
    expect(page.get_by_text("demo/all-knowing").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("search-answer").first).to_be_visible()
    expect(page.get_by_placeholder("Filter by week")).to_be_visible()
    expect(page.get_by_text("Materialized (3)")).to_be_visible()


def test_checks_show_what_was_expected(page: Page, address: str) -> None:
    page.goto(f"{address}/assets/freshqa/questions?view=checks")
    expect(page.get_by_text("expectations met").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("column values to be in set (fact_type)").first).to_be_visible()


def test_schedules_are_listed(page: Page, address: str) -> None:
    page.goto(f"{address}/automation")
    expect(page.get_by_text("weekly_refresh").first).to_be_visible(timeout=30_000)
