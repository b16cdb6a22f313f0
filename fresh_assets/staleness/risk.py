"""The risk that an answer has changed by a day: a logistic regression that says its reasons.

The rate of change is hierarchical: a question's own changes, drawn towards those of its topic
within its kind by as much as KIND_DAYS of watching are worth.
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
TOPIC_DAYS = 5000.0
"""Question-days: a topic of few questions says little beside its kind."""
STRENGTH = 1.0
"""Inverse strength of the regularisation."""
FEWEST_CHANGES = 10
"""Changes in the history below which no model is fitted."""
UNKNOWN_RATE = 1 / 365
"""Changes a day before anything was watched."""
LONGEST_FORECAST = 50 * 365
KINDS = ("fast-changing", "slow-changing", "false premise")
MODEL_SCHEMA = {
    "part": pl.String,
    "feature": pl.String,
    "mean": pl.Float64,
    "scale": pl.Float64,
    "coefficient": pl.Float64,
}
FEATURES = (
    *KINDS, *REVIEWS, "review due", "review date set", "share of the time past the review",
    "rate of change", "expected change", "age of the answer", "changed before", "changes before",
)  # fmt: skip
SIGNALS = (
    "log odds from the history", "searched", "share of evidence without the answer",
    "evidence newer than the answer", "newer evidence lacks the answer",
    "answer box says otherwise", "answer box changed", "drift of the pages",
    "share of systems that disagree",
)  # fmt: skip
INTERCEPT = "intercept"
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Logistic:
    """A fitted logistic regression; coefficients belong to standardised features."""

    names: tuple[str, ...]
    means: Matrix
    scales: Matrix
    coefficients: Matrix
    intercept: float

    def log_odds(self, found: Matrix) -> Matrix:
        """Log odds of rows of features, in the order of `names`."""
        return np.asarray(self.contributions(found).sum(axis=1) + self.intercept)

    def contributions(self, found: Matrix) -> Matrix:
        """What each feature adds to the log odds, beside an average row: rows x features."""
        return np.asarray((found - self.means) / self.scales * self.coefficients)


@dataclass(frozen=True)
class RiskModel:
    """What the history of versions says and, once enough weeks were searched, the signals over it.

    `rates`: changes a day by kind. `signals` has the log odds of the history as first feature.
    """

    rates: dict[str, float]
    history: Logistic
    signals: Logistic | None = None

    def log_odds(self, rows: pl.DataFrame) -> Matrix:
        """Log odds by the history alone for rows as of `observed`."""
        return self.history.log_odds(features(rows, self.rates))

    def risk(self, rows: pl.DataFrame, signals: pl.DataFrame | None = None) -> Matrix:
        """Probability for each row of `rows` (as of `observed`) that its answer changes.

        `signals`: the rows of `read_signals` for them; without, the history alone speaks.
        """
        scores = self.log_odds(rows)
        if self.signals and signals is not None:
            scores = self.signals.log_odds(signal_features(signals, scores))
        return np.asarray(1 / (1 + np.exp(-scores)))

    def table(self) -> pl.DataFrame:
        """The whole model: part, feature, mean, scale, coefficient."""
        rows: list[tuple[str, str, float, float, float]] = [
            ("changes a day", kind, 0.0, 1.0, rate) for kind, rate in self.rates.items()
        ]
        for part, model in (("history", self.history), ("signals", self.signals)):
            if model:
                rows.append((part, INTERCEPT, 0.0, 1.0, model.intercept))
                values = (model.means, model.scales, model.coefficients)
                rows += [(part, *row) for row in zip(model.names, *values, strict=True)]
        return pl.DataFrame(rows, schema=MODEL_SCHEMA, orient="row")


def model_of(table: pl.DataFrame) -> RiskModel | None:
    """The model whose `table` it is; None if there are no rows."""
    if table.is_empty():
        return None
    rates = table.filter(pl.col("part") == "changes a day").select("feature", "coefficient")
    history = _logistic_of(table.filter(pl.col("part") == "history"), FEATURES)
    signals = table.filter(pl.col("part") == "signals")
    return RiskModel(
        dict(rates.iter_rows()),
        history,
        None if signals.is_empty() else _logistic_of(signals, SIGNALS),
    )


def fit(rows: pl.DataFrame) -> RiskModel | None:
    """Fit on rows of `observed`; None while too few answers have changed to learn from."""
    if rows["changed_next"].sum() < FEWEST_CHANGES:
        return None
    rates = rates_of_kinds(rows)
    history = _fit(FEATURES, features(rows, rates), rows["changed_next"])
    return RiskModel(rates, history) if history else None


def fit_signals(found: Matrix, changed: pl.Series) -> Logistic | None:
    """Fit on rows of `signal_features`; None while too few answers have changed."""
    return _fit(SIGNALS, found, changed)


def _fit(names: tuple[str, ...], found: Matrix, changed: pl.Series) -> Logistic | None:
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415  (1 s to import)

    if changed.sum() < FEWEST_CHANGES:
        return None
    means, scales = found.mean(axis=0), found.std(axis=0)
    scales[scales == 0] = 1
    model = LogisticRegression(C=STRENGTH, max_iter=5000)
    model.fit((found - means) / scales, changed.to_numpy())
    return Logistic(names, means, scales, model.coef_[0], float(model.intercept_[0]))


def _logistic_of(table: pl.DataFrame, names: tuple[str, ...]) -> Logistic:
    rows = {row["feature"]: row for row in table.iter_rows(named=True)}
    means, scales, coefficients = (
        np.array([rows[name][column] for name in names])
        for column in ("mean", "scale", "coefficient")
    )
    return Logistic(names, means, scales, coefficients, rows[INTERCEPT]["coefficient"])


def rates_of_kinds(rows: pl.DataFrame) -> dict[str, float]:
    """Changes a day by kind, and by kind and topic.

    Half a change is added to a kind so that none is impossible; a topic is drawn towards its kind
    by as much as TOPIC_DAYS of watching are worth.
    """
    changed, days = pl.col("changed_next").sum(), pl.col("days_ahead").sum()
    kinds = rows.group_by("kind").agg(rate=(changed + 0.5) / days)
    drawn = (pl.col("changed") + TOPIC_DAYS * pl.col("rate")) / (pl.col("days") + TOPIC_DAYS)
    topics = (
        rows.group_by("kind", _within_kind().alias("topic"))
        .agg(changed=changed, days=days)
        .join(kinds, on="kind")
        .select("topic", drawn)
    )
    return dict(kinds.iter_rows()) | dict(topics.iter_rows())


def _within_kind() -> pl.Expr:
    return pl.concat_str("kind", "topic", separator=" / ")


def daily_rate(rates: dict[str, float]) -> pl.Expr:
    """Hierarchical rate of change a day: of the question, its topic within the kind, its kind."""
    kind = pl.col("kind").replace_strict(rates, default=min(rates.values()))
    prior = _within_kind().replace_strict(rates, default=None).fill_null(kind)
    return (pl.col("changes_seen") + KIND_DAYS * prior) / (pl.col("days_seen") + KIND_DAYS)


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


def signal_features(signals: pl.DataFrame, log_odds: Matrix) -> Matrix:
    """Columns SIGNALS from rows of `read_signals` and the log odds by the history for them."""
    pieces, systems = pl.col("evidence_pieces"), pl.col("systems_rated")
    columns = [
        pl.lit(pl.Series(log_odds)),
        pieces > 0,
        1 - pl.col("pieces_with_answer") / pieces,
        pl.col("is_newer"),
        ~pl.col("newest_holds_answer") & pl.col("topic_holds_answer"),
        ~pl.col("box_holds_answer"),
        pl.col("box_changed"),
        pl.col("drift"),
        pl.col("systems_incorrect") / systems,
    ]
    named = [c.cast(pl.Float64).alias(name) for c, name in zip(columns, SIGNALS, strict=True)]
    return signals.select(named).fill_nan(0).fill_null(0).to_numpy()


def features(rows: pl.DataFrame, rates: dict[str, float]) -> Matrix:
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


def reasons(
    model: RiskModel, rows: pl.DataFrame, signals: pl.DataFrame | None = None, most: int = 3
) -> Iterator[list[str]]:
    """For each row what raises its risk most, in words."""
    found = features(rows, model.rates)
    added = model.history.contributions(found)
    told = rows
    if model.signals and signals is not None:
        weight = model.signals.coefficients[0] / model.signals.scales[0]
        more = signal_features(signals, model.log_odds(rows))
        of_signals = model.signals.contributions(more)[:, 1:]
        added, found = np.hstack([added * weight, of_signals]), np.hstack([found, more[:, 1:]])
        told = pl.concat(
            [rows, signals.drop(set(rows.columns) & set(signals.columns))], how="horizontal"
        )
    names = (*FEATURES, *SIGNALS[1:])
    for adds, values, row in zip(added, found, told.iter_rows(named=True), strict=True):
        order = [i for i in np.argsort(-adds)[:most] if adds[i] > 0]
        yield list(dict.fromkeys(_in_words(names[i], values[i], row) for i in order))


def _in_words(feature: str, value: float, row: dict[str, Any]) -> str:
    if feature in KINDS:
        return feature if value else f"not {feature}"
    if feature in REVIEWS:
        return f"review {feature}" if value else f"review not {feature}"
    return _signal_in_words(feature, value, row) or _history_in_words(feature, value, row)


def _signal_in_words(feature: str, value: float, row: dict[str, Any]) -> str | None:
    match feature:
        case "searched":
            return "searched this week"
        case "share of evidence without the answer":
            lacking = row["evidence_pieces"] - row["pieces_with_answer"]
            return f"{lacking} of {row['evidence_pieces']} pieces of evidence lack the answer"
        case "evidence newer than the answer":
            return feature if value else "no evidence newer than the answer"
        case "newer evidence lacks the answer" | "answer box says otherwise":
            return feature if value else f"not: {feature}"
        case "answer box changed":
            return feature if value else "answer box as before"
        case "drift of the pages":
            return f"{value:.0%} of the pages moved since the last snapshot"
        case "share of systems that disagree":
            return f"{row['systems_incorrect']} of {row['systems_rated']} systems say otherwise"
    return None


def _history_in_words(feature: str, value: float, row: dict[str, Any]) -> str:
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
