"""A model's text read as a workflow: every text ends as one of a few states, with the reason."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from fresh_assets.workflows.schema import Workflow, structure_problems

State = Literal["valid", "misplaced", "wrong_shape", "no_json", "truncated", "too_long"]
LONGEST = 1_000_000
"""Characters of a text that are read."""
LONGEST_REASON = 500
_FENCE = re.compile(r"```[A-Za-z]*\s*\n(.*?)(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Reading:
    """What a text was read as.

    valid; misplaced: right JSON, wrong order or blocks; wrong_shape: JSON that is no workflow;
    no_json; truncated: JSON that stops; too_long. The first two have a workflow.
    """

    state: State
    workflow: Workflow | None = None
    reason: str = ""


class DuplicateKeyError(ValueError):
    """An object has a key twice: which one is meant is not known."""


def read_workflow(text: str) -> Reading:
    """Read the first JSON object of `text`, fenced or not; never raises."""
    if len(text) > LONGEST:
        return Reading("too_long", reason=f"{len(text):,} characters; {LONGEST:,} are read")
    fenced = _FENCE.search(text)
    content = fenced.group(1) if fenced else text
    start = content.find("{")
    if start < 0:
        return Reading("no_json", reason="there is no { in it")
    try:
        found, _ = _DECODER.raw_decode(content, start)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(content.rstrip()) or error.msg.startswith("Unterminated")
        reason = f"{error.msg} at character {error.pos}"
        return Reading("truncated" if is_cut else "no_json", reason=reason)
    except DuplicateKeyError as error:
        return Reading("no_json", reason=str(error))
    except RecursionError:
        return Reading("no_json", reason="it is nested too deeply")
    except ValueError as error:
        return Reading("no_json", reason=f"a number is too long ({error})"[:200])
    return _shaped(found)


def _shaped(found: Any) -> Reading:
    try:
        workflow = Workflow.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return Reading("wrong_shape", reason=f"{place}: {first['msg']}")
    if "components" not in found:
        return Reading("wrong_shape", reason="components: it has none")
    problems = structure_problems(workflow)
    if problems:
        return Reading("misplaced", workflow, "; ".join(problems[:5])[:LONGEST_REASON])
    return Reading("valid", workflow)


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise DuplicateKeyError(f"the key {twice[:80]!r} is there twice")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_once)
