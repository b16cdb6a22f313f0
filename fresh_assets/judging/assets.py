"""Judgements as assets."""

from datetime import date

import dagster as dg
import polars as pl

from fresh_assets.answers.systems import read_systems
from fresh_assets.judging import lexical
from fresh_assets.judging.golden import rate_golden, read_golden
from fresh_assets.judging.rating import rate_answers, rate_with_model, with_history
from fresh_assets.partitions import weeks, weeks_systems, with_the_week_before
from fresh_assets.settings import Settings
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import ALLOW_EMPTY, partition_key

judges = dg.AssetSpec(
    ["eval", "judges"],
    description="Judges, from systems.toml. Kept up to date by `fresh-assets refresh`.",
)


human_ratings = dg.AssetSpec(
    ["eval", "human_ratings"],
    description="Ratings by people, blind to the system; see `fresh-assets rating-sheet`.",
    partitions_def=weeks,
)


@dg.asset(
    key_prefix="eval",
    deps=[
        judges,
        dg.AssetDep(["eval", "answers"]),
        dg.AssetDep(["freshqa", "ground_truth"]),
    ],
    partitions_def=weeks_systems,
    code_version=f"2-{lexical.HASH}",
    kinds={"python", "duckdb"},
)
def judgements(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """FreshEval ratings of one system's answers, RELAXED and STRICT.

    An answer that was never given is unrated; an empty one is incorrect. The lexical judge is the
    offline stand-in for a model judge; judges in systems.toml rate beside it.
    """
    key = partition_key(context)
    systems = read_systems(settings.systems_toml)
    with warehouse.reader() as con:
        answered = con.execute(
            """
            SELECT question_key, question, answers, false_premise, state, answer, reason
            FROM eval.answers JOIN freshqa.ground_truth USING (week, question_key)
            WHERE week = $week AND system = $system
            ORDER BY id
            """,
            key,
        ).pl()
        earlier = con.execute(
            "SELECT * FROM eval.judgements WHERE week = $week AND system = $system", key
        ).pl()
    today = date.fromisoformat(key["week"])
    current = pl.concat(
        [
            rate_answers(answered),
            *(
                rate_with_model(answered, judge, systems, settings, today)
                for judge in systems.judges.values()
            ),
        ]
    )
    counts = current.group_by("judge", "mode", "rating").len().sort("judge", "mode", "rating")
    return dg.Output(
        with_history(current, earlier),
        metadata={" ".join(names): number for *names, number in counts.rows()},
    )


@dg.asset(
    key_prefix="eval",
    deps=[
        judges,
        dg.AssetDep(human_ratings, partition_mapping=with_the_week_before),
        dg.AssetDep(["eval", "judgements"]),
    ],
    partitions_def=weeks,
    code_version=f"1-{lexical.HASH}",
    kinds={"python", "duckdb"},
    metadata={ALLOW_EMPTY: True},
)
def golden_ratings(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    settings: dg.ResourceParam[Settings],
) -> dg.Output[pl.DataFrame]:
    """The golden set, judged again: answers that people rated in this week or before."""
    week = date.fromisoformat(partition_key(context)["week"])
    with warehouse.reader() as con:
        golden = read_golden(con, week)
    frame = rate_golden(golden, week, read_systems(settings.systems_toml), settings)
    agree = frame.filter(pl.col("rating") == pl.col("people_say"))
    return dg.Output(frame, metadata={"ratings": len(frame), "as people say": len(agree)})


ASSETS: list[dg.AssetsDefinition | dg.AssetSpec] = [
    judges,
    human_ratings,
    judgements,
    golden_ratings,
]
