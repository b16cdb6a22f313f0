"""Agreement of raters: hand-worked cases and what holds for every table."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from fresh_assets.scoring.agreement import measures
from fresh_assets.scoring.correction import JudgeErrors, corrected

CELLS = st.tuples(*[st.integers(0, 40)] * 4).filter(any)


def test_a_hand_worked_table() -> None:
    agreement, kappa, low, high, alpha = measures(20, 5, 10, 15)
    assert agreement == 0.7
    assert kappa == pytest.approx(0.4)
    assert low is not None
    assert high is not None
    assert low < 0.4 < high
    # 2 * 20 + 5 + 10 = 55 of 100 votes are correct; by chance 2 * 55 * 45 / (100 * 99) disagree
    assert alpha == pytest.approx(1 - 0.3 / (2 * 55 * 45 / 9900))


def test_tables_without_variation_have_no_kappa() -> None:
    assert measures(7, 0, 0, 0) == (1.0, None, None, None, None)
    assert measures(5, 3, 0, 0)[1] is None
    assert measures(4, 0, 0, 4)[1] == pytest.approx(1)


@given(CELLS)
def test_bounds_and_symmetry(cells: tuple[int, int, int, int]) -> None:
    both, only_a, only_b, neither = cells
    first, second = measures(*cells), measures(both, only_b, only_a, neither)
    assert 0 <= first[0] <= 1
    assert first[1] is None or -1 <= first[1] <= 1
    assert first == pytest.approx(second, nan_ok=True)
    relabelled = measures(neither, only_b, only_a, both)
    assert (first[1] is None) == (relabelled[1] is None)


def test_a_hand_worked_correction() -> None:
    found = corrected(60, 100, JudgeErrors(45, 5, 10, 40))
    assert found
    assert found["sensitivity"] == pytest.approx(0.9)
    assert found["specificity"] == pytest.approx(0.8)
    assert found["corrected"] == pytest.approx((0.6 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert found["corrected_low"] < found["corrected"] < found["corrected_high"]


def test_a_perfect_judge_needs_no_correction_and_a_useless_one_gets_none() -> None:
    perfect = corrected(60, 100, JudgeErrors(50, 0, 0, 50))
    assert perfect
    assert perfect["corrected"] == pytest.approx(0.6)
    assert corrected(60, 100, JudgeErrors(25, 25, 25, 25)) is None
    assert corrected(60, 100, JudgeErrors(50, 5, 0, 0)) is None


def test_the_interval_covers_the_truth() -> None:
    random = np.random.default_rng(3)
    truth, se, sp, covered = 0.5, 0.9, 0.8, 0
    for _ in range(200):
        seen = random.binomial(400, truth * se + (1 - truth) * (1 - sp))
        right, wrong = random.binomial(75, se), random.binomial(75, sp)
        found = corrected(
            int(seen), 400, JudgeErrors(int(right), 75 - int(right), 75 - int(wrong), int(wrong))
        )
        assert found
        covered += found["corrected_low"] <= truth <= found["corrected_high"]
    assert 0.9 <= covered / 200 <= 0.99
