"""Metrics of workflows: bounds, order does not count, identity, disjoint; one worked by hand."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fresh_assets.workflows.metrics import (
    bag_of_steps,
    f1,
    invented_share,
    step_jaccard,
    structure,
    trigger_match,
)
from fresh_assets.workflows.schema import Component, Input, Trigger, Workflow

METRICS = (bag_of_steps, step_jaccard, structure)
NAMES = st.sampled_from(["a", "b", "c", "IF", "FOREACH"])


@st.composite
def workflows(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> Workflow:
    found = draw(st.lists(names, max_size=6))
    parts = []
    for order, name in enumerate(found, 1):
        block = draw(st.one_of(st.none(), st.integers(1, order - 1))) if order > 1 else None
        parts.append(Component(definition=name, order=order, block=block))
    trigger = draw(
        st.one_of(st.none(), st.builds(Trigger, type=st.sampled_from(["daily", "created"])))
    )
    return Workflow(trigger=trigger, components=tuple(parts))


def shuffled(workflow: Workflow, seed: int) -> Workflow:
    parts = list(workflow.components)
    random.Random(seed).shuffle(parts)
    return workflow.model_copy(update={"components": tuple(parts)})


@given(workflows(), workflows(), st.integers())
def test_bounds_symmetry_and_order(made: Workflow, gold: Workflow, seed: int) -> None:
    for metric in METRICS:
        value = metric(made, gold)
        assert 0 <= value <= 1
        assert metric(gold, made) == value
        assert metric(shuffled(made, seed), gold) == value


@given(workflows())
def test_a_workflow_is_as_good_as_itself(gold: Workflow) -> None:
    assert all(metric(gold, gold) == 1 for metric in METRICS)
    assert trigger_match(gold, gold) is (True if gold.trigger else None)


@given(workflows(), workflows(st.sampled_from(["x", "y"])))
def test_nothing_in_common_is_nothing(made: Workflow, gold: Workflow) -> None:
    if made.components or gold.components:
        assert all(metric(made, gold) == 0 for metric in METRICS)


@given(st.lists(st.sampled_from("abc")), st.sets(st.sampled_from("abc")))
def test_the_invented_share_is_that_of_the_unknown(names: list[str], known: set[str]) -> None:
    share = invented_share(names, known)
    if not names:
        assert share is None
    else:
        assert share is not None
        assert 0 <= share <= 1
        assert (share == 0) == (set(names) <= known)
        assert (share == 1) == (not set(names) & known)
        assert share == pytest.approx(1 - (invented_share(names, set("abc") - known) or 0))


def test_worked_by_hand() -> None:
    """Gold: look_up, FOREACH(mail, log). Made: look_up, FOREACH(mail, mail), wait at the top."""
    table = (Input(name="table", value="incident"),)
    gold = Workflow(
        trigger=Trigger(type="created", inputs=table),
        components=(
            Component(definition="look_up", order=1), Component(definition="FOREACH", order=2, category="flowlogic"),
            Component(definition="mail", order=3, block=2), Component(definition="log", order=4, block=2),
        ),
    )  # fmt: skip
    made = Workflow(
        trigger=Trigger(type="created"),
        components=(
            *gold.components[:3], Component(definition="mail", order=4, block=2), Component(definition="wait", order=5),
        ),
    )  # fmt: skip
    assert bag_of_steps(made, gold) == pytest.approx(2 * 3 / 9)  # 3 of 5 made, 3 of 4 gold
    assert step_jaccard(made, gold) == pytest.approx(3 / 5)
    assert structure(made, gold) == pytest.approx(2 * 3 / 9)  # look_up, FOREACH, FOREACH>mail
    assert trigger_match(made, gold) is False  # the table is missing
    assert invented_share(made.steps, {"look_up", "FOREACH", "mail"}) == pytest.approx(1 / 5)
    assert f1([], []) == 1
