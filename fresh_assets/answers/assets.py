"""Answers as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.answers.methods import evidence_of, recorded, search_answer
from fresh_assets.answers.systems import RECORDED, System, find_system, read_systems
from fresh_assets.partitions import systems, weeks_systems
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import partition_key
from fresh_assets.warehouse.lineage import version_of_week

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
        dg.AssetDep(["freshqa", "questions"], partition_mapping=dg.AllPartitionMapping()),
        dg.AssetDep(["freshqa", "question_links"]),
    ],
    partitions_def=weeks_systems,
    code_version="1",
    kinds={"python", "duckdb"},
)
def answers(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """Responses of one system to every question of the week's version.

    Every question has a row: answered, empty, or an error with its reason. An error is a state,
    never a wrong answer.
    """
    key = partition_key(context)
    system = find_system(read_systems(settings.systems_toml), key["system"])
    frame = _ask(system, warehouse, date.fromisoformat(key["week"]))
    states = dict(frame.group_by("state").len().iter_rows())
    return dg.Output(frame, metadata={"system": system.name, "method": system.method, **states})


def _ask(system: System, warehouse: Warehouse, week: date) -> pl.DataFrame:
    with warehouse.reader() as con:
        version = version_of_week(con, week)
        questions = con.execute(
            "SELECT question_key FROM freshqa.current_questions WHERE version = ? ORDER BY id",
            [version],
        ).pl()
        source = "eval.recorded_answers" if system.method == RECORDED else "search.evidence"
        where = " AND system = $system" if system.method == RECORDED else ""
        values = {"week": week, **({"system": system.name} if where else {})}
        inputs = con.execute(f"SELECT * FROM {source} WHERE week = $week{where}", values).pl()
    if system.method == RECORDED:
        rows = recorded(questions, inputs.select("question_key", "answer"))
    else:
        rows = search_answer(questions, evidence_of(inputs, system.engine, system.name))
    return rows.with_columns(
        version=pl.lit(version), method=pl.lit(system.method), system_hash=pl.lit(system.hash)
    )


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [systems_table, recorded_answers, answers]
