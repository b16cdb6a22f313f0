"""Agreement of raters: hand-worked cases and what holds for every table."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fresh_assets.scoring.agreement import measures

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
