"""Risk that an answer changed: what the model learns, what it says, what it must never see."""

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from sklearn.metrics import average_precision_score

from fresh_assets.benchmark.ground_truth import ground_truth
from fresh_assets.benchmark.imports import Source
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets.staleness.history import observed, read_history
from fresh_assets.staleness.queue import learn, review_queue
from fresh_assets.staleness.risk import (
    FEATURES,
    daily_rate,
    features,
    fit,
    fit_signals,
    model_of,
    rates_of_kinds,
    reasons,
    signal_features,
    volatility,
)
from fresh_assets.staleness.signals import read_signals
from fresh_assets.staleness.topics import topic_of
from fresh_assets.warehouse.slices import write_slice
from fresh_assets_tests.benchmark.files import as_csv, row, rows

FIRST = date(2024, 1, 1)


def history_of(home: Path, weeks: int = 8) -> pl.DataFrame:
    """Eight weekly versions: question 1 changes every week, 2 once, the others never."""
    platform = Platform(Settings(home=home))
    for n in range(weeks):
        changing = row(
            1, answer_0=f"Answer {n}", fact_type="fast-changing", next_review="frequently"
        )
        once = row(2, answer_0="Late" if n >= 4 else "Early", fact_type="slow-changing")
        alias = row(3, answer_1=f"Alias {n}")
        day = FIRST + timedelta(weeks=n)
        content = as_csv(rows(changing, once, alias, number=12))
        platform.import_version(content, Source(day, f"{day}.csv"))
    platform.refresh_benchmark(lambda _: None)
    with platform.warehouse.reader() as con:
        return read_history(con)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return history_of(tmp_path_factory.mktemp("history"))


def test_history_counts_changes_of_the_first_answer_up_to_the_version(
    history: pl.DataFrame,
) -> None:
    at = history.filter(pl.col("version") == FIRST + timedelta(weeks=5))
    by_answer = {r["answers"][0]: r for r in at.rows(named=True)}
    assert by_answer["Answer 5"]["changes_seen"] == 5
    assert by_answer["Answer 5"]["days_since_change"] == 0
    assert by_answer["Answer 5"]["changed_next"]
    assert by_answer["Late"]["changes_seen"] == 1
    assert by_answer["Late"]["days_since_change"] == 7
    assert by_answer["Thing 3"]["changes_seen"] == 0
    assert not by_answer["Thing 3"]["changed_next"]
    assert {r["days_seen"] for r in by_answer.values()} == {35}


def test_nothing_later_than_the_version_is_seen(tmp_path: Path, history: pl.DataFrame) -> None:
    known = [
        "version",
        "question_key",
        "kind",
        "age",
        "days_seen",
        "changes_seen",
        "days_since_change",
    ]
    shorter = history_of(tmp_path, weeks=5)
    same = history.filter(pl.col("version") <= FIRST + timedelta(weeks=4))
    assert same.select(known).equals(shorter.select(known))


def test_the_newest_version_has_no_label(history: pl.DataFrame) -> None:
    assert len(observed(history)) == len(history) - 12
    assert set(observed(history)["days_ahead"]) == {7}


def test_volatility_draws_a_question_towards_its_kind(history: pl.DataFrame) -> None:
    rates = volatility(history).sort("changes_per_year", descending=True)
    assert rates["changes_seen"].to_list()[:2] == [7, 1]
    assert (
        rates["changes_per_year"][0]
        > rates["changes_per_year"][1]
        > rates["changes_per_year"][2]
        > 0
    )
    newest = FIRST + timedelta(weeks=7)
    assert newest < rates["expected_change"][0] < newest + timedelta(days=30)
    assert rates["last_change"][0] == newest


def test_answers_live_as_long_as_they_were_seen_to(tmp_path: Path) -> None:
    """Question 1 lives a week eight times over, 2 four weeks, the other ten are never seen to
    change within seven weeks."""
    history_of(tmp_path)
    with Platform(Settings(home=tmp_path)).warehouse.reader() as con:
        curves = con.sql("SELECT * FROM freshqa.survival ORDER BY kind, days").pl()
    fast = curves.filter(pl.col("kind") == "fast-changing")
    assert fast.select("days", "at_risk", "changed", "survival").rows() == [(7, 7, 7, 0.0)]
    slow = curves.filter(pl.col("kind") == "slow-changing")
    assert slow.select("days", "at_risk", "changed", "survival").rows()[-1] == (28, 2 - 1, 1, 0.0)
    never = curves.filter(pl.col("kind") == "never-changing")
    assert never["changed"].sum() == 0


