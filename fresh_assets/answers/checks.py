"""Checks of the answers: a row for every question, known costs, demonstrations not stale."""

from datetime import date

import dagster as dg

from fresh_assets.answers.demonstrations import overdue
from fresh_assets.partitions import weeks_systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import OF_ITS_TIME, SHA256, WEEK, Contract
from fresh_assets.warehouse.io_manager import as_columns

CONTRACTS = {
    "eval.recorded_answers": Contract({**WEEK, "files have a hash": SHA256.format("byte_hash")}),
    "eval.answers": Contract(
        {
            **OF_ITS_TIME,
            "tokens are counts": "input_tokens >= 0 AND output_tokens >= 0",
            "cached tokens are input": "cached_tokens BETWEEN 0 AND input_tokens",
            "a call takes time and a try": "seconds >= 0 AND tries >= 1",
            "ranks count from 0": "coalesce(list_min(evidence_ranks), 0) >= 0",
        },
        missing="""
            SELECT question_key FROM freshqa.ground_truth WHERE week = $week
            EXCEPT SELECT question_key FROM eval.answers WHERE week = $week AND system = $system
        """,
    ),
    "eval.systems": Contract(
        {
            "options are JSON": "json_valid(options)",
            "models know of our time": "knowledge_cutoff BETWEEN '2015-01-01' AND '2100-01-01'",
        }
    ),
}
ANSWERS = dg.AssetKey(["eval", "answers"])


@dg.asset_check(asset=ANSWERS, blocking=True, partitions_def=weeks_systems)
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
            FROM freshqa.ground_truth LEFT JOIN given USING (week, question_key)
            WHERE week = $week
            """,
            as_columns(weeks_systems, context.partition_key),
        ).fetchall()[0]
    return dg.AssetCheckResult(
        passed=missing == 0 and asked > 0,
        description=f"{missing} of {asked} questions have no row; {errors} are errors",
        metadata={"asked": asked, "missing": missing, "errors": errors},
    )


@dg.asset_check(asset=ANSWERS, partitions_def=weeks_systems)
def costs_known(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """The price of every model that was called is in prices.toml."""
    with warehouse.reader() as con:
        unknown, called = con.execute(
            """
            SELECT count(*) FILTER (WHERE cost IS NULL), count(*) FROM eval.answers
            WHERE week = $week AND system = $system AND model IS NOT NULL
            """,
            as_columns(weeks_systems, context.partition_key),
        ).fetchall()[0]
    return dg.AssetCheckResult(
        passed=unknown == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{unknown} of {called} answers have an unknown cost"
        + ("; add the model to prices.toml" if unknown else ""),
        metadata={"unknown": unknown, "called": called},
    )


@dg.asset_check(asset=ANSWERS, partitions_def=weeks_systems)
def demonstrations_current(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
    """No demonstration in the prompts was due for review before the week."""
    week = date.fromisoformat(as_columns(weeks_systems, context.partition_key)["week"])
    due = overdue(week)
    return dg.AssetCheckResult(
        passed=not due,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{len(due)} demonstrations are due for review",
        metadata={"due": [demonstration.question for demonstration in due]},
    )


@dg.asset_check(asset=ANSWERS, partitions_def=weeks_systems)
def refusal_jump(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """The share of refusals moved by no more than FRESH_ASSETS_MAX_REFUSAL_JUMP since the last
    week that the system answered."""
    with warehouse.reader() as con:
        shares = con.execute(
            """
            SELECT avg((state = 'refused')::INTEGER) FROM eval.answers
            WHERE system = $system AND week <= $week AND state <> 'deferred'
            GROUP BY week ORDER BY week DESC LIMIT 2
            """,
            as_columns(weeks_systems, context.partition_key),
        ).fetchall()
    now, before = (*(share for (share,) in shares), None, None)[:2]
    jump = abs(now - before) if now is not None and before is not None else 0.0
    told = "no earlier week" if before is None else f"{before:.1%} in the week before"
    return dg.AssetCheckResult(
        passed=jump <= settings.max_refusal_jump,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{now or 0:.1%} of the questions were refused, {told}",
        metadata={"jump": jump, "limit": settings.max_refusal_jump},
    )


CHECKS = [refusal_jump, every_question, costs_known, demonstrations_current]
