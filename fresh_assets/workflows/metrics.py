"""A generated workflow beside the gold one (arXiv 2404.08189); all values lie in 0 to 1."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable

from fresh_assets.workflows.schema import Trigger, Workflow


def bag_of_steps(made: Workflow, gold: Workflow) -> float:
    """F1 of the two multisets of steps, whatever their order; 1 where both have none."""
    return f1(made.steps, gold.steps)


def step_jaccard(made: Workflow, gold: Workflow) -> float:
    """Shared share of the two sets of steps: repetition does not count; 1 where both have none."""
    ours, theirs = set(made.steps), set(gold.steps)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def trigger_match(made: Workflow, gold: Workflow) -> bool | None:
    """Whether type and table of the trigger are those of gold; None where neither has one.

    The paper does not state its denominator: over all workflows None counts as a match, over those
    with a trigger it does not count.
    """
    if made.trigger is None and gold.trigger is None:
        return None
    return _identity(made.trigger) == _identity(gold.trigger)


def structure(made: Workflow, gold: Workflow) -> float:
    """F1 of the edges of the two block trees: (name of the block, name of the part in it)."""
    return f1(edges(made), edges(gold))


def edges(workflow: Workflow) -> list[tuple[str, str]]:
    """Edges of the block tree by name; the top has the name ''."""
    names = {part.order: part.definition for part in workflow.components}
    return [
        ("" if part.block is None else names.get(part.block, "?"), part.definition)
        for part in workflow.components
    ]


def invented_share(names: Collection[str], known: Collection[str]) -> float | None:
    """Share of `names` that are not among `known`; None without names."""
    if not names:
        return None
    return sum(name not in known for name in names) / len(names)


def f1(made: Iterable[Hashable], gold: Iterable[Hashable]) -> float:
    """F1 of two multisets; 1 where both are empty."""
    ours, theirs = Counter(made), Counter(gold)
    total = ours.total() + theirs.total()
    return 2 * (ours & theirs).total() / total if total else 1.0


def _identity(trigger: Trigger | None) -> tuple[str, str | None] | None:
    return (trigger.type, trigger.table) if trigger else None