def made(changed: list[bool], fast: list[bool]) -> pl.DataFrame:
    n = len(changed)
    return pl.DataFrame(
        {
            "question_key": [str(i) for i in range(n)],
            "kind": ["fast-changing" if f else "never-changing" for f in fast],
            "topic": ["sport" if i % 2 else "money" for i in range(n)],
            "next_review": ["frequently" if f else "N/A" for f in fast],
            "days_to_review": pl.Series([3 if f else None for f in fast], dtype=pl.Int32),
            "age": [0 if f else 8 for f in fast], "days_seen": [100] * n,
            "changes_seen": [5 if f else 0 for f in fast],
            "days_since_change": pl.Series([9 if f else None for f in fast], dtype=pl.Int32),
            "days_ahead": [7] * n, "changed_next": changed,
        }
    )  # fmt: skip


def test_the_model_learns_and_says_why() -> None:
    random = np.random.default_rng(0)
    fast = [bool(x) for x in random.random(400) < 0.3]
    changed = [bool(f and random.random() < 0.6) for f in fast]
    rows_ = made(changed, fast)
    model = fit(rows_)
    assert model
    risk = model.risk(rows_)
    assert risk[np.array(fast)].min() > 0.4
    assert risk[~np.array(fast)].max() < 0.1
    assert risk.sum() == pytest.approx(sum(changed), rel=0.05)
    why = list(reasons(model, rows_))
    assert any(
        set(w) & {"fast-changing", "review frequently", "review overdue by 4 days"} for w in why
    )
    assert all(len(w) <= 3 for w in why)
    read_back = model_of(model.table())
    assert read_back
    assert read_back.risk(rows_) == pytest.approx(risk)


def test_a_topic_has_a_rate_of_its_own_drawn_towards_its_kind() -> None:
    rows_ = made([i % 2 == 1 and i % 3 == 0 for i in range(6000)], [True] * 6000)
    rates = rates_of_kinds(rows_)
    sport, kind, money = (
        rates[n] for n in ("fast-changing / sport", "fast-changing", "fast-changing / money")
    )
    assert sport > kind > money > 0
    few = rates_of_kinds(rows_.head(20))
    assert few["fast-changing / sport"] == pytest.approx(few["fast-changing"], rel=0.1)
    unknown = rows_.head(1).with_columns(topic=pl.lit("music"), changes_seen=pl.lit(0))
    assert unknown.select(daily_rate(rates)).item() == pytest.approx(90 * kind / 190)


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("Which club leads the Zaege League?", "sport"),
        ("Who is the mayor of Bral?", "politics"),
        ("How many crowns does a ticket cost?", "money"),
        ("Why is it so?", "other"),
    ],
)
def test_topics_go_by_words(question: str, topic: str) -> None:
    assert pl.DataFrame({"q": [question]}).select(topic_of(pl.col("q"))).item() == topic


def signals_of(newer: list[bool]) -> pl.DataFrame:
    n = len(newer)
    return pl.DataFrame(
        {
            "question_key": [str(i) for i in range(n)], "evidence_pieces": [5] * n,
            "pieces_with_answer": [2] * n, "is_newer": newer, "newest_holds_answer": [True] * n,
            "topic_holds_answer": [True] * n, "box_holds_answer": [None] * n,
            "box_changed": [None] * n, "drift": [0.1] * n, "systems_rated": [0] * n,
            "systems_incorrect": [0] * n,
        },
        schema_overrides={"box_holds_answer": pl.Boolean, "box_changed": pl.Boolean},
    )  # fmt: skip


def test_signals_move_the_risk_and_say_so() -> None:
    """History knows which answers are fast, the evidence which of them changed already."""
    random = np.random.default_rng(0)
    fast = [bool(x) for x in random.random(600) < 0.3]
    newer = [bool(f and random.random() < 0.3) for f in fast]
    changed = [bool(n and random.random() < 0.9) for n in newer]
    rows_, signals = made(changed, fast), signals_of(newer)
    model = fit(rows_)
    assert model
    taught = fit_signals(signal_features(signals, model.log_odds(rows_)), rows_["changed_next"])
    together = replace(model, signals=taught)
    truth = rows_["changed_next"].to_numpy()
    alone = average_precision_score(truth, model.risk(rows_))
    assert average_precision_score(truth, together.risk(rows_, signals)) > alone + 0.3
    read_back = model_of(together.table())
    assert read_back
    assert read_back.risk(rows_, signals) == pytest.approx(together.risk(rows_, signals))
    assert together.risk(rows_) == pytest.approx(model.risk(rows_)), "not searched: history alone"
    why = list(reasons(together, rows_, signals))
    assert all("evidence newer than the answer" in w for w, n in zip(why, newer, strict=True) if n)


def test_too_little_history_gives_no_model() -> None:
    assert fit(made([True] * 9 + [False] * 50, [True] * 59)) is None


