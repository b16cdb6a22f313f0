"""Scores as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.partitions import weeks
from fresh_assets.scoring.accuracy import accuracy as compute_accuracy
from fresh_assets.scoring.agreement import agree
from fresh_assets.scoring.comparisons import ALPHA, compare_systems
from fresh_assets.scoring.correction import correct_accuracies
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key


@dg.asset(
    key_prefix="mart",
    deps=[
        dg.AssetDep(["eval", "answers"]),
        dg.AssetDep(["eval", "judgements"]),
        dg.AssetDep(["eval", "human_ratings"]),
        dg.AssetDep(["eval", "systems"], partition_mapping=dg.AllPartitionMapping()),
        dg.AssetDep(["freshqa", "ground_truth"]),
        dg.AssetDep(["freshqa", "changes"], partition_mapping=dg.AllPartitionMapping()),
    ],
    partitions_def=weeks,
    code_version="2",
    kinds={"sql", "duckdb"},
)
def accuracy(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """Accuracy of every system by slice, judge and mode, with counts, interval and bounds."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        frame = compute_accuracy(con, week)
    version = str(frame["version"].max())
    return dg.Output(frame, metadata={"version": version, "overall": _overall(frame)})


@dg.asset(
    key_prefix="mart",
    deps=[
        dg.AssetDep(["eval", "judgements"]),
        dg.AssetDep(["eval", "human_ratings"]),
        dg.AssetDep(["eval", "systems"], partition_mapping=dg.AllPartitionMapping()),
        dg.AssetDep(["freshqa", "ground_truth"]),
    ],
    partitions_def=weeks,
    code_version="2",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def comparisons(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """Every pair of systems on the questions both had rated: McNemar test with Holm's correction,
    paired bootstrap interval, smallest difference that could be detected."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        frame = compare_systems(con, week)
    real = frame.filter(pl.col("p_holm") < ALPHA)
    return dg.Output(frame, metadata={"pairs": len(frame), "real differences": len(real)})


@dg.asset(
    key_prefix="mart",
    deps=[
        dg.AssetDep(["eval", "judgements"]),
        dg.AssetDep(["eval", "human_ratings"]),
        dg.AssetDep(["freshqa", "ground_truth"]),
    ],
    partitions_def=weeks,
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def judge_agreement(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """How far judges and people agree, by mode and slice: share, Cohen's kappa with its interval,
    Krippendorff's alpha."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        frame = agree(con, week)
    return dg.Output(frame, metadata={"pairs": len(frame)})


@dg.asset(
    key_prefix="mart",
    deps=[
        dg.AssetDep(["eval", "judgements"]),
        dg.AssetDep(["eval", "human_ratings"]),
        dg.AssetDep(["freshqa", "ground_truth"]),
    ],
    partitions_def=weeks,
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def corrected_accuracy(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> pl.DataFrame:
    """Accuracy without the errors of its judge, by sensitivity and specificity against people."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        return correct_accuracies(con, week)


def _overall(frame: pl.DataFrame) -> dg.MetadataValue:
    rows = frame.filter(pl.col("slice") == "overall").select(
        "system", "judge", "mode", "accuracy", "judged", "asked"
    )
    lines = ["| system | judge | mode | accuracy | judged / asked |", "|---|---|---|---|---|"]
    lines += [
        f"| {system} | {judge} | {mode} | {_percent(value)} | {judged} / {asked} |"
        for system, judge, mode, value, judged, asked in rows.iter_rows()
    ]
    return dg.MetadataValue.md("\n".join(lines))


def _percent(value: float | None) -> str:
    return "not rated" if value is None else f"{value:.1%}"


ASSETS = [accuracy, comparisons, judge_agreement, corrected_accuracy]
