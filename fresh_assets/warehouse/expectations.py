"""Great Expectations as asset checks: one expectation, one row of the result, with offenders.

GX has no DuckDB engine, so it validates a pandas frame of the columns that SQL selected.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg
import polars as pl

if TYPE_CHECKING:
    from great_expectations.expectations import Expectation


def check_expectations(
    frame: pl.DataFrame, expectations: "Sequence[Expectation]"
) -> dg.AssetCheckResult:
    """Validate `frame`; the result lists every expectation with what was observed.

    Failed expectations of severity `critical` make the check fail with ERROR, others with WARN.
    """
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx  # noqa: PLC0415  (3 s to import)

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_pandas("frame").add_dataframe_asset("frame")
    batch = source.add_batch_definition_whole_dataframe("frame").get_batch(
        batch_parameters={"dataframe": frame.to_pandas()}
    )
    results = [(e, batch.validate(e, result_format="SUMMARY")) for e in expectations]
    failed = [e for e, result in results if not result.success]
    critical = any(str(getattr(e, "severity", "critical")).endswith("critical") for e in failed)
    return dg.AssetCheckResult(
        passed=not failed,
        severity=dg.AssetCheckSeverity.ERROR if critical else dg.AssetCheckSeverity.WARN,
        description="; ".join(_sentence(e) for e in failed) or f"{len(results)} expectations met",
        metadata={
            "rows": len(frame),
            "expectations": dg.TableMetadataValue(
                records=[_record(e, result) for e, result in results], schema=_SCHEMA
            ),
        },
    )


_SCHEMA = dg.TableSchema(
    columns=[dg.TableColumn(name) for name in ("expectation", "met", "observed", "offenders")]
)


def _sentence(expectation: Any) -> str:
    column = getattr(expectation, "column", None)
    name = str(expectation.expectation_type).removeprefix("expect_").replace("_", " ")
    return f"{name} ({column})" if column else name


def _record(expectation: Any, result: Any) -> dg.TableRecord:
    observed = result.result.get("observed_value", result.result.get("unexpected_count", ""))
    offenders = result.result.get("partial_unexpected_list", [])
    return dg.TableRecord(
        {
            "expectation": _sentence(expectation),
            "met": bool(result.success),
            "observed": str(observed),
            "offenders": ", ".join(map(str, offenders[:5])),
        }
    )
