"""Alerts over a real webhook server and a real mail server: what is told, to whom, how often."""

import html
import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
import trustme
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from fresh_assets import alerts
from fresh_assets.definitions import build_defs
from fresh_assets.demo.files import REFERENCES, Demo
from fresh_assets.errors import UserError
from fresh_assets.refresh import Platform, RefreshError
from fresh_assets.settings import Settings
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform, settings_of
from fresh_assets_tests.web_server import Page, Server, web_server


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory, demo: Demo) -> Platform:
    """A home whose newest run was stopped by a blocking check."""
    platform = demo_platform(tmp_path_factory.mktemp("blocked"), demo, ())
    platform.refresh_benchmark(lambda _: None)
    with platform.warehouse.reader() as con:
        key, query = con.execute(
            "SELECT question_key, question FROM freshqa.current_questions WHERE version = ? LIMIT 1",
            [DEMO_WEEK],
        ).fetchall()[0]
    search = (key, query, DEMO_WEEK, b"{}")
    platform.archive.put_searches(DEMO_WEEK, "recorded", DEMO_WEEK, [search])
    with pytest.raises(RefreshError):
        platform.refresh(DEMO_WEEK, [], lambda _: None)
    return platform


def failed(instance: dg.DagsterInstance, name: str) -> dg.RunFailureSensorContext:
    """The context that the sensor `name` gets for the newest failed run."""
    (record,) = instance.get_run_records(
        dg.RunsFilter(statuses=[dg.DagsterRunStatus.FAILURE]), limit=1
    )
    run = record.dagster_run
    logs = instance.all_logs(run.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
    event = logs[-1].dagster_event
    assert event
    return dg.build_run_status_sensor_context(
        sensor_name=name, dagster_event=event, dagster_instance=instance, dagster_run=run
    ).for_run_failure()


@pytest.fixture
def hooks() -> Iterator[tuple[Server, Server]]:
    with ExitStack() as stack:
        yield (
            stack.enter_context(web_server(lambda *_: Page(b"ok"))),
            stack.enter_context(web_server(lambda *_: Page(b"ok"))),
        )


def with_hooks(settings: Settings, **urls: str) -> Settings:
    named = {("*" if owner == "anybody" else f"team:{owner}"): url for owner, url in urls.items()}
    return Settings.model_validate({**settings.model_dump(), "alert_webhooks": named})


def test_a_failed_blocking_check_is_told_to_the_owner(
    blocked: Platform, hooks: tuple[Server, Server]
) -> None:
    mine, others = hooks
    settings = with_hooks(blocked.settings, search=f"{mine.url}/T0/secret", anybody=others.url)
    sensor = build_defs(settings).resolve_sensor_def("alert_webhook")
    sensor(failed(blocked.instance, "alert_webhook"))
    assert others.requests == []
    (got,) = mine.requests
    text = html.unescape(got.json["text"])
    assert "search/results" in text
    assert f"[{DEMO_WEEK}] failed" in text
    assert "check complete: 59 of 60 questions were not searched" in text


def test_what_has_no_hook_of_its_own_goes_to_anybody(
    blocked: Platform, hooks: tuple[Server, Server]
) -> None:
    mine, others = hooks
    settings = with_hooks(blocked.settings, scoring=mine.url, anybody=others.url)
    build_defs(settings).resolve_sensor_def("alert_webhook")(
        failed(blocked.instance, "alert_webhook")
    )
    assert (len(mine.requests), len(others.requests)) == (0, 1)


def test_text_from_outside_cannot_call_a_channel(
    hooks: tuple[Server, Server], tmp_path: Path
) -> None:
    server, _ = hooks
    alert = alerts.Alert("x failed", ("<!channel> & <http://evil.example|click>",), frozenset())
    alerts.send(alert, with_hooks(Settings(home=tmp_path), anybody=server.url))
    assert (
        server.requests[0].json["text"]
        == "x failed\n&lt;!channel&gt; &amp; &lt;http://evil.example|click&gt;"
    )


def test_a_broken_hook_is_told_without_its_secret(tmp_path: Path) -> None:
    with web_server(lambda *_: Page(status=404)) as server:
        settings = with_hooks(
            Settings(home=tmp_path), anybody=f"{server.url}/services/T0/sk-secret"
        )
        with pytest.raises(UserError, match=r"webhook of \* at 127.0.0.1: HTTP 404") as error:
            alerts.send(alerts.Alert("x", (), frozenset()), settings)
    assert "sk-secret" not in str(error.value)
    assert "sk-secret" not in repr(settings)


def run_concern(platform: Platform, found: alerts.Concern) -> None:
    result = alerts.concern.execute_in_process(
        instance=platform.instance,
        run_config={"ops": {"raise_concern": {"config": {"text": found.text}}}},
        tags={alerts.OWNER: found.owner},
        raise_on_error=False,
    )
    assert not result.success


def test_a_stale_benchmark_is_told_once_a_day(
    tmp_path: Path, demo: Demo, hooks: tuple[Server, Server]
) -> None:
    platform = demo_platform(tmp_path, demo, REFERENCES[:1])
    platform.refresh(DEMO_WEEK, [REFERENCES[0]], lambda _: None)
    now = datetime.now(UTC)

    def found(after: timedelta) -> list[alerts.Concern]:
        at = now + after
        return list(alerts.concerns(platform.instance, platform.warehouse, platform.settings, at))

    assert found(timedelta(days=7)) == []
    (stale,) = found(timedelta(days=9))
    assert "more than 8 days ago" in stale.text
    settings = with_hooks(platform.settings, publish=hooks[0].url)
    run_concern(platform, stale)
    build_defs(settings).resolve_sensor_def("alert_webhook")(
        failed(platform.instance, "alert_webhook")
    )
    assert "stale benchmark" in hooks[0].requests[0].json["text"]


def test_a_reached_budget_is_a_concern(tmp_path: Path, demo: Demo) -> None:
    platform = demo_platform(tmp_path, demo, ())
    with platform.warehouse.writer() as con:
        con.execute(
            "INSERT INTO eval.answers (week, system, question_key, version, method, system_hash, state, reason, evidence_ranks) "
            "SELECT '2026-02-09', 'gpt', 'k' || i, '2026-02-09', 'closed_book', 'h', 'deferred', 'the budget of $5.0 is used up', [] "
            "FROM range(7) t(i)"
        )
    at = datetime(2026, 2, 10, tzinfo=UTC)
    sensor = build_defs(platform.settings).resolve_sensor_def("watch")
    (found,) = alerts.concerns(platform.instance, platform.warehouse, platform.settings, at)
    assert found.text == (
        "budget reached: 7 answers of gpt in week 2026-02-09 are deferred: the budget of $5.0 is used up"
    )
    late = datetime(2026, 4, 10, tzinfo=UTC)
    assert not list(alerts.concerns(platform.instance, platform.warehouse, platform.settings, late))
    assert sensor.name == "watch"


class Inbox:
    """Takes mail from whoever logs in."""

    def __init__(self) -> None:
        self.mail: list[tuple[list[str], str]] = []

    async def handle_DATA(self, _server: object, _session: object, envelope: object) -> str:  # noqa: N802
        self.mail.append((envelope.rcpt_tos, envelope.content.decode()))  # type: ignore[attr-defined]
        return "250 OK"


@pytest.fixture
def mail_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Inbox, int]]:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    inbox = Inbox()
    controller = Controller(
        inbox, "localhost", port, ssl_context=context, auth_require_tls=False,
        authenticator=lambda *_: AuthResult(success=True),
    )  # fmt: skip
    controller.start()
    yield inbox, port
    controller.stop()


