"""The risk that an answer has changed by a day: a logistic regression that says its reasons.

The rate of change is hierarchical: a question's own changes, drawn towards those of its kind by
as much as KIND_DAYS of watching are worth.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fresh_assets.staleness.history import REVIEWS, observed

KIND_DAYS = 90.0
STRENGTH = 1.0
"""Inverse strength of the regularisation."""
FEWEST_CHANGES = 10
"""Changes in the history below which no model is fitted."""
UNKNOWN_RATE = 1 / 365
"""Changes a day before anything was watched."""
LONGEST_FORECAST = 50 * 365
KINDS = ("fast-changing", "slow-changing", "false premise")
MODEL_SCHEMA = {
    "feature": pl.String,
    "mean": pl.Float64,
    "scale": pl.Float64,
    "coefficient": pl.Float64,
}
FEATURES = (
    *KINDS, *REVIEWS, "review due", "review date set", "share of the time past the review",
    "rate of change", "expected change", "age of the answer", "changed before", "changes before",
)  # fmt: skip


@dataclass(frozen=True)
class RiskModel:
    """A fitted model; coefficients belong to standardised features, in the order of FEATURES."""

    rates: dict[str, float]
    means: NDArray[np.float64]
    scales: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    intercept: float

    def risk(self, rows: pl.DataFrame) -> NDArray[np.float64]:
        """Probability for each row of `rows` (as of `observed`) that its answer changes."""
        scores = self._standardised(rows) @ self.coefficients + self.intercept
        return np.asarray(1 / (1 + np.exp(-scores)))

    def contributions(self, rows: pl.DataFrame) -> NDArray[np.float64]:
        """What each feature adds to the log odds, beside an average question: rows x features."""
        return self._standardised(rows) * self.coefficients

    def table(self) -> pl.DataFrame:
        """Feature, mean, scale, coefficient: the whole model."""
        return pl.DataFrame(
            {
                "feature": ["intercept", *FEATURES],
                "mean": [0.0, *self.means],
                "scale": [1.0, *self.scales],
                "coefficient": [self.intercept, *self.coefficients],
            },
            schema=MODEL_SCHEMA,
        )

    def _standardised(self, rows: pl.DataFrame) -> NDArray[np.float64]:
        return (features(rows, self.rates) - self.means) / self.scales


def fit(rows: pl.DataFrame) -> RiskModel | None:
    """Fit on rows of `observed`; None while too few answers have changed to learn from."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (1 s to import)

    if rows["changed_next"].sum() < FEWEST_CHANGES:
        return None
    rates = rates_of_kinds(rows)
    found = features(rows, rates)
    means, scales = found.mean(axis=0), found.std(axis=0)
    scales[scales == 0] = 1
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit((found - means) / scales, rows["changed_next"].to_numpy())
    return RiskModel(rates, means, scales, model.coef_[0], float(model.intercept_[0]))


def rates_of_kinds(rows: pl.DataFrame) -> dict[str, float]:
    """Changes a day by kind, half a change added so that none is impossible."""
    totals = rows.group_by("kind").agg(
        (pl.col("changed_next").sum() + 0.5) / pl.col("days_ahead").sum()
    )
    return dict(totals.iter_rows())


def daily_rate(rates: dict[str, float]) -> pl.Expr:
    """Hierarchical rate of change a day."""
    kind = pl.col("kind").replace_strict(rates, default=min(rates.values()))
    return (pl.col("changes_seen") + KIND_DAYS * kind) / (pl.col("days_seen") + KIND_DAYS)


def volatility(history: pl.DataFrame) -> pl.DataFrame:
    """Content rows of freshqa.volatility from all rows of `read_history`."""
    known = observed(history)
    rates = rates_of_kinds(known) if len(known) else {"none": UNKNOWN_RATE}
    newest = history.filter(pl.col("version") == pl.col("version").max().over("question_key"))
    days = (math.log(2) / daily_rate(rates)).ceil()
    since = pl.duration(days=pl.col("days_since_change"))
    return newest.select(
        "question_key", "version", "kind", "days_seen", "changes_seen",
        last_change=pl.col("version") - since,
        changes_per_year=daily_rate(rates) * 365,
        expected_change=pl.when(days < LONGEST_FORECAST).then(
            pl.col("version") + pl.duration(days=days.clip(0, LONGEST_FORECAST))
        ),
    )  # fmt: skip


def features(rows: pl.DataFrame, rates: dict[str, float]) -> NDArray[np.float64]:
    """Columns FEATURES of rows that have `days_ahead`."""
    rate, ahead = daily_rate(rates), pl.col("days_ahead")
    due = pl.col("days_to_review")
    columns = [
        *(pl.col("kind") == kind for kind in KINDS),
        *(pl.col("next_review") == review for review in REVIEWS),
        (due <= ahead).fill_null(value=False),
        due.is_not_null(),
        (1 - due.clip(0) / ahead).clip(0, 1).fill_null(0),
        (rate * 365).log(),
        (rate * ahead).log(),
        pl.col("age").clip(0, 8),
        pl.col("changes_seen") > 0,
        pl.col("changes_seen"),
    ]
    named = [c.cast(pl.Float64).alias(f) for c, f in zip(columns, FEATURES, strict=True)]
    return rows.select(named).to_numpy()


def reasons(model: RiskModel, rows: pl.DataFrame, most: int = 3) -> Iterator[list[str]]:
    """For each row the features that raise its risk most, in words."""
    found = features(rows, model.rates)
    for added, values, row in zip(
        model.contributions(rows), found, rows.iter_rows(named=True), strict=True
    ):
        order = [i for i in np.argsort(-added)[:most] if added[i] > 0]
        yield list(dict.fromkeys(_in_words(FEATURES[i], values[i], row) for i in order))


def _in_words(feature: str, value: float, row: dict[str, Any]) -> str:
    if feature in KINDS:
        return feature if value else f"not {feature}"
    if feature in REVIEWS:
        return f"review {feature}" if value else f"review not {feature}"
    match feature:
        case "review due" | "share of the time past the review" | "review date set":
            days = row["days_to_review"]
            if days is None:
                return "no review date"
            late = row["days_ahead"] - days
            return f"review overdue by {late} days" if late > 0 else f"review due in {-late} days"
        case "age of the answer":
            return f"the answer is {row['age']} years old"
        case "changed before" | "changes before":
            return f"changes seen in {row['days_seen']} days: {row['changes_seen']}"
        case "rate of change":
            return f"changes about every {365 / math.exp(value):.0f} days"
    return f"{row['days_ahead']} days since the version"
