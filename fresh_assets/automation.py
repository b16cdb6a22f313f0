"""When things run: jobs, schedules, sensors, automation conditions and the freshness policy.

Monday 06:00 UTC the weekly job takes the snapshot; what depends on it follows by automation, one
run a week and system. `fresh-assets refresh` does the same by hand.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg

from fresh_assets.answers.answering import IN_BATCH, WAITING, finished_batches
from fresh_assets.answers.systems import read_systems
from fresh_assets.benchmark.upstream import imported_versions, listed_entries, read_index
from fresh_assets.partitions import TIMEZONE, monday, systems, versions
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.assets import SNAPSHOT
from fresh_assets.warehouse.connections import Warehouse

SEARCH = ("search/results", "search/evidence")
GROUND_TRUTH = "freshqa/ground_truth"
INDEX = "freshqa/version_index"
ENCODER = "retriever/encoder"
REVISIONS = "freshqa/revisions"
IMPORTED = [
    dg.AssetKey(["eval", name])
    for name in ("recorded_answers", "human_ratings", "judges", "systems")
] + [
    dg.AssetKey(["freshqa", "decisions"]),
    dg.AssetKey(["catalog", "steps"]),
    dg.AssetKey(["catalog", "tables"]),
    dg.AssetKey(["workflow", "requests"]),
]
"""Tables that no run fills."""
RECHECKED = 3
"""Newest versions that are looked at again every week: sheets are edited in place."""
FRESHNESS = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=8), warn_window=timedelta(days=7, hours=12)
)
"""A weekly refresh that did not come: warn after half a day, fail after a day."""

BLOCKED = dg.AutomationCondition.any_deps_match(
    dg.AutomationCondition.any_checks_match(
        dg.AutomationCondition.check_failed(), blocking_only=True
    )
)
FOLLOW = (
    dg.AutomationCondition.eager().without(~dg.AutomationCondition.any_deps_missing()) & ~BLOCKED
).with_label("inputs changed and none of their blocking checks failed")
"""Run when an input changed. A system without answers in a week must not hold up the others, so
missing inputs do not block, nor do checks that never ran; failed blocking checks do."""
PUBLISH = (
    dg.AutomationCondition.any_deps_updated().since(dg.AutomationCondition.newly_requested())
    & ~dg.AutomationCondition.any_deps_in_progress()
    & ~dg.AutomationCondition.in_progress()
    & ~BLOCKED
).with_label("tables changed since the last publish was asked for")
"""Not `eager`: that forgets a table that was written while a publish was under way."""
NEEDS = {
    GROUND_TRUTH: "search/results",
    "eval/answers": "search/evidence",
    "eval/judgements": "eval/answers",
    "eval/golden_ratings": "eval/judgements",
    "mart/accuracy": "eval/judgements",
    "mart/comparisons": "eval/judgements",
    "mart/judge_agreement": "eval/judgements",
    "mart/corrected_accuracy": "eval/judgements",
    "mart/staleness_model": "search/results",
    "mart/stale_answers": "search/evidence",
    "mart/retriever_recall": "workflow/requests",
}
"""Inputs without which there is nothing to do: a week that was not searched is not answered."""

FIRST = {
    "freshqa/questions": REVISIONS,
    "freshqa/question_links": "freshqa/questions",
    "freshqa/changes": REVISIONS,
    "freshqa/volatility": "freshqa/questions",
    "freshqa/survival": "freshqa/questions",
    "retriever/pairs": "workflow/requests",
}
"""Inputs that must be there before: a version has its partition before its file is imported."""

weekly_snapshot = dg.define_asset_job(
    "weekly_snapshot",
    selection=dg.AssetSelection.assets(*SEARCH, GROUND_TRUTH),
    description="Search the questions of the week, parse the evidence, fix the ground truth.",
)
version_check = dg.define_asset_job(
    "version_check",
    selection=dg.AssetSelection.assets(INDEX),
    description="Read the upstream list of versions.",
)
import_versions = dg.define_asset_job(
    "import_versions",
    selection=dg.AssetSelection.assets(INDEX, REVISIONS),
    description="Import a version that upstream lists.",
)
standing_checks = dg.define_asset_job(
    "standing_checks",
    selection=dg.AssetSelection.checks_for_assets(SNAPSHOT, *IMPORTED),
    description="Look at the imported tables; name the partitions that failed.",
)
JOBS = [weekly_snapshot, version_check, import_versions, standing_checks]


def schedules(settings: Settings) -> list[dg.ScheduleDefinition]:
    """All schedules; they run once switched on, or under FRESH_ASSETS_AUTOMATION."""
    status = dg.DefaultScheduleStatus("RUNNING" if settings.automation else "STOPPED")

    @dg.schedule(
        job=weekly_snapshot, cron_schedule="0 6 * * 1", execution_timezone=TIMEZONE,
        default_status=status,
    )  # fmt: skip
    def weekly_refresh(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        """Monday 06:00 UTC: take the snapshot of the week that begins; the rest follows from it."""
        monday = context.scheduled_execution_time.date().isoformat()
        return dg.RunRequest(partition_key=monday)

    @dg.schedule(
        job=version_check, cron_schedule="0 5 * * *", execution_timezone=TIMEZONE,
        default_status=status,
    )  # fmt: skip
    def daily_version_check(_: dg.ScheduleEvaluationContext) -> dg.RunRequest | dg.SkipReason:
        """Daily 05:00 UTC: read the upstream list of versions."""
        if not settings.has_index:
            return dg.SkipReason("there is no list of versions: they come from files")
        return dg.RunRequest()

    @dg.schedule(
        job=standing_checks, cron_schedule="0 7 * * *", execution_timezone=TIMEZONE,
        default_status=status,
    )  # fmt: skip
    def daily_standing_checks(_: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        """Daily 07:00 UTC: name the partitions that failed and were not made good."""
        return dg.RunRequest()

    return [weekly_refresh, daily_version_check, daily_standing_checks]


def sensors(settings: Settings) -> Sequence[dg.SensorDefinition]:
    """All sensors but alerts; they run once switched on, or under FRESH_ASSETS_AUTOMATION."""
    status = sensor_status(settings)

    @dg.sensor(
        job=import_versions, minimum_interval_seconds=settings.upstream_interval,
        default_status=status,
    )  # fmt: skip
    def new_versions(
        context: dg.SensorEvaluationContext,
        warehouse: dg.ResourceParam[Warehouse],
        archive: dg.ResourceParam[Archive],
    ) -> dg.SensorResult | dg.SkipReason:
        """Import what upstream lists newly; weekly look at the newest versions again."""
        return _look_upstream(context, settings, warehouse, archive)

    @dg.sensor(minimum_interval_seconds=60, default_status=status)
    def system_partitions(context: dg.SensorEvaluationContext) -> dg.SensorResult | dg.SkipReason:
        """Add a partition for every system in systems.toml; keys are never removed."""
        have = set(context.instance.get_dynamic_partitions(str(systems.name)))
        new = [name for name in read_systems(settings.systems_toml).systems if name not in have]
        if not new:
            return dg.SkipReason("every system of systems.toml has its partition")
        return dg.SensorResult(dynamic_partitions_requests=[systems.build_add_request(new)])

    @dg.sensor(
        minimum_interval_seconds=300, default_status=status,
        target=dg.AssetSelection.assets("eval/answers", "eval/judgements"),
    )  # fmt: skip
    def batch_results(warehouse: dg.ResourceParam[Warehouse]) -> Iterator[dg.RunRequest]:
        """Poll provider batches; a week of a system whose batches ended is answered again."""
        with warehouse.reader() as con:
            waiting = con.execute(WAITING, {"reason": IN_BATCH}).fetchall()
        if not waiting:
            return
        finished = finished_batches(read_systems(settings.systems_toml), settings)
        for week, system in waiting:
            if system in finished:
                key = dg.MultiPartitionKey({"week": week, "system": system})
                yield dg.RunRequest(partition_key=key)

    follow = dg.AutomationConditionSensorDefinition(
        "follow", target=dg.AssetSelection.all(), default_status=status, emit_backfills=False,
        minimum_interval_seconds=settings.automation_interval,
    )  # fmt: skip
    return [new_versions, system_partitions, batch_results, follow]


def sensor_status(settings: Settings) -> dg.DefaultSensorStatus:
    """Whether sensors run without being switched on."""
    return dg.DefaultSensorStatus("RUNNING" if settings.automation else "STOPPED")


def automate(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Give a derived asset its freshness policy and, unless a schedule runs it, its condition.

    Upstream publishes when it likes: a sensor imports its versions; training is asked for by hand.
    """
    if spec.key.to_user_string() in {REVISIONS, ENCODER}:
        return spec
    spec = dg.apply_freshness_policy(spec, FRESHNESS)
    if spec.key.to_user_string() in {*SEARCH, INDEX}:
        return spec
    if spec.key == SNAPSHOT:
        return spec.replace_attributes(automation_condition=PUBLISH)
    name = spec.key.to_user_string()
    condition: dg.AutomationCondition[Any] = FOLLOW
    if name in NEEDS:
        condition &= _there(NEEDS[name], dg.AutomationCondition.will_be_requested())
    if name in FIRST:
        condition &= _there(FIRST[name])
    return spec.replace_attributes(automation_condition=condition)


