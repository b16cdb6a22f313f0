"""Checks of the ratings: a week that is mostly unrated is not published."""

import dagster as dg

from fresh_assets.partitions import weeks_systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import as_columns


@dg.asset_check(
    asset=dg.AssetKey(["eval", "judgements"]), blocking=True, partitions_def=weeks_systems
)
def unrated_share(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """Of the questions asked, the unrated share stays below FRESH_ASSETS_MAX_UNRATED."""
    with warehouse.reader() as con:
        unrated, rated = con.execute(
            """
            SELECT count(*) FILTER (WHERE rating = 'unrated'), count(*)
            FROM eval.judgements JOIN eval.answers USING (week, system, question_key)
            WHERE week = $week AND system = $system AND is_current AND state <> 'deferred'
            """,
            as_columns(weeks_systems, context.partition_key),
        ).fetchall()[0]
    share = unrated / rated if rated else 0.0
    return dg.AssetCheckResult(
        passed=share <= settings.max_unrated,
        description=f"{share:.1%} of {rated} ratings are unrated, limit {settings.max_unrated:.0%}",
        metadata={"unrated share": share, "limit": settings.max_unrated},
    )


CHECKS = [unrated_share]
