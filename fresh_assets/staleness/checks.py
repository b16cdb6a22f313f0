"""Checks of the review queue: blocking on integrity, a warning where much has probably changed."""

import dagster as dg

from fresh_assets.partitions import weeks
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import OF_ITS_TIME, WEEK, Contract

MOST_NAMED = 10

CONTRACTS = {
    "freshqa.volatility": Contract(
        {
            "changes lie in the past": "last_change <= version",
            "the next one is expected after": "expected_change > version",
            "kinds are known": """kind IN ('fast-changing', 'slow-changing', 'never-changing',
                'false premise')""",
        }
    ),
    "freshqa.survival": Contract(
        {
            "kinds are known": """kind IN ('fast-changing', 'slow-changing', 'never-changing',
                'false premise')""",
        }
    ),
    "mart.staleness_model": Contract(
        {
            **WEEK,
            "numbers are finite": "isfinite(mean) AND isfinite(scale) AND isfinite(coefficient)",
        }
    ),
    "mart.stale_answers": Contract(
        {
            **OF_ITS_TIME,
            "evidence is no later than the week": "newest_evidence < week + 7",
            "reviews are no later than the week": "reviewed_week <= week",
        },
        unique=[("week", "place")],
        missing="""
            SELECT question_key FROM freshqa.ground_truth WHERE week = $week
            EXCEPT SELECT question_key FROM mart.stale_answers WHERE week = $week
        """,
    ),
}


@dg.asset_check(asset=dg.AssetKey(["mart", "stale_answers"]), partitions_def=weeks)
def stale_share(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """The share of ground truths that have changed by the risk stays below
    FRESH_ASSETS_MAX_STALE."""
    with warehouse.reader() as con:
        share, unknown, questions = con.execute(
            """
            SELECT coalesce(avg(risk), 0), count(*) FILTER (WHERE risk IS NULL), count(*)
            FROM mart.stale_answers WHERE week = ?
            """,
            [context.partition_key],
        ).fetchall()[0]
        first = con.execute(
            "SELECT question FROM mart.stale_answers WHERE week = ? ORDER BY place LIMIT ?",
            [context.partition_key, MOST_NAMED],
        ).fetchall()
    return dg.AssetCheckResult(
        passed=share <= settings.max_stale,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{share:.1%} of {questions} answers have probably changed, limit "
        f"{settings.max_stale:.0%}; `fresh-assets review` walks them"
        + (f"; {unknown} risks are unknown" if unknown else ""),
        metadata={
            "stale share": share,
            "limit": settings.max_stale,
            "first in the queue": dg.MetadataValue.json([question for (question,) in first]),
        },
    )


CHECKS = [stale_share]
