"""Checks of the ratings: a week that is mostly unrated is not published."""

import dagster as dg

from fresh_assets.partitions import weeks, weeks_systems
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
    "eval.golden_ratings": Contract({**WEEK, "answers are of a Monday": "isodow(rated_week) = 1"}),
    "eval.human_ratings": Contract({**WEEK, "raters have a name": "length(trim(rater)) > 0"}),
    "eval.judges": Contract({"options are JSON": "json_valid(options)"}),
}


@dg.asset_check(asset=dg.AssetKey(["eval", "golden_ratings"]), partitions_def=weeks)
def judge_drift(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """No judge rates more of the golden set otherwise than the week before than
    FRESH_ASSETS_MAX_JUDGE_DRIFT allows."""
    with warehouse.reader() as con:
        drifts = con.execute(
            """
            SELECT now.judge, now.mode, count(*) AS answers,
                avg((now.rating <> before.rating)::INTEGER) AS changed,
                avg((before.rating = before.people_say)::INTEGER) AS agreed_before,
                avg((now.rating = now.people_say)::INTEGER) AS agrees_now
            FROM eval.golden_ratings AS now
            JOIN eval.golden_ratings AS before USING (judge, mode, rated_week, system, question_key)
            WHERE now.week = $week AND before.week = (
                SELECT max(week) FROM eval.golden_ratings WHERE week < $week
            )
            GROUP BY ALL ORDER BY changed DESC, judge, mode
            """,
            {"week": context.partition_key},
        ).fetchall()
    told = [
        f"{judge}, {mode}: {changed:.1%} of {answers} ratings changed (as people say: "
        f"{before:.0%} before, {now:.0%} now)"
        for judge, mode, answers, changed, before, now in drifts
    ]
    return dg.AssetCheckResult(
        passed=all(row[3] <= settings.max_judge_drift for row in drifts),
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(told) or "nothing to compare with: no earlier week was judged",
        metadata={"limit": settings.max_judge_drift},
    )


CHECKS = [unrated_share, judge_drift]
