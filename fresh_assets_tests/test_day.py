"""A week in the life, by automation alone: a new version appears, is imported, searched, answered by
three systems, judged and published, and all of it is seen in the UI."""

import os
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from fresh_assets.partitions import this_week
from fresh_assets.warehouse.publish import latest
from fresh_assets_tests.benchmark.files import as_csv, row, rows
from fresh_assets_tests.benchmark.upstream_server import serve
from fresh_assets_tests.conftest import settings_of
from fresh_assets_tests.dagster_ui import browser_page, dagster_ui, graphql
from fresh_assets_tests.openai_server import Reply, openai_server
from fresh_assets_tests.search.payloads import SERPAPI
from fresh_assets_tests.web_server import json_page, web_server

DOCS = Path(__file__).parents[1] / "docs"
SYSTEMS = """
[endpoints.loopback]
url = "{url}"
[systems.search-answer]
method = "search_answer"
[systems."m/closed-book"]
method = "closed_book"
endpoint = "loopback"
model = "m"
[systems."m/freshprompt"]
method = "freshprompt"
endpoint = "loopback"
model = "m"
"""
REPOSITORY = (
    "{ repositoriesOrError { ... on RepositoryConnection { nodes { name location { name } } } } }"
)
DRY_RUN = """
mutation ($selector: ScheduleSelector!, $timestamp: Float) {
  scheduleDryRun(selectorData: $selector, timestamp: $timestamp) {
    ... on DryRunInstigationTick {
      evaluationResult { runRequests { tags { key value } } error { message } }
    }
  }
}
"""
LAUNCH = """
mutation ($params: ExecutionParams!) {
  launchRun(executionParams: $params) { __typename ... on PythonError { message } }
}
"""
FAILED_RUNS = "{ runsOrError(filter: {statuses: [FAILURE]}) { ... on Runs { results { jobName tags { key value } } } } }"

pytestmark = pytest.mark.slow


def tick_monday(address: str, monday: date) -> None:
    """Launch what the weekly schedule asks for at its tick, as the UI's own button does."""
    (repository,) = graphql(address, REPOSITORY)["repositoriesOrError"]["nodes"]
    place = {
        "repositoryName": repository["name"],
        "repositoryLocationName": repository["location"]["name"],
    }
    six = datetime(monday.year, monday.month, monday.day, 6, tzinfo=UTC)
    ticked = graphql(
        address,
        DRY_RUN,
        selector={**place, "scheduleName": "weekly_refresh"},
        timestamp=six.timestamp(),
    )
    (request,) = ticked["scheduleDryRun"]["evaluationResult"]["runRequests"]
    params = {
        "selector": {**place, "pipelineName": "weekly_snapshot"},
        "mode": "default",
        "runConfigData": {},
        "executionMetadata": {"tags": request["tags"]},
    }
    launched = graphql(address, LAUNCH, params=params)["launchRun"]
    assert launched["__typename"] == "LaunchRunSuccess", launched


def wait_for(what: str, done: Callable[[], bool], seconds: float = 420) -> None:
    until = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < until, f"{what} did not come"
        time.sleep(1)


def rows_of(folder: Path, query: str) -> list[tuple[object, ...]]:
    """Rows of the published file; none while nothing is published."""
    if not (folder / "latest.duckdb").exists():
        return []
    with duckdb.connect(str(latest(folder)), read_only=True) as con:
        return con.sql(query).fetchall()


def shot(page: BrowserPage, name: str) -> None:
    """Keep what the browser shows, for the docs."""
    if os.environ.get("FRESH_ASSETS_WRITE"):
        page.wait_for_timeout(1500)
        page.screenshot(path=DOCS / f"{name}.png")


def test_a_new_version_is_evaluated_and_published_by_automation(tmp_path: Path) -> None:
    week = this_week()
    old = week - timedelta(weeks=1)
    contents = {
        day: as_csv(rows(row(1, answer_0=f"Thing of {day}"), number=12)) for day in (old, week)
    }
    with (
        serve({old: contents[old]}) as upstream,
        web_server(lambda *_: json_page(SERPAPI)) as search,
        openai_server(lambda *_: Reply("Thing 2")) as models,
    ):
        assert upstream.server
        home = settings_of(tmp_path, SYSTEMS.format(url=models.url))
        engines = tmp_path / "engines.toml"
        engines.write_text(f'[serpapi]\ntype = "serpapi"\nurl = "{search.url}/search"\n')
        environment = {
            "FRESH_ASSETS_SYSTEMS_FILE": str(home.systems_file),
            "FRESH_ASSETS_ENGINES_FILE": str(engines),
            "FRESH_ASSETS_ENGINE": "serpapi",
            "FRESH_ASSETS_UPSTREAM": f"{upstream.server.url}/README.md",
            "FRESH_ASSETS_SHEETS": upstream.server.url,
            "FRESH_ASSETS_UPSTREAM_INTERVAL": "10",
            "FRESH_ASSETS_AUTOMATION_INTERVAL": "5",
            "FRESH_ASSETS_AUTOMATION": "true",
            "SERPAPI_API_KEY": "sk-search-1234",
        }
        with dagster_ui(tmp_path, **environment) as address:
            published = "SELECT DISTINCT version FROM freshqa.questions ORDER BY 1"
            wait_for("the first version", lambda: (old,) in rows_of(home.published, published))
            upstream.versions[week] = contents[week]
            wait_for("the new version", lambda: (week,) in rows_of(home.published, published))
            tick_monday(address, week)
            accuracy = "SELECT DISTINCT week, version, system FROM mart.accuracy ORDER BY ALL"
            expected = [
                (week, week, s) for s in ("m/closed-book", "m/freshprompt", "search-answer")
            ]
            wait_for("the week", lambda: rows_of(home.published, accuracy) == expected)
            assert graphql(address, FAILED_RUNS)["runsOrError"]["results"] == []
            assert len(search.requests) == 12
            assert len(models.requests) == 24
            with browser_page() as page:
                look(page, address, week)


def look(page: BrowserPage, address: str, week: date) -> None:
    page.goto(f"{address}/asset-groups")
    for room in ("benchmark", "search", "answers", "judging", "scoring", "publish"):
        expect(page.get_by_text(room, exact=True).first).to_be_visible(timeout=30_000)
    shot(page, "lineage")
    page.goto(f"{address}/assets/eval/answers?view=partitions")
    expect(page.get_by_text("m/freshprompt").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Materialized (3)")).to_be_visible()
    expect(page.get_by_text("Failed (0)")).to_be_visible()
    shot(page, "partitions")
    page.goto(f"{address}/assets/search/results?view=checks")
    expect(page.get_by_text("complete").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text("0 of 12 questions were not searched").first).to_be_visible()
    page.goto(f"{address}/runs")
    expect(page.get_by_text("weekly_snapshot").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text(str(week)).first).to_be_visible()
    shot(page, "runs")
    page.goto(f"{address}/automation")
    for name in ("weekly_refresh", "new_versions", "follow", "watch"):
        expect(page.get_by_text(name, exact=True).first).to_be_visible(timeout=30_000)
