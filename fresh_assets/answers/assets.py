"""Answers as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.answers.answering import answer_week, read_week
from fresh_assets.answers.systems import read_systems
from fresh_assets.partitions import systems, weeks_systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import partition_key

systems_table = dg.AssetSpec(
    ["eval", "systems"],
    description="Systems under test, from systems.toml. Kept up to date by `fresh-assets refresh`.",
    partitions_def=systems,
)
recorded_answers = dg.AssetSpec(
    ["eval", "recorded_answers"],
    description="Answers recorded elsewhere. Filled by `fresh-assets import-answers`.",
    partitions_def=weeks_systems,
)


@dg.asset(
    key_prefix="eval",
    deps=[
        systems_table,
        recorded_answers,
        dg.AssetDep(["search", "evidence"]),
        dg.AssetDep(["freshqa", "ground_truth"]),
    ],
    partitions_def=weeks_systems,
    code_version="2",
    kinds={"python", "duckdb"},
)
def answers(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
    archive: dg.ResourceParam[Archive],
) -> dg.Output[pl.DataFrame]:
    """Responses of one system to every question of the week's version.

    Every question has a row: answered, empty, or an error with its reason. An error is a state,
    never a wrong answer.
    """
    key = partition_key(context)
    systems = read_systems(settings.systems_toml)
    system = systems.find(key["system"])
    inputs = read_week(warehouse, date.fromisoformat(key["week"]), system.name)
    rows = answer_week(system, systems, inputs, settings, archive).with_columns(
        version=pl.lit(inputs.version),
        method=pl.lit(system.method),
        system_hash=pl.lit(system.hash),
    )
    return dg.Output(rows, metadata={"method": system.method, **_summary(rows)})


def _summary(rows: pl.DataFrame) -> dict[str, int | float | str]:
    """Counts of states, and what the calls took."""
    states = dict(rows.group_by("state").len().sort("state").iter_rows())
    called = rows.filter(pl.col("prompt_hash").is_not_null())
    if called.is_empty():
        return states
    unpriced = int(called["cost"].null_count())
    return {
        **states,
        "calls served from the cache": int(called["from_cache"].sum()),
        "input tokens": int(called["input_tokens"].sum()),
        "output tokens": int(called["output_tokens"].sum()),
        "cost (USD)": "unknown" if unpriced else float(called["cost"].sum()),
    }


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [systems_table, recorded_answers, answers]
