"""Partition keys: versions, weeks, systems, catalogs. Dynamic partitions are only ever added.

Questions, ablation arms, judges and modes are rows, never partitions.
"""

import warnings
from datetime import UTC, date, datetime, timedelta

import dagster as dg

from fresh_assets.errors import UserError

warnings.filterwarnings("ignore", message="Specifying a partitions_def on an AssetCheckSpec")
"""Partitioned checks are a preview in the pinned Dagster; tests hold what we use of them."""
warnings.filterwarnings("ignore", message="Parameter `allow_nonexistent_upstream_partitions`")

TIMEZONE = "UTC"
FIRST_WEEK = date(2023, 10, 2)
"""The Monday of the week in which FreshQA's first version appeared."""

versions = dg.DynamicPartitionsDefinition(name="version")
systems = dg.DynamicPartitionsDefinition(name="system")
catalogs = dg.DynamicPartitionsDefinition(name="catalog")
weeks = dg.WeeklyPartitionsDefinition(
    start_date=FIRST_WEEK.isoformat(),
    timezone=TIMEZONE,
    day_offset=1,  # Monday: the default is Sunday, whatever the start date
    end_offset=1,  # the running week is a partition too
    fmt="%Y-%m-%d",
)
with_the_week_before = dg.TimeWindowPartitionMapping(
    start_offset=-1, allow_nonexistent_upstream_partitions=True
)
weeks_systems = dg.MultiPartitionsDefinition({"week": weeks, "system": systems})

COLUMNS: dict[dg.PartitionsDefinition[str] | None, tuple[str, ...]] = {
    None: (),
    versions: ("version",),
    systems: ("system",),
    catalogs: ("catalog",),
    weeks: ("week",),
    weeks_systems: ("week", "system"),
}
"""Columns that hold the partition key in the table of an asset partitioned so."""


def this_week() -> date:
    """Monday of the running week, UTC."""
    return monday(datetime.now(UTC).date())


def monday(day: date) -> date:
    """Monday of the week of `day`."""
    return day - timedelta(days=day.weekday())


def check_week(week: date) -> date:
    """Return `week` if it is a valid partition key, else say which week was probably meant."""
    if week.weekday() != 0:
        raise UserError(f"{week} is not a Monday; the week of that day is {monday(week)}")
    if not FIRST_WEEK <= week <= this_week():
        raise UserError(f"week {week} is outside {FIRST_WEEK} to {this_week()}")
    return week
