"""What a person must hear of: every such thing is a failed run, and every failed run is told.

A sensor watches for what no run fails on by itself (no refresh for days, a budget that was reached)
and asks for a run that fails with the reason. Webhooks get Slack-compatible JSON; the owner of what
failed says which. E-mail goes through Dagster's own helper.
"""

import html
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import dagster as dg

from fresh_assets.automation import sensor_status
from fresh_assets.errors import UserError
from fresh_assets.settings import Settings
from fresh_assets.warehouse.assets import SNAPSHOT
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.web.fetch import FetchError, Limits, Web

warnings.filterwarnings("ignore", message="Parameter `owners` of initializer `SensorDefinition")
"""Dagster's own decorator for failure sensors sets it."""
OWNER = "fresh_assets/owner"
"""Tag of a run that fails for something that belongs to no asset of its own."""
ANYBODY = "*"
BUDGET_DAYS = 14
MOST_LINES = 10
Owners = Mapping[str, Sequence[str]]
"""Owners by asset key."""


@dataclass(frozen=True)
class Concern:
    """Something to hear of; it is told once a day by its key."""

    key: str
    text: str
    owner: str


@dataclass(frozen=True)
class Alert:
    """A failed run as it is told."""

    title: str
    lines: tuple[str, ...]
    owners: frozenset[str]

    @property
    def text(self) -> str:
        """Plain text."""
        return "\n".join([self.title, *self.lines])


@dg.op(config_schema={"text": str})
def raise_concern(context: dg.OpExecutionContext) -> None:
    """Fail with the reason."""
    raise dg.Failure(context.op_config["text"], allow_retries=False)


@dg.job(description="Fails with what a person must hear of; see the sensor `watch`.")
def concern() -> None:
    """The run that carries a concern."""
    raise_concern()


def sensors(settings: Settings, owners: Owners) -> list[dg.SensorDefinition]:
    """The watch, and the alerts of those channels that are configured."""
    status = sensor_status(settings)

    @dg.sensor(job=concern, minimum_interval_seconds=300, default_status=status)
    def watch(
        context: dg.SensorEvaluationContext, warehouse: dg.ResourceParam[Warehouse]
    ) -> Iterator[dg.RunRequest]:
        """Ask for a failing run where a refresh is overdue or a budget was reached."""
        now = datetime.now(UTC)
        for found in concerns(context.instance, warehouse, settings, now):
            config = {"ops": {"raise_concern": {"config": {"text": found.text}}}}
            run_key = f"{found.key} {now:%F}"
            yield dg.RunRequest(run_key=run_key, run_config=config, tags={OWNER: found.owner})

    @dg.run_failure_sensor(minimum_interval_seconds=30, default_status=status)
    def alert_webhook(context: dg.RunFailureSensorContext) -> None:
        """Tell every failed run to the webhooks of its owners."""
        send(alert_of(context, owners), settings)

    found = [watch]
    if settings.alert_webhooks:
        found.append(alert_webhook)
    if settings.alert_email_to:
        found.append(_email_sensor(settings, owners, status))
    return found


def concerns(
    instance: dg.DagsterInstance, warehouse: Warehouse, settings: Settings, now: datetime
) -> Iterator[Concern]:
    """What no run fails on by itself."""
    published = instance.get_latest_materialization_event(SNAPSHOT)
    last = datetime.fromtimestamp(published.timestamp, UTC) if published else now
    if now - last > timedelta(days=settings.stale_after_days):
        text = (
            f"stale benchmark: the last successful refresh was published {last:%F %H:%M} UTC, more "
            f"than {settings.stale_after_days} days ago"
        )
        yield Concern("stale", text, "team:publish")
    with warehouse.reader() as con:
        reached = con.execute(
            "SELECT week::VARCHAR, system, count(*), any_value(reason) FROM eval.answers "
            "WHERE state = 'deferred' AND starts_with(reason, 'the budget of') AND week > ?::DATE "
            "GROUP BY ALL ORDER BY ALL",
            [f"{now - timedelta(days=BUDGET_DAYS):%F}"],
        ).fetchall()
    for week, system, number, reason in reached:
        text = f"budget reached: {number} answers of {system} in week {week} are deferred: {reason}"
        yield Concern(f"budget {week} {system}", text, "team:answers")


def alert_of(context: dg.RunFailureSensorContext, owners: Owners) -> Alert:
    """What a failed run is told as: its partition, its errors, its failed checks, its owners."""
    run = context.dagster_run
    keys = {key.to_user_string() for key in run.asset_selection or ()}
    keys |= {check.asset_key.to_user_string() for check in run.asset_check_selection or ()}
    events = (e.dagster_event for e in context.instance.all_logs(run.run_id) if e.dagster_event)
    errors, checks = [], []
    for event in events:
        if event.is_step_failure and event.step_failure_data.error:
            errors.append(_innermost(event.step_failure_data.error))
        elif event.event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION:
            check = event.asset_check_evaluation_data
            keys.add(check.asset_key.to_user_string())
            if not check.passed and check.blocking:
                name = f"{check.asset_key.to_user_string()}, check {check.check_name}"
                checks.append(f"{name}: {check.description}")
        elif event.asset_key:
            keys.add(event.asset_key.to_user_string())
    what = ", ".join(sorted(keys)) or run.job_name
    partition = f" [{run.tags['dagster/partition']}]" if "dagster/partition" in run.tags else ""
    told = [*checks, *(e for e in errors if "check" not in e or not checks)]
    responsible = {owner for key in keys for owner in owners.get(key, ())}
    if OWNER in run.tags:
        responsible.add(run.tags[OWNER])
    lines = tuple(told[:MOST_LINES]) or (context.failure_event.message or "",)
    return Alert(f"{what}{partition} failed", (*lines, f"run {run.run_id}"), frozenset(responsible))


def send(alert: Alert, settings: Settings) -> None:
    """Post an alert to the webhooks of its owners, else to that of anybody."""
    hooks = settings.alert_webhooks
    chosen = {o: hooks[o] for o in sorted(alert.owners) if o in hooks} or (
        {ANYBODY: hooks[ANYBODY]} if ANYBODY in hooks else {}
    )
    body = {"text": html.escape(alert.text, quote=False)}
    failed = []
    for owner, url in chosen.items():
        try:
            Web(Limits(tries=3)).post(url.get_secret_value(), body, {})
        except FetchError as error:
            host = urlsplit(url.get_secret_value()).hostname
            failed.append(f"the webhook of {owner} at {host}: {error.problem}")
    if failed:
        raise UserError("; ".join(failed))


def _email_sensor(
    settings: Settings, owners: Owners, status: dg.DefaultSensorStatus
) -> dg.SensorDefinition:
    password = settings.alert_email_password
    return dg.make_email_on_run_failure_sensor(
        name="alert_email",
        email_from=settings.alert_email_from,
        email_password=password.get_secret_value() if password else "",
        email_to=settings.alert_email_to,
        email_subject_fn=lambda context: " ".join(alert_of(context, owners).title.split()),
        email_body_fn=lambda context: f"<pre>{html.escape(alert_of(context, owners).text)}</pre>",
        smtp_host=settings.smtp_host,
        smtp_type=settings.smtp_type,
        smtp_port=settings.smtp_port,
        default_status=status,
    )


def _innermost(error: Any) -> str:
    while error.cause:
        error = error.cause
    return " ".join(error.message.split())
