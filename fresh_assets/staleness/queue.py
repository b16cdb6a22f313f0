"""The review queue of a week: risk from the history and the signals, with its reasons."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

import duckdb
import numpy as np
import polars as pl

from fresh_assets.staleness.history import observed, read_history
from fresh_assets.staleness.risk import (
    Matrix,
    RiskModel,
    fit,
    fit_signals,
    reasons,
    signal_features,
)
from fresh_assets.staleness.signals import read_signals

WEEKS_LEARNT = 12
"""Newest searched weeks from which the weights of the signals are learnt."""

_TRUTHS = """
SELECT question_key, version, question, answers, next_review, reviewed_week,
    (review_date - version)::INTEGER AS days_to_review
FROM freshqa.ground_truth WHERE week = $week
"""


def learn(history: pl.DataFrame, version: date) -> RiskModel | None:
    """The model of what the versions up to `version` say; None while too little has changed."""
    known = observed(history).filter(pl.col("next_version") <= version)
    return fit(known) if len(known) else None


def learn_with_signals(
    con: duckdb.DuckDBPyConnection, week: date, version: date
) -> RiskModel | None:
    """The model of `week`: of the history, and of the signals of searched weeks before it.

    A week teaches once the version after its own is there; its history risk is what the versions
    known then gave.
    """
    history = read_history(con)
    model = learn(history, version)
    taught = [*_taught(con, observed(history), week, version)]
    if model is None or not taught:
        return model
    found = np.vstack([features for features, _ in taught])
    changed = pl.concat([labels for _, labels in taught])
    return replace(model, signals=fit_signals(found, changed))


def _taught(
    con: duckdb.DuckDBPyConnection, known: pl.DataFrame, week: date, version: date
) -> Iterator[tuple[Matrix, pl.Series]]:
    weeks = con.execute(
        """
        SELECT DISTINCT week, version FROM freshqa.ground_truth AS t
        WHERE week < ? AND EXISTS (FROM search.evidence AS e WHERE e.week = t.week)
        ORDER BY week DESC LIMIT ?
        """,
        [week, WEEKS_LEARNT],
    ).fetchall()
    for past, of_version in weeks:
        rows = known.filter((pl.col("version") == of_version) & (pl.col("next_version") <= version))
        model = learn(known, of_version)
        if model and len(rows):
            signals = read_signals(con, past).join(rows, on="question_key", how="inner")
            yield signal_features(signals, model.log_odds(signals)), signals["changed_next"]


def review_queue(
    con: duckdb.DuckDBPyConnection, week: date, model: RiskModel | None
) -> pl.DataFrame:
    """Content rows of mart.stale_answers for `week`.

    What was reviewed counts as known since the week of the review: its clock starts again there.
    """
    sunday = week + timedelta(days=6)
    truths = con.execute(_TRUTHS, {"week": week}).pl()
    history = read_history(con).drop("question", "answers", "next_review", "days_to_review")
    rows = truths.join(history, on=["question_key", "version"]).sort("question_key")
    since = pl.coalesce("reviewed_week", "version")
    ahead = (pl.lit(sunday) - since).dt.total_days().clip(1).cast(pl.Int32)
    is_open = pl.when(pl.col("reviewed_week").is_null())
    rows = rows.with_columns(days_ahead=ahead, days_to_review=is_open.then("days_to_review"))
    signals = read_signals(con, week)
    told = list(reasons(model, rows, signals)) if model else [[] for _ in range(len(rows))]
    risk = model.risk(rows, signals) if model else [None] * len(rows)
    scored = rows.select(
        "version", "question_key", "answers", "kind", "next_review", "reviewed_week",
        risk=pl.Series(risk, dtype=pl.Float64),
        reasons=pl.Series(told, dtype=pl.List(pl.String)),
        is_overdue=(pl.col("days_to_review") <= pl.col("days_ahead")).fill_null(value=False),
    )  # fmt: skip
    shown = signals.drop(
        "newest_holds_answer", "topic_holds_answer", "box_holds_answer", "is_newer"
    )
    queue = scored.join(shown, on="question_key").sort(
        "risk", "is_overdue", "question_key", descending=[True, True, False], nulls_last=True
    )
    return queue.with_row_index("place", 1).with_columns(pl.col("place").cast(pl.Int32))
