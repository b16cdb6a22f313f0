"""The Dagster UI in a real browser: lineage, partitions and checks of a refreshed home."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from fresh_assets.refresh import Platform
from fresh_assets_tests.dagster_ui import browser_page, dagster_ui

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(refreshed: Platform) -> Iterator[str]:
    with dagster_ui(refreshed.settings.home) as url:
        yield url


@pytest.fixture
def page() -> Iterator[Page]:
    with browser_page() as opened:
        yield opened


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
    expect(page.get_by_text("rows").first).to_be_visible()


def test_schedules_are_listed(page: Page, address: str) -> None:
    page.goto(f"{address}/automation")
    expect(page.get_by_text("weekly_refresh").first).to_be_visible(timeout=30_000)
