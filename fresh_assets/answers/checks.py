"""Checks of the answers: every question of the version has a row, most of them asked."""

import dagster as dg

from fresh_assets.partitions import weeks_systems
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import as_columns


@dg.asset_check(asset=dg.AssetKey(["eval", "answers"]), blocking=True, partitions_def=weeks_systems)
def every_question(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Every question of the version has a row; errors are counted, not hidden."""
    with warehouse.reader() as con:
        asked, missing, errors = con.execute(
            """
            WITH given AS (SELECT * FROM eval.answers WHERE week = $week AND system = $system)
            SELECT
                count(*),
                count(*) FILTER (WHERE given.state IS NULL),
                count(*) FILTER (WHERE given.state = 'error')
            FROM freshqa.current_questions LEFT JOIN given USING (version, question_key)
            WHERE version = (SELECT max(version) FROM given)
            """,
            as_columns(weeks_systems, context.partition_key),
        ).fetchall()[0]
    return dg.AssetCheckResult(
        passed=missing == 0 and asked > 0,
        description=f"{missing} of {asked} questions have no row; {errors} are errors",
        metadata={"asked": asked, "missing": missing, "errors": errors},
    )


CHECKS = [every_question]
