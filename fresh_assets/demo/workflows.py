"""Requests in natural wording with their gold workflows, and the catalogs they are made for."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fresh_assets.demo.deployments import (
    COMMON,
    DEPLOYMENTS,
    LOGIC,
    TRIGGERS,
    Deployment,
    Noun,
)

TAKES_TABLE = {"look_up_records", "create_record", "update_record"}
COMMON_SHARE = 0.35
"""How often a step is one of the common ones."""
SHAPES = ("sequence", "sequence", "branch", "loop", "guarded", "aside")


@dataclass
class Draft:
    """A workflow in the making: its parts in order, and the phrases of the request."""

    rng: random.Random
    deployment: Deployment
    components: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, category: str, said: str, block: int | None, table: str = "") -> int:
        """Append a part; return its order."""
        order = len(self.components) + 1
        inputs = [{"name": "table", "value": table}] if table else []
        self.components.append(
            {"category": category, "definition": name, "scope": "global", "order": order,
             "block": block, "inputs": inputs, "annotation": said}
        )  # fmt: skip
        return order

    def step(self, noun: Noun, block: int | None = None) -> str:
        """Append an action; return the words that ask for it."""
        rng = self.rng
        if rng.random() < COMMON_SHARE:
            action = rng.choice(COMMON[1:])
        else:
            action = rng.choice(self.deployment.actions)
        said = _said(rng.choice(action.wordings), noun, rng)
        self.add(action.name, "action", said, block, noun.name if _takes(action.name) else "")
        return said


def catalog_files(deployment: Deployment) -> dict[str, bytes]:
    """Steps and tables of a deployment as JSON lines, as `import-catalog` takes them."""
    steps = [
        {"name": a.name, "kind": kind, "title": _title(a.name), "description": a.description,
         "app": a.app, "common": common, "takes_table": _takes(a.name)}
        for kind, common, actions in (
            ("trigger", False, TRIGGERS), ("logic", True, LOGIC), ("action", True, COMMON),
            ("action", False, deployment.actions),
        )
        for a in actions
    ]  # fmt: skip
    tables = [
        {"name": t.name, "title": _title(t.name), "description": t.description}
        for t in deployment.tables
    ]
    return {"steps": _lines(steps), "tables": _lines(tables)}


def request_file(deployment: Deployment, share: float = 1.0, seed: int = 7) -> bytes:
    """Requests with gold workflows as JSON lines, as `import-requests` takes them.

    The same wording never stands in two splits. `share`: of the full number.
    """
    rng = random.Random(f"{seed}|{deployment.name}")  # noqa: S311
    made: dict[str, dict[str, Any]] = {}
    for split, number in deployment.splits:
        wanted = len(made) + max(1, round(number * share))
        while len(made) < wanted:
            request, workflow = _request(deployment, rng)
            key = f"{deployment.name}-{len(made) + 1:04}"
            made.setdefault(
                request, {"id": key, "split": split, "query": request, "workflow": workflow}
            )
    return _lines(list(made.values()))


def catalogs(day: str) -> Iterator[tuple[str, Deployment]]:
    """(key of the catalog, deployment) of the demo world."""
    for deployment in DEPLOYMENTS:
        yield f"{deployment.name}-{day}", deployment


def _request(deployment: Deployment, rng: random.Random) -> tuple[str, dict[str, Any]]:
    draft = Draft(rng, deployment)
    noun = rng.choice(deployment.tables)
    opening, trigger = _trigger(noun, rng)
    body = _SHAPES[rng.choice(SHAPES)](draft, noun)
    if trigger is None:
        request = body
    elif rng.random() < 0.3:
        request = f"{body}, {opening}"
    else:
        request = f"{opening}, {body}"
    workflow = {"trigger": trigger, "components": draft.components}
    return request[0].upper() + request[1:] + ".", workflow


def _trigger(noun: Noun, rng: random.Random) -> tuple[str, dict[str, Any] | None]:
    """A trigger and the words that ask for it; in one request of eight there is none."""
    if rng.random() < 1 / 8:
        return "", None
    action = rng.choice(TRIGGERS)
    table = noun.name if action.name.startswith("record_") else None
    inputs = [{"name": "table", "value": table}] if table else []
    said = _said(rng.choice(action.wordings), noun, rng)
    return said, {"type": action.name, "inputs": inputs, "annotation": said}


def _sequence(draft: Draft, noun: Noun) -> str:
    said = [draft.step(noun) for _ in range(draft.rng.choice((1, 2, 2, 3)))]
    return _joined(said, draft.rng)


def _branch(draft: Draft, noun: Noun) -> str:
    first = draft.step(noun)
    condition = draft.rng.choice(draft.deployment.conditions)
    block = draft.add("IF", "flowlogic", f"if {condition}", None)
    then = draft.step(noun, block)
    said = f"{first} and if {condition}, {then}"
    if draft.rng.random() < 0.5:
        other = draft.add("ELSE", "flowlogic", "otherwise", None)
        said += f", otherwise {draft.step(noun, other)}"
    return said


def _loop(draft: Draft, noun: Noun) -> str:
    said = _said(draft.rng.choice(COMMON[0].wordings), noun, draft.rng)
    draft.add(COMMON[0].name, "action", said, None, noun.name)
    block = draft.add("FOREACH", "flowlogic", "for each of them", None)
    inside = [draft.step(noun, block) for _ in range(draft.rng.choice((1, 2)))]
    return f"{said} and for each of them {_joined(inside, draft.rng)}"


def _guarded(draft: Draft, noun: Noun) -> str:
    block = draft.add("TRY", "flowlogic", "try to", None)
    said = draft.step(noun, block)
    catch = draft.add("CATCH", "flowlogic", "if that fails", None)
    return f"try to {said} and if that fails {draft.step(noun, catch)}"


def _aside(draft: Draft, noun: Noun) -> str:
    block = draft.add("PARALLEL", "flowlogic", "at the same time", None)
    first, second = draft.step(noun, block), draft.step(noun, block)
    return f"{first} and at the same time {second}"


_SHAPES = {
    "sequence": _sequence, "branch": _branch, "loop": _loop, "guarded": _guarded, "aside": _aside
}  # fmt: skip


def _joined(said: Sequence[str], rng: random.Random) -> str:
    if len(said) == 1:
        return said[0]
    last = rng.choice((" and ", ", then ", " and then "))
    return ", ".join(said[:-1]) + last + said[-1]


def _said(wording: str, noun: Noun, rng: random.Random) -> str:
    called = rng.choice(noun.called)
    article = "an" if called[0] in "aeioH" else "a"
    return wording.format(n=called, a=f"{article} {called}")


def _takes(name: str) -> bool:
    return name in TAKES_TABLE or name.startswith("record_")


def _title(name: str) -> str:
    words = name.replace("_", " ")
    return words[0].upper() + words[1:]


def _lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
