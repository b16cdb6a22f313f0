"""Judgements as assets."""

import dagster as dg
import polars as pl

from fresh_assets.judging import lexical
from fresh_assets.judging.rating import rate_answers
from fresh_assets.partitions import weeks_systems
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import partition_key


@dg.asset(
    key_prefix="eval",
    deps=[
        dg.AssetDep(["eval", "answers"]),
        dg.AssetDep(["freshqa", "questions"], partition_mapping=dg.AllPartitionMapping()),
    ],
    partitions_def=weeks_systems,
    code_version=f"1-{lexical.HASH}",
    kinds={"python", "duckdb"},
)
def judgements(
    context: dg.AssetExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.Output[pl.DataFrame]:
    """FreshEval ratings of one system's answers, RELAXED and STRICT.

    An answer that was never given is unrated; an empty one is incorrect. The lexical judge is the
    offline stand-in for a model judge.
    """
    key = partition_key(context)
    with warehouse.reader() as con:
        answered = con.execute(
            """
            SELECT question_key, question, answers, false_premise, state, answer, reason
            FROM eval.answers JOIN freshqa.current_questions USING (version, question_key)
            WHERE week = $week AND system = $system
            ORDER BY id
            """,
            key,
        ).pl()
    frame = rate_answers(answered)
    ratings = frame.group_by("mode", "rating").len().sort("mode", "rating")
    return dg.Output(frame, metadata={f"{mode} {rating}": n for mode, rating, n in ratings.rows()})


ASSETS = [judgements]
