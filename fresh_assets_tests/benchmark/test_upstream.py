"""Versions fetched from a loopback upstream: new, edited, moved, gone, and every way to fail."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from fresh_assets.benchmark.upstream import Listed, fetch_kept, fetch_sheet, keep_index
from fresh_assets.definitions import build_defs
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.web.fetch import Limits, Web
from fresh_assets_tests.benchmark.files import as_csv, row, rows
from fresh_assets_tests.benchmark.upstream_server import Upstream, serve, sheet_id
from fresh_assets_tests.web_server import Page, html_page

FIRST = date(2024, 1, 1)
QUICK = Web(Limits(tries=2, timeout=2, backoff=0.01))


def content(version: date, answer: str = "Thing") -> bytes:
    return as_csv(rows(row(1, answer_0=f"{answer} of {version}")))


def weekly(number: int) -> dict[date, bytes]:
    days = [FIRST + timedelta(weeks=i) for i in range(number)]
    return {day: content(day) for day in days}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with serve(weekly(4)) as served:
        yield served


def platform_of(home: Path, upstream: Upstream) -> Platform:
    return Platform(settings_of(home, upstream))


def settings_of(home: Path, upstream: Upstream) -> Settings:
    assert upstream.server
    url = upstream.server.url
    return Settings(home=home, upstream=f"{url}/README.md", sheets=url)


def quiet(_: str) -> None:
    pass


def test_all_listed_versions_are_imported_once(tmp_path: Path, upstream: Upstream) -> None:
    platform = platform_of(tmp_path, upstream)
    assert platform.sync(0, quiet).imported == tuple(sorted(upstream.versions))
    exports = list(upstream.exports)
    assert len(exports) == 4
    second = platform.sync(0, quiet)
    assert (second.imported, second.failed) == ((), ())
    assert upstream.exports == exports
    with platform.warehouse.reader() as con:
        assert con.sql(
            "SELECT count(*), count(DISTINCT version) FROM freshqa.questions"
        ).fetchall() == [(24, 4)]


def test_the_list_is_sent_only_when_it_changed(archive: Archive, upstream: Upstream) -> None:
    assert upstream.server
    url = f"{upstream.server.url}/README.md"
    first = fetch_kept(QUICK, archive, url)
    assert fetch_kept(QUICK, archive, url) == first
    upstream.versions[FIRST + timedelta(weeks=9)] = b""
    assert fetch_kept(QUICK, archive, url) == upstream.readme
    asked = [got.headers.get("if-none-match") for got in upstream.server.requests]
    assert asked[0] is None
    assert asked[1] == asked[2] is not None


def test_an_edit_in_place_is_a_revision(tmp_path: Path, upstream: Upstream) -> None:
    platform = platform_of(tmp_path, upstream)
    platform.sync(0, quiet)
    newest = max(upstream.versions)
    upstream.versions[newest] = content(newest, "Corrected thing")
    synced = platform.sync(3, quiet)
    assert (synced.imported, synced.unchanged) == ((newest,), 2)
    with platform.warehouse.reader() as con:
        revisions = con.execute(
            "SELECT revision FROM freshqa.revisions WHERE version = ?", [newest]
        ).fetchall()
    assert sorted(revisions) == [(1,), (2,)]


def test_a_version_that_fails_does_not_hold_up_the_others(
    tmp_path: Path, upstream: Upstream
) -> None:
    bad = FIRST + timedelta(weeks=1)
    upstream.faults[bad] = html_page("Sorry", "the quota of this file is exceeded")
    platform = platform_of(tmp_path, upstream)
    synced = platform.sync(0, quiet)
    assert len(synced.imported) == 3
    (failed,) = synced.failed
    assert f"version {bad}" in failed
    assert "quota is used up" in failed
    upstream.faults.clear()
    assert platform.sync(0, quiet).imported == (bad,)


def test_keys_and_other_tabs(tmp_path: Path, upstream: Upstream) -> None:
    upstream.keys[FIRST] = "0-rddWsLSn8"
    upstream.second_tab.add(FIRST + timedelta(weeks=1))
    assert len(platform_of(tmp_path, upstream).sync(0, quiet).imported) == 4


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (html_page("Sign in - Accounts"), "asks to sign in"),
        (html_page("Sorry, unable to open the file at this time"), "quota is used up"),
        (html_page("Something else"), r"a page came in place of the export \(Something else\)"),
        (html_page("Not Found", status=404), r"HTTP 404 \(Not Found\): not there"),
        (html_page("Error", status=403), r"HTTP 403 \(Error\): no access"),
        (Page(b"id,split\n" * 100, cut=50), "the reply was cut off"),
        (Page(status=500), "HTTP 500"),
        (Page(b"a,b\n1,2\n"), "no tab of it has the columns of FreshQA"),
    ],
    ids=["sign-in", "quota", "page", "404", "403", "cut", "500", "other table"],
)  # fmt: skip
def test_each_failure_of_an_export_has_its_own_words(
    upstream: Upstream, fault: Page, told: str
) -> None:
    assert upstream.server
    upstream.faults[FIRST] = fault
    with pytest.raises(UserError, match=f"version {FIRST}, sheet .*: .*{told}"):
        fetch_sheet(QUICK, upstream.server.url, Listed(FIRST, sheet_id(FIRST), None, None))


def test_a_missing_key_asks_to_sign_in(upstream: Upstream) -> None:
    assert upstream.server
    upstream.keys[FIRST] = "0-x"
    with pytest.raises(UserError, match="needs a resourcekey"):
        fetch_sheet(QUICK, upstream.server.url, Listed(FIRST, sheet_id(FIRST), None, None))


def test_a_cut_export_without_length_is_refused(tmp_path: Path, upstream: Upstream) -> None:
    whole = as_csv(rows(number=40))
    upstream.versions = {FIRST: whole, FIRST + timedelta(weeks=1): whole[: len(whole) // 2]}
    synced = platform_of(tmp_path, upstream).sync(0, quiet)
    assert synced.imported == (FIRST,)
    assert "only" in synced.failed[0] or "row" in synced.failed[0]


def test_versions_that_are_no_longer_listed_come_from_an_index(
    tmp_path: Path, upstream: Upstream
) -> None:
    upstream.listed = 2
    settings = settings_of(tmp_path, upstream)
    assert len(Platform(settings).sync(0, quiet).imported) == 2
    older = sorted(upstream.versions)[:2]
    lines = [f"{version},{sheet_id(version)},," for version in older]
    gone = f"2023-12-25,{sheet_id(older[0])},,"
    text = "\n".join(["version_date,sheet_id,label,resourcekey", gone, *lines])
    assert keep_index(settings, text.encode(), "index.csv") == 3
    synced = Platform(settings).sync(0, quiet)
    assert synced.imported == tuple(older)
    assert [(e.version, e.overwritten_by) for e in synced.gone] == [(date(2023, 12, 25), older[0])]
    assert Platform(settings).sync(0, quiet).imported == ()


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("soon,1abcdefghijkl,,", "row 2: version_date 'soon' is no date"),
        ("2026-01-05,x y,,", "row 2: sheet_id 'x y' is no id"),
        ("2026-01-05,1abcdefghijkl,,\n2026-01-05,1abcdefghijkm,,", "already listed"),
    ],
)
def test_a_wrong_index_names_its_row_and_leaves_the_old_one(
    tmp_path: Path, line: str, told: str
) -> None:
    settings = Settings(home=tmp_path)
    good = b"version_date,sheet_id\n2026-01-05,1abcdefghijkl\n"
    keep_index(settings, good, "good.csv")
    with pytest.raises(BadInputError, match=told):
        keep_index(settings, f"version_date,sheet_id,label,resourcekey\n{line}\n".encode(), "i.csv")
    with pytest.raises(BadInputError, match="no columns version_date and sheet_id"):
        keep_index(settings, b"date,sheet\n1,2\n", "i.csv")
    assert settings.index_file.read_bytes() == good


def test_real_index_lists_87_versions(tmp_path: Path, real: Path) -> None:
    file = real / "upstream_versions.csv"
    platform = Platform(Settings(home=tmp_path))
    assert keep_index(platform.settings, file.read_bytes(), file.name) == 87
    platform.refresh_benchmark(quiet)
    with platform.warehouse.reader() as con:
        assert con.sql("SELECT count(DISTINCT version) FROM freshqa.version_index").fetchall() == [
            (87,)
        ]


def tick(
    platform: Platform, cursor: str | None
) -> tuple[dg.SensorResult | dg.SkipReason, str | None]:
    context = dg.build_sensor_context(
        instance=platform.instance,
        cursor=cursor,
        resources={"warehouse": platform.warehouse, "archive": platform.archive},
    )
    result = build_defs(platform.settings).resolve_sensor_def("new_versions")(context)
    assert isinstance(result, dg.SensorResult | dg.SkipReason)
    return result, context.cursor


def test_the_sensor_asks_for_new_versions_and_weekly_for_the_newest(
    tmp_path: Path, upstream: Upstream
) -> None:
    platform = platform_of(tmp_path, upstream)
    result, cursor = tick(platform, None)
    assert isinstance(result, dg.SensorResult)
    (added,) = result.dynamic_partitions_requests or []
    wanted = sorted(map(str, upstream.versions))
    assert sorted(added.partition_keys) == wanted
    assert sorted(str(r.partition_key) for r in result.run_requests or []) == wanted
    platform.sync(0, quiet)
    result, cursor = tick(platform, cursor)
    assert isinstance(result, dg.SkipReason)
    assert "no new version among the 4" in str(result.skip_message)
    last_week = str(date.fromisoformat(str(cursor)) - timedelta(weeks=1))
    result, cursor = tick(platform, last_week)
    assert isinstance(result, dg.SensorResult)
    assert sorted(str(r.partition_key) for r in result.run_requests or []) == wanted[1:]
    today = datetime.now(UTC).date()
    assert cursor == str(today - timedelta(days=today.weekday()))


def test_the_sensor_leaves_overwritten_versions_alone(tmp_path: Path, upstream: Upstream) -> None:
    settings = settings_of(tmp_path, upstream)
    text = f"version_date,sheet_id\n2023-12-25,{sheet_id(FIRST)}\n"
    keep_index(settings, text.encode(), "i.csv")
    result, _ = tick(Platform(settings), None)
    assert isinstance(result, dg.SensorResult)
    assert sorted(str(r.partition_key) for r in result.run_requests or []) == sorted(
        map(str, upstream.versions)
    )


@pytest.mark.parametrize(
    "text",
    [
        "sheet_id,version_date\n1abcdefghijkl,2024-01-01\n",
        '"version_date","sheet_id"\n"2024-01-01","1abcdefghijkl"\n',
        "\ufeffversion_date,label,sheet_id\n2024-01-01,x,1abcdefghijkl\n",
    ],
)
def test_an_accepted_index_is_read_again(tmp_path: Path, text: str) -> None:
    platform = Platform(Settings(home=tmp_path))
    assert keep_index(platform.settings, text.encode(), "i.csv") == 1
    platform.refresh_benchmark(quiet)
    with platform.warehouse.reader() as con:
        assert con.sql("SELECT version FROM freshqa.version_index").fetchall() == [
            (date(2024, 1, 1),)
        ]
    with pytest.raises(BadInputError, match="no versions in it"):
        keep_index(platform.settings, b"version_date,sheet_id\n", "i.csv")


def test_without_upstream_the_sensor_skips(tmp_path: Path) -> None:
    result, _ = tick(Platform(Settings(home=tmp_path)), None)
    assert isinstance(result, dg.SkipReason)


def test_the_asset_imports_a_version_and_materializes_nothing_when_unchanged(
    tmp_path: Path, upstream: Upstream
) -> None:
    platform = platform_of(tmp_path, upstream)
    platform.sync(0, quiet)
    newest = max(upstream.versions)

    def materialized() -> bool:
        result = (
            build_defs(platform.settings)
            .resolve_job_def("import_versions")
            .execute_in_process(instance=platform.instance, partition_key=str(newest))
        )
        keys = {
            event.asset_key.to_user_string() for event in result.get_asset_materialization_events()
        }
        return "freshqa/revisions" in keys

    assert not materialized()
    upstream.versions[newest] = content(newest, "Corrected thing")
    assert materialized()
    assert not materialized()


@pytest.mark.slow
def test_a_killed_backfill_of_87_versions_goes_on_with_the_rest(tmp_path: Path) -> None:
    with serve(weekly(87)) as upstream:
        assert upstream.server
        environment = {
            **os.environ,
            "FRESH_ASSETS_HOME": str(tmp_path),
            "FRESH_ASSETS_UPSTREAM": f"{upstream.server.url}/README.md",
            "FRESH_ASSETS_SHEETS": upstream.server.url,
        }
        command = [Path(sys.executable).with_name("fresh-assets"), "sync"]
        process = subprocess.Popen(command, env=environment)

        def kill_at_40(_: date) -> None:
            if len(upstream.exports) == 40:
                process.send_signal(signal.SIGKILL)

        upstream.on_export = kill_at_40
        assert process.wait(120) == -signal.SIGKILL
        subprocess.run(command, env=environment, check=True, timeout=600)
        assert set(upstream.exports) == {sheet_id(version) for version in upstream.versions}
        again = len(upstream.exports) - 87
        assert 1 <= again <= 8
        done = subprocess.run(command, env=environment, check=True, timeout=60, capture_output=True)
        assert b"0 imported, 0 unchanged, 0 failed" in done.stdout
        assert len(upstream.exports) == 87 + again