@given(st.integers(1, 4000), st.integers(0, 3000), st.integers(0, 40), st.integers(-500, 900))
@settings(max_examples=60, deadline=None)
def test_features_are_finite_whatever_the_history(
    ahead: int, seen: int, changes: int, due: int
) -> None:
    one = made([True], [True]).with_columns(
        days_ahead=pl.lit(ahead), days_seen=pl.lit(seen), changes_seen=pl.lit(changes),
        days_to_review=pl.lit(due),
    )  # fmt: skip
    found = features(one, rates_of_kinds(one))
    assert found.shape == (1, len(FEATURES))
    assert np.isfinite(found).all()


def test_the_queue_of_the_demo_world(refreshed: Platform) -> None:
    with refreshed.warehouse.reader() as con:
        queue = con.sql("SELECT * FROM mart.stale_answers ORDER BY place").pl()
        coefficients = con.sql("SELECT count(*) FROM mart.staleness_model").fetchall()[0][0]
    assert len(queue) == 60
    assert queue["risk"].to_list() == sorted(queue["risk"], reverse=True)
    assert set(queue.head(5)["kind"]) & {"fast-changing", "false premise"}
    assert queue["pieces_with_answer"].sum() > 0
    assert coefficients > len(FEATURES) + 1 + 4, "and the rate of each kind and topic"
    assert all(queue.head(5)["reasons"].list.len() > 0)


def test_what_the_evidence_says_instead_is_proposed(tmp_path: Path) -> None:
    platform = Platform(Settings(home=tmp_path))
    day = FIRST
    platform.import_version(as_csv(rows(row(1, answer_0="Ana Bol"))), Source(day, "v.csv"))
    platform.refresh_benchmark(lambda _: None)
    with platform.warehouse.reader() as con:
        truths = ground_truth(con, day, day)
    write_slice(platform.warehouse, "freshqa.ground_truth", {"week": str(day)}, truths)
    with platform.warehouse.writer() as con:
        (key,) = con.sql(
            "SELECT question_key FROM freshqa.current_questions WHERE id = 1"
        ).fetchall()[0]
        con.execute(
            "INSERT INTO search.evidence (week, engine, question_key, rank, kind, title, highlight, date, date_precision, url) VALUES "
            "(?, 'e', $2, 0, 'answer_box', 'Mayor', 'Tom Ray', NULL, NULL, NULL), "
            "(?, 'e', $2, 1, 'organic', 'Tom Ray is mayor', NULL, '2024-01-02', 'day', 'https://new.example'), "
            "(?, 'e', $2, 2, 'organic', 'Ána BOL was mayor', NULL, '2020-01-02', 'day', 'https://old.example')".replace(
                "?", "$1"
            ),
            [day, key],
        )
    with platform.warehouse.reader() as con:
        assert learn(read_history(con), day) is None
        queue = review_queue(con, day, None)
        signals = read_signals(con, day).filter(pl.col("question_key") == key).row(0, named=True)
    assert signals["is_newer"], "a page of the day after the version"
    assert not signals["newest_holds_answer"]
    assert signals["topic_holds_answer"], "an older page on the same topic"
    assert signals["box_holds_answer"] is False
    found = queue.filter(pl.col("question_key") == key).row(0, named=True)
    assert (found["evidence_pieces"], found["pieces_with_answer"]) == (3, 1)
    assert found["proposed_answer"] == found["box_says"] == "Tom Ray"
    assert (found["newest_evidence"], found["newest_url"]) == (
        date(2024, 1, 2),
        "https://new.example",
    )
    assert found["risk"] is None


def test_risk_beats_every_single_baseline_on_the_real_versions(tmp_path: Path, real: Path) -> None:
    platform = Platform(Settings(home=tmp_path))
    for name in (
        "2023-11-13",
        "2023-12-19",
        "2024-02-05",
        "2024-03-04",
        "2024-03-11",
        "2024-05-27",
    ):
        file = real / "normalized" / f"freshqa_{name}.csv"
        platform.import_version(file.read_bytes(), Source(date.fromisoformat(name), file.name))
    platform.refresh_benchmark(lambda _: None)
    with platform.warehouse.reader() as con:
        every = observed(read_history(con))
    asked = every.filter(pl.col("version") == date(2024, 3, 11))
    known = every.filter(pl.col("next_version") <= date(2024, 3, 11))
    model = fit(known)
    assert model
    truth = asked["changed_next"].to_numpy()
    assert truth.sum() == 56
    ours = average_precision_score(truth, model.risk(asked))
    review = (
        pl.when(pl.col("days_to_review").is_null()).then("next_review").otherwise(pl.lit("date"))
    )
    shares = known.group_by(by=review).agg(share=pl.col("changed_next").mean())
    by_review = asked.with_columns(by=review).join(
        shares, on="by", how="left", maintain_order="left"
    )
    theirs = average_precision_score(truth, by_review["share"].fill_null(0))
    assert ours > 0.7
    assert theirs < 0.5
