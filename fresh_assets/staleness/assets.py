"""Staleness as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.partitions import weeks, with_the_week_before
from fresh_assets.staleness.history import read_history
from fresh_assets.staleness.queue import learn_with_signals, review_queue
from fresh_assets.staleness.risk import MODEL_SCHEMA, model_of
from fresh_assets.staleness.risk import volatility as compute_volatility
from fresh_assets.staleness.survival import survival_curves
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key
from fresh_assets.warehouse.lineage import pinned_version

SHOWN = 20


@dg.asset(
    key_prefix="freshqa",
    deps=[
        dg.AssetDep(["freshqa", "questions"]),
        dg.AssetDep(["freshqa", "question_links"]),
        dg.AssetDep(["freshqa", "changes"]),
    ],
    code_version="1",
    kinds={"python", "duckdb"},
)
def volatility(warehouse: dg.ResourceParam[Warehouse]) -> dg.Output[pl.DataFrame]:
    """How often each ground truth changed over all versions, and when it may change next."""
    with warehouse.reader() as con:
        frame = compute_volatility(read_history(con))
    return dg.Output(frame, metadata={"ever changed": int((frame["changes_seen"] > 0).sum())})


@dg.asset(
    key_prefix="freshqa",
    deps=[dg.AssetDep(["freshqa", "questions"]), dg.AssetDep(["freshqa", "question_links"])],
    code_version="1",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def survival(warehouse: dg.ResourceParam[Warehouse]) -> pl.DataFrame:
    """How long a ground truth lives, by kind of question: Kaplan-Meier curves over all versions."""
    with warehouse.reader() as con:
        return survival_curves(con)


@dg.asset(
    key_prefix="mart",
    deps=[
        volatility,
        dg.AssetDep(["freshqa", "ground_truth"]),
        dg.AssetDep(["search", "evidence"], partition_mapping=with_the_week_before),
        dg.AssetDep(["search", "drift"], partition_mapping=with_the_week_before),
    ],
    partitions_def=weeks,
    code_version="2",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def staleness_model(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> pl.DataFrame:
    """Logistic regressions of what makes an answer change, learnt from the versions up to the one
    of the week and from the searched weeks before it: all of it, to be read."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        model = learn_with_signals(con, week, pinned_version(con, week))
    return model.table() if model else pl.DataFrame(schema=MODEL_SCHEMA)


@dg.asset(
    key_prefix="mart",
    deps=[
        staleness_model,
        dg.AssetDep(["freshqa", "ground_truth"]),
        dg.AssetDep(["search", "evidence"]),
        dg.AssetDep(["search", "drift"]),
        dg.AssetDep(["eval", "answers"]),
        dg.AssetDep(["eval", "judgements"]),
    ],
    partitions_def=weeks,
    code_version="2",
    kinds={"python", "duckdb"},
)
def stale_answers(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """Review queue: every question by the risk that its ground truth has changed by the end of the
    week, with reasons in words, evidence, drift, and what the systems say."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        table = con.execute("SELECT * FROM mart.staleness_model WHERE week = ?", [week]).pl()
        queue = review_queue(con, week, model_of(table))
    top = queue.head(SHOWN).select("place", "risk", "question", "reasons")
    lines = ["| place | risk | question | because |", "|---|---|---|---|"]
    lines += [
        f"| {place} | {'unknown' if risk is None else f'{risk:.0%}'} | {question} | "
        f"{'; '.join(why)} |"
        for place, risk, question, why in top.iter_rows()
    ]
    overdue = int(queue["is_overdue"].sum())
    return dg.Output(
        queue, metadata={"overdue": overdue, "first": dg.MetadataValue.md("\n".join(lines))}
    )


ASSETS = [volatility, survival, staleness_model, stale_answers]