def test_mail_goes_out_through_a_real_server(
    blocked: Platform, mail_server: tuple[Inbox, int]
) -> None:
    inbox, port = mail_server
    settings = Settings.model_validate(
        {
            **blocked.settings.model_dump(),
            "alert_email_from": "bot@example.org", "alert_email_to": ["team@example.org"],
            "alert_email_password": "sk-mail", "smtp_host": "localhost", "smtp_port": port,
        }
    )  # fmt: skip
    build_defs(settings).resolve_sensor_def("alert_email")(failed(blocked.instance, "alert_email"))
    ((to, content),) = inbox.mail
    assert to == ["team@example.org"]
    assert "Subject: " in content
    assert f"[{DEMO_WEEK}] failed" in content
    assert "59 of 60 questions were not searched" in content


def test_failed_partitions_are_named_by_the_standing_check(blocked: Platform) -> None:
    defs = build_defs(blocked.settings)
    result = defs.resolve_job_def("standing_checks").execute_in_process(instance=blocked.instance)
    evaluated = result.get_asset_check_evaluations()
    (check,) = (c for c in evaluated if c.check_name == "nothing_failed")
    assert {c.asset_key.to_user_string() for c in evaluated} > {"eval/judges", "freshqa/decisions"}
    assert not check.passed
    assert check.description
    assert (
        f"search/results [{DEMO_WEEK}]" in check.description
        or f"search/evidence [{DEMO_WEEK}]" in check.description
    )


def test_no_channel_no_sensor(tmp_path: Path) -> None:
    names = {sensor.name for sensor in alerts.sensors(settings_of(tmp_path), {})}
    assert names == {"watch"}
