"""Back-test of the staleness risk: `python -m benchmarks.staleness HOME`.

HOME has imported versions. For every version the model learns from the pairs of versions up to it and
says which answers change until the next. Baselines: review class, fact type, time since the last change.
"""

import argparse
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from rich.console import Console
from rich.table import Table
from sklearn.metrics import average_precision_score, roc_auc_score

from fresh_assets.settings import Settings
from fresh_assets.staleness.history import observed, read_history
from fresh_assets.staleness.risk import fit
from fresh_assets.warehouse.connections import Warehouse

SAMPLES = 1000
BINS = (0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)


def share_by(column: pl.Expr, known: pl.DataFrame, asked: pl.DataFrame) -> np.ndarray:
    """Share of changed answers in the history by a column."""
    shares = known.group_by(column.alias("by")).agg(share=pl.col("changed_next").mean())
    found = asked.with_columns(column.alias("by")).join(
        shares, on="by", how="left", maintain_order="left"
    )
    return found["share"].fill_null(0).to_numpy()


def baselines(known: pl.DataFrame, asked: pl.DataFrame) -> dict[str, np.ndarray]:
    review = (
        pl.when(pl.col("days_to_review").is_null()).then("next_review").otherwise(pl.lit("date"))
    )
    recency = asked.select(-pl.coalesce("days_since_change", "days_seen")).to_series()
    return {
        "review class": share_by(review, known, asked),
        "fact type": share_by(pl.col("kind"), known, asked),
        "last change": recency.to_numpy().astype(float),
    }


def margin(truth: np.ndarray, ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    """95 % interval of the difference in average precision, by bootstrap over questions."""
    random = np.random.default_rng(0)
    differences = []
    for _ in range(SAMPLES):
        drawn = random.integers(0, len(truth), len(truth))
        if truth[drawn].any():
            ap = [average_precision_score(truth[drawn], s[drawn]) for s in (ours, theirs)]
            differences.append(ap[0] - ap[1])
    low, high = np.quantile(differences, [0.025, 0.975])
    return float(low), float(high)


def calibration(risks: list[np.ndarray], truths: list[np.ndarray]) -> Table:
    """Of all pairs of versions together: what was predicted beside what came, by risk."""
    risk, truth = np.concatenate(risks), np.concatenate(truths)
    table = Table(
        title=f"Calibration over all pairs, Brier score {np.mean((risk - truth) ** 2):.3f}"
    )
    for column in ("risk", "questions", "mean risk", "changed"):
        table.add_column(column, justify="right")
    for low, high in pairwise(BINS):
        of_bin = (risk >= low) & (risk < high)
        if of_bin.any():
            shares = (f"{values[of_bin].mean():.0%}" for values in (risk, truth))
            table.add_row(f"{low:.0%} to {min(high, 1):.0%}", str(of_bin.sum()), *shares)
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    with Warehouse(Settings(home=parser.parse_args().home).warehouse_file).reader() as con:
        rows = observed(read_history(con))
    table = Table(title="Which answers change until the next version? (average precision)")
    for column in (
        "version",
        "next",
        "changed",
        "AUROC",
        "model",
        "review class",
        "fact type",
        "last change",
        "beats the best by",
        "predicted / changed",
    ):
        table.add_column(column, justify="right")
    risks: list[np.ndarray] = []
    truths: list[np.ndarray] = []
    for version in sorted(rows["version"].unique()):
        asked, known = (
            rows.filter(pl.col("version") == version),
            rows.filter(pl.col("next_version") <= version),
        )
        model = fit(known)
        if model is None:
            continue
        truth, risk = asked["changed_next"].to_numpy(), model.risk(asked)
        risks.append(risk)
        truths.append(truth)
        others = baselines(known, asked)
        ap = {name: average_precision_score(truth, scores) for name, scores in others.items()}
        low, high = margin(truth, risk, others[max(ap, key=lambda name: ap[name])])
        table.add_row(
            str(version), str(asked["next_version"][0]), f"{truth.sum()} of {len(truth)}",
            f"{roc_auc_score(truth, risk):.2f}", f"{average_precision_score(truth, risk):.2f}",
            *(f"{ap[name]:.2f}" for name in others), f"{low:+.2f} to {high:+.2f}",
            f"{risk.sum():.0f} / {truth.sum()}",
        )  # fmt: skip
    console = Console(width=140)
    console.print(table)
    console.print(calibration(risks, truths))


if __name__ == "__main__":
    main()
