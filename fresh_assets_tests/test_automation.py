"""Schedules, partitions and conditions: what runs when, and what it waits for."""

from datetime import UTC, date, datetime

import dagster as dg
import pytest

from fresh_assets import automation
from fresh_assets.answers.systems import read_systems
from fresh_assets.definitions import build_defs
from fresh_assets.errors import UserError
from fresh_assets.partitions import check_week, monday, systems, weeks, weeks_systems
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings


def test_weeks_start_on_monday_over_new_year() -> None:
    keys = weeks.get_partition_keys(current_time=datetime(2024, 1, 3, tzinfo=UTC))
    assert keys[:3] == ["2023-10-02", "2023-10-09", "2023-10-16"]
    assert keys[-3:] == ["2023-12-18", "2023-12-25", "2024-01-01"]
    assert all(date.fromisoformat(key).weekday() == 0 for key in keys)


def test_a_day_that_is_no_monday_is_named_with_its_week() -> None:
    assert monday(date(2026, 2, 11)) == date(2026, 2, 9)
    with pytest.raises(UserError, match="the week of that day is 2026-02-09"):
        check_week(date(2026, 2, 11))
    with pytest.raises(UserError, match="outside"):
        check_week(date(2020, 1, 6))


def test_weekly_tick_asks_for_the_week_that_begins() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_schedule_context(
            instance=instance, scheduled_execution_time=datetime(2026, 2, 9, 6, tzinfo=UTC)
        )
        weekly_refresh = automation.schedules(Settings())[0]
        request = weekly_refresh(context)
    assert isinstance(request, dg.RunRequest)
    assert request.partition_key == "2026-02-09"
    assert weekly_refresh.cron_schedule == "0 6 * * 1"
    assert weekly_refresh.execution_timezone == "UTC"


def sensor(name: str) -> dg.SensorDefinition:
    return build_defs(Settings()).resolve_sensor_def(name)


def test_sensor_adds_systems_once() -> None:
    settings = Settings()
    with dg.DagsterInstance.ephemeral() as instance:
        for expected in (list(read_systems(settings.systems_toml).systems), None):
            result = sensor("system_partitions")(dg.build_sensor_context(instance=instance))
            if expected is None:
                assert isinstance(result, dg.SkipReason)
            else:
                assert isinstance(result, dg.SensorResult)
                (request,) = result.dynamic_partitions_requests or []
                assert list(request.partition_keys) == expected
                instance.add_dynamic_partitions(str(systems.name), expected)


def test_answers_follow_the_evidence_of_the_newest_week_only(refreshed: Platform) -> None:
    defs = build_defs(refreshed.settings)
    selection = dg.AssetSelection.assets("eval/answers")

    def evaluate(cursor: object, hour: int) -> tuple[set[str], object]:
        result = dg.evaluate_automation_conditions(
            defs=defs,
            instance=refreshed.instance,
            asset_selection=selection,
            evaluation_time=datetime(2026, 2, 10, hour, tzinfo=UTC),
            cursor=cursor,  # type: ignore[arg-type]
        )
        return set(result.get_requested_partitions(dg.AssetKey(["eval", "answers"]))), result.cursor

    _, cursor = evaluate(None, 1)
    asked, cursor = evaluate(cursor, 2)
    assert asked == set()
    for week in ("2026-02-02", "2026-02-09"):
        refreshed.instance.report_runless_asset_event(
            dg.AssetMaterialization(["search", "evidence"], partition=week)
        )
    asked, _ = evaluate(cursor, 3)
    names = refreshed.instance.get_dynamic_partitions(str(systems.name))
    assert asked == {dg.MultiPartitionKey({"week": "2026-02-09", "system": name}) for name in names}


def test_conditions_hold_for_every_derived_asset() -> None:
    for spec in build_defs(Settings()).resolve_all_asset_specs():
        scheduled = spec.key.to_user_string() in {*automation.SEARCH, automation.INDEX}
        by_hand = spec.code_version is None or spec.key.to_user_string() == automation.ENCODER
        assert (spec.automation_condition is None) == (scheduled or by_hand), spec.key


def test_two_dimensions_at_most() -> None:
    assert len(weeks_systems.partitions_defs) == 2
