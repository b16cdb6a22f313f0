"""When things run: jobs, schedules, sensors, automation conditions and the freshness policy.

Monday 06:00 UTC the weekly job takes the snapshot; what depends on it follows by automation, one
run a week and system. `fresh-assets refresh` does the same by hand.
"""

from collections.abc import Iterator
from datetime import timedelta

import dagster as dg

from fresh_assets.answers.answering import IN_BATCH, WAITING, finished_batches
from fresh_assets.answers.systems import read_systems
from fresh_assets.partitions import TIMEZONE, systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse

SNAPSHOT = ("search/results", "search/evidence")
INDEX = "freshqa/version_index"
FRESHNESS = dg.FreshnessPolicy.time_window(
    fail_window=timedelta(days=8), warn_window=timedelta(days=7, hours=12)
)
"""A weekly refresh that did not come: warn after half a day, fail after a day."""

FOLLOW = (
    dg.AutomationCondition.eager().without(~dg.AutomationCondition.any_deps_missing())
    & dg.AutomationCondition.all_deps_blocking_checks_passed()
).with_label("inputs changed and their blocking checks passed")
"""Run when an input changed. A system without answers in a week must not hold up the others, so
missing inputs do not block; failed blocking checks do."""

weekly_snapshot = dg.define_asset_job(
    "weekly_snapshot",
    selection=dg.AssetSelection.assets(*SNAPSHOT),
    description="Search the questions of the week and parse the evidence.",
)
version_check = dg.define_asset_job(
    "version_check",
    selection=dg.AssetSelection.assets(INDEX),
    description="Read the upstream list of versions.",
)


@dg.schedule(job=weekly_snapshot, cron_schedule="0 6 * * 1", execution_timezone=TIMEZONE)
def weekly_refresh(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Monday 06:00 UTC: take the snapshot of the week that begins; the rest follows from it."""
    monday = context.scheduled_execution_time.date().isoformat()
    return dg.RunRequest(partition_key=monday)


@dg.schedule(job=version_check, cron_schedule="0 5 * * *", execution_timezone=TIMEZONE)
def daily_version_check(_: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Daily 05:00 UTC: look for new upstream versions."""
    return dg.RunRequest()


@dg.sensor(minimum_interval_seconds=60)
def system_partitions(
    context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings]
) -> dg.SensorResult | dg.SkipReason:
    """Add a partition for every system in systems.toml; keys are never removed."""
    have = set(context.instance.get_dynamic_partitions(str(systems.name)))
    new = [name for name in read_systems(settings.systems_toml).systems if name not in have]
    if not new:
        return dg.SkipReason("every system of systems.toml has its partition")
    return dg.SensorResult(dynamic_partitions_requests=[systems.build_add_request(new)])


@dg.sensor(
    minimum_interval_seconds=300, target=dg.AssetSelection.assets("eval/answers", "eval/judgements")
)
def batch_results(
    settings: dg.ResourceParam[Settings], warehouse: dg.ResourceParam[Warehouse]
) -> Iterator[dg.RunRequest]:
    """Poll provider batches; a week of a system whose batches have ended is answered again."""
    with warehouse.reader() as con:
        waiting = con.execute(WAITING, {"reason": IN_BATCH}).fetchall()
    if not waiting:
        return
    finished = finished_batches(read_systems(settings.systems_toml), settings)
    for week, system in waiting:
        if system in finished:
            yield dg.RunRequest(
                partition_key=dg.MultiPartitionKey({"week": week, "system": system})
            )


def automate(spec: dg.AssetSpec) -> dg.AssetSpec:
    """Give a derived asset its freshness policy and, unless a schedule runs it, its condition."""
    spec = dg.apply_freshness_policy(spec, FRESHNESS)
    if spec.key.to_user_string() in {*SNAPSHOT, INDEX}:
        return spec
    return spec.replace_attributes(automation_condition=FOLLOW)


JOBS = [weekly_snapshot, version_check]
SCHEDULES = [weekly_refresh, daily_version_check]
SENSORS = [batch_results, system_partitions]
