"""Checks of the snapshot: an incomplete one blocks everything after it."""

from datetime import UTC, date, datetime

import dagster as dg

from fresh_assets.partitions import weeks
from fresh_assets.search.snapshot import tolerance
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import OF_ITS_TIME, SHA256, WEEK, Contract


@dg.asset_check(asset=dg.AssetKey(["search", "results"]), blocking=True, partitions_def=weeks)
def complete(
    context: dg.AssetCheckExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.AssetCheckResult:
    """Every question of the week's version was searched, but for the share that settings allow."""
    allowed = tolerance(
        settings, date.fromisoformat(context.partition_key), datetime.now(UTC).date()
    )
    with warehouse.reader() as con:
        engine, asked, missing, example = con.execute(
            """
            WITH found AS (SELECT * FROM search.results WHERE week = $week),
            wanted AS (
                SELECT engine, question_key, question
                FROM freshqa.current_questions, (SELECT DISTINCT engine FROM found)
                WHERE version = (SELECT max(version) FROM found)
            )
            SELECT
                string_agg(DISTINCT wanted.engine), count(*),
                count(*) FILTER (WHERE found.question_key IS NULL),
                any_value(wanted.question) FILTER (WHERE found.question_key IS NULL)
            FROM wanted LEFT JOIN found USING (engine, question_key)
            """,
            {"week": context.partition_key},
        ).fetchall()[0]
    return dg.AssetCheckResult(
        passed=asked > 0 and missing <= allowed * asked,
        description=f"{missing} of {asked} questions were not searched"
        + (f", e.g. {example!r}; import or search the rest of the week" if missing else ""),
        metadata={"engines": engine or "", "asked": asked, "missing": missing},
    )


@dg.asset_check(asset=dg.AssetKey(["search", "evidence"]), partitions_def=weeks)
def none_blank(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """No search came back without any evidence; those that did are not scored."""
    with warehouse.reader() as con:
        blank, example = con.execute(
            """
            SELECT count(*), any_value(query) FROM search.results
            ANTI JOIN search.evidence USING (week, engine, question_key)
            WHERE week = $week
            """,
            {"week": context.partition_key},
        ).fetchall()[0]
    return dg.AssetCheckResult(
        passed=blank == 0,
        severity=dg.AssetCheckSeverity.WARN,
        description=f"{blank} searches brought no evidence"
        + (f", e.g. {example!r}" if blank else ""),
        metadata={"blank": blank},
    )


CONTRACTS = {
    "search.results": Contract(
        {
            **OF_ITS_TIME,
            "results show a day up to the week": "as_of < week + 7",
            "payloads have a hash": SHA256.format("payload_hash"),
            "nothing costs less than nothing": "requests >= 0 AND coalesce(cost, 0) >= 0",
        }
    ),
    "search.evidence": Contract(
        {
            **WEEK,
            "pages are dated no later than the week": "date < week + 7",
            "pages are dated since 1900": "date >= '1900-01-01'",
            "addresses are addresses": "regexp_matches(url, '^https?://')",
        }
    ),
    "search.drift": Contract(
        {
            **WEEK,
            "the week before is a Monday": "isodow(previous_week) = 1",
            "new pages are pages": "new_urls BETWEEN 0 AND urls AND gone_urls >= 0",
        }
    ),
}
CHECKS = [complete, none_blank]
