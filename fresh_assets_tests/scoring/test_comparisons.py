"""Paired comparisons: hand-worked cases, and what must hold for all of them."""

from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from scipy.stats import binomtest

from fresh_assets.refresh import Platform
from fresh_assets.scoring.comparisons import detectable, holm, interval, p_value

COUNTS = st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(1, 60))


def test_mcnemar_of_a_known_case() -> None:
    assert p_value(8, 2) == pytest.approx(binomtest(2, 10).pvalue)
    assert p_value(8, 2) == pytest.approx(0.109375)
    assert p_value(40, 20) == pytest.approx(0.0141, abs=1e-4)
    assert p_value(0, 0) == 1.0


@given(COUNTS)
@settings(max_examples=50, deadline=None)
def test_swapping_the_systems_changes_only_the_sign(counts: tuple[int, int, int]) -> None:
    only_a, only_b, both = counts
    judged = only_a + only_b + both
    assert p_value(only_a, only_b) == pytest.approx(p_value(only_b, only_a))
    assert 0 <= p_value(only_a, only_b) <= 1
    low, high = interval(judged, only_a, only_b)
    assert -1 <= low <= high <= 1
    mirrored = interval(judged, only_b, only_a)
    assert mirrored == pytest.approx((-high, -low), abs=0.1)


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for only_a, only_b, _ in random.multinomial(200, [0.2, 0.1, 0.7], 400):
        low, high = interval(200, int(only_a), int(only_b))
        covered += low <= 0.1 <= high
    assert 0.91 <= covered / 400 <= 0.98


def test_a_detectable_difference_is_detected_four_times_of_five() -> None:
    difference = detectable(300, 30, 30)
    assert difference == pytest.approx(0.0725, abs=0.001)
    random = np.random.default_rng(2)
    up, down = 0.1 + difference / 2, 0.1 - difference / 2
    drawn = random.multinomial(300, [up, down, 1 - up - down], 400)
    found = sum(p_value(int(a), int(b)) < 0.05 for a, b, _ in drawn)
    assert 0.7 <= found / 400 <= 0.88
    assert detectable(300, 0, 0) is None


def test_a_detectable_difference_shrinks_with_the_questions_for_every_number() -> None:
    """The solver returns an array for some numbers (117), the negative root for others (73)."""
    found = [detectable(judged, 1, 0) for judged in range(30, 300)]
    assert all(a > b for a, b in pairwise(found))  # type: ignore[operator]


def test_holm_of_a_known_case() -> None:
    frame = pl.DataFrame({"g": ["x", "x", "x", "y"], "p": [0.01, 0.04, 0.03, 0.04]})
    corrected = frame.with_columns(holm(pl.col("p")).over("g").alias("h"))["h"].to_list()
    assert corrected == pytest.approx([0.03, 0.06, 0.06, 0.04])


def test_pairs_of_the_demo_world(refreshed: Platform) -> None:
    with refreshed.warehouse.reader() as con:
        pairs = con.sql(
            "SELECT * FROM mart.comparisons WHERE slice = 'overall' AND mode = 'relaxed'"
        ).pl()
        accuracy = con.sql(
            "SELECT * FROM mart.accuracy WHERE slice = 'overall' AND mode = 'relaxed'"
        ).pl()
    judged = dict(accuracy.select("system", "judged").rows())
    assert {(r["system_a"], r["system_b"]) for r in pairs.rows(named=True)} == {
        ("demo/all-knowing", "demo/frozen-2025-09"),
        ("demo/all-knowing", "search-answer"),
        ("demo/frozen-2025-09", "search-answer"),
    }
    first = pairs.row(0, named=True)
    assert first["judged"] <= min(judged[first["system_a"]], judged[first["system_b"]])
    assert first["difference"] == pytest.approx(
        (first["only_a"] - first["only_b"]) / first["judged"]
    )
    assert first["ci_low"] <= first["difference"] <= first["ci_high"]
    assert first["p_holm"] < 0.05