def _there(needed: str, *otherwise: dg.AutomationCondition[Any]) -> dg.AutomationCondition[Any]:
    """The input exists for this partition, or `otherwise`: is made in the same run."""
    exists = ~dg.AutomationCondition.missing()
    for condition in otherwise:
        exists |= condition
    found = dg.AutomationCondition.any_deps_match(exists)
    return found.allow(dg.AssetSelection.assets(needed)).with_label(f"{needed} is there")


def _look_upstream(
    context: dg.SensorEvaluationContext, settings: Settings, warehouse: Warehouse, archive: Archive
) -> dg.SensorResult | dg.SkipReason:
    """A failed import is asked for again a day later, not at every look."""
    if not settings.upstream:
        return dg.SkipReason("FRESH_ASSETS_UPSTREAM names no upstream list")
    listed = listed_entries(read_index(settings, archive))
    there = [entry.version for entry in listed if not entry.overwritten_by]
    with warehouse.reader() as con:
        have = imported_versions(con)
    today = datetime.now(UTC).date()
    new = [str(version) for version in there if version not in have]
    old = [str(version) for version in there[-RECHECKED:] if version in have]
    week = str(monday(today))
    again = old if context.cursor != week else []
    context.update_cursor(week)
    if not new and not again:
        return dg.SkipReason(f"no new version among the {len(listed)} that are listed")
    attempts = [*((v, f"{v} {today}") for v in new), *((v, f"{v} again {week}") for v in again)]
    return dg.SensorResult(
        run_requests=[dg.RunRequest(partition_key=v, run_key=key) for v, key in attempts],
        dynamic_partitions_requests=[versions.build_add_request(new)] if new else [],
    )
