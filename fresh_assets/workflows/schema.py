"""The JSON of a workflow (arXiv 2404.08189): an optional trigger, and components in order.

A component is an action, a subflow or a piece of flow logic; `block` is the order of the logic it
stands under.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

TABLE_INPUT = "table"
FOLLOWS = {"ELSE": "IF", "CATCH": "TRY"}
"""Logic that must come right after other logic of the same block."""


class Part(BaseModel):
    """What the models of this file share: unknown keys are ignored, nothing changes."""

    model_config = ConfigDict(frozen=True)


class Input(Part):
    """An input and its value."""

    name: str
    value: Any = None


class Trigger(Part):
    """What starts a workflow."""

    type: str
    inputs: tuple[Input, ...] = ()
    annotation: str = ""

    @property
    def table(self) -> str | None:
        """The table it watches, if any."""
        return next(iter(tables_in(self.inputs)), None)


class Component(Part):
    """A step; `annotation` is the span of the request that asks for it."""

    category: Literal["action", "flowlogic", "subflow"] = "action"
    definition: str
    scope: str = "global"
    order: int
    block: int | None = None
    inputs: tuple[Input, ...] = ()
    annotation: str = ""


class Workflow(Part):
    """A whole workflow."""

    trigger: Trigger | None = None
    components: tuple[Component, ...] = ()

    @property
    def steps(self) -> list[str]:
        """Names of its steps, flow logic too, in order; with repetition."""
        return [part.definition for part in sorted(self.components, key=lambda part: part.order)]

    @property
    def tables(self) -> list[str]:
        """Names of its tables, with repetition."""
        triggers = [self.trigger.inputs] if self.trigger else []
        inputs = [*triggers, *(part.inputs for part in self.components)]
        return [table for of_part in inputs for table in tables_in(of_part)]


def tables_in(inputs: Sequence[Input]) -> Iterator[str]:
    """The values of inputs that name a table."""
    for given in inputs:
        if given.name == TABLE_INPUT and isinstance(given.value, str) and given.value:
            yield given.value


def structure_problems(workflow: Workflow) -> list[str]:
    """What is wrong with the order and the blocks, a sentence each; empty if nothing is."""
    orders = [part.order for part in workflow.components]
    by_order = {part.order: part for part in workflow.components}
    twice = sorted(order for order, times in Counter(orders).items() if times > 1)
    found = [f"order {order} is there twice" for order in twice]
    if not found and sorted(orders) != list(range(1, len(orders) + 1)):
        found.append(f"orders are {sorted(orders)}, not 1 to {len(orders)}")
    found += [p for part in workflow.components if (p := _block_problem(part, by_order))]
    return [*found, *_misplaced(workflow)]


def _block_problem(part: Component, by_order: Mapping[int, Component]) -> str | None:
    if part.block is None:
        return None
    stands = f"{part.definition} (order {part.order}) stands in block {part.block}"
    parent = by_order.get(part.block)
    if parent is None:
        return f"{stands}, which is not there"
    if parent.order >= part.order:
        return f"{stands}, which comes later"
    if parent.category != "flowlogic":
        return f"{stands}, {parent.definition}, which is no flow logic"
    return None


def _misplaced(workflow: Workflow) -> Iterator[str]:
    before: dict[int | None, str] = {}
    for part in sorted(workflow.components, key=lambda part: part.order):
        wanted = FOLLOWS.get(part.definition) if part.category == "flowlogic" else None
        if wanted and before.get(part.block) != wanted:
            yield f"{part.definition} (order {part.order}) does not come right after {wanted}"
        before[part.block] = part.definition


def outline(workflow: Workflow) -> str:
    """The workflow as an indented list for people."""
    trigger = workflow.trigger
    lines = [f"when: {trigger.type}" + _on(trigger.inputs) if trigger else "when: started by hand"]
    for part, depth in _nested(workflow):
        lines.append("  " * depth + f"{part.order}. {part.definition}" + _on(part.inputs))
    return "\n".join(lines)


def mermaid(workflow: Workflow) -> str:
    """The workflow as a Mermaid flowchart; names are quoted, so that none can be markup."""
    trigger = workflow.trigger
    start = f"{trigger.type}{_on(trigger.inputs)}" if trigger else "by hand"
    lines = ["flowchart TD", f'  start(["{_quoted(start)}"])']
    last: dict[int | None, str] = {None: "start"}
    for part, _ in _nested(workflow):
        node, text = f"n{part.order}", f'"{_quoted(part.definition + _on(part.inputs))}"'
        lines.append(f"  {node}" + (f"{{{text}}}" if part.category == "flowlogic" else f"[{text}]"))
        lines.append(f"  {last.get(part.block, f'n{part.block}')} --> {node}")
        last[part.block] = node
    return "\n".join(lines)


def _nested(workflow: Workflow) -> Iterator[tuple[Component, int]]:
    """Parts in order with their depth; a block that is not there, or a circle, is the top."""
    blocks = {part.order: part.block for part in workflow.components}
    for part in sorted(workflow.components, key=lambda part: part.order):
        depth, block, seen = 1, part.block, {part.order}
        while block is not None and block in blocks and block not in seen:
            seen.add(block)
            depth, block = depth + 1, blocks[block]
        yield part, depth


def _on(inputs: Sequence[Input]) -> str:
    tables = ", ".join(tables_in(inputs))
    return f" on {tables}" if tables else ""


def _quoted(text: str) -> str:
    plain = "".join(c if c.isalnum() or c in " _.-,:/" else f"#{ord(c)};" for c in text)
    return plain or "#32;"
