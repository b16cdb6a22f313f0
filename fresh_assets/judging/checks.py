"""Checks of the ratings: a week that is mostly unrated is not published."""

import dagster as dg

from fresh_assets.partitions import weeks_systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import WEEK, Contract
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


CONTRACTS = {
    "eval.judgements": Contract(
        {
            **WEEK,
            "tokens are counts": "input_tokens >= 0 AND output_tokens >= 0",
            "hashes are there": "length(answer_hash) * length(truth_hash) * length(judge_hash) > 0",
        },
        missing="""
            WITH rated AS (
                FROM eval.judgements WHERE week = $week AND system = $system AND is_current
            )
            SELECT question_key, judge, mode
            FROM eval.answers, (SELECT DISTINCT judge, mode FROM rated)
            WHERE week = $week AND system = $system
            EXCEPT SELECT question_key, judge, mode FROM rated
        """,
    ),
    "eval.human_ratings": Contract({**WEEK, "raters have a name": "length(trim(rater)) > 0"}),
    "eval.judges": Contract({"options are JSON": "json_valid(options)"}),
}
CHECKS = [unrated_share]
