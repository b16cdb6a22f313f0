"""Whatever a model writes ends as a state with a reason; what is valid can be shown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fresh_assets.demo.workflows import catalogs, request_file
from fresh_assets.workflows.reading import LONGEST, read_workflow
from fresh_assets.workflows.schema import mermaid, outline, structure_problems

GOOD = {
    "trigger": {"type": "record_created", "inputs": [{"name": "table", "value": "incident"}]},
    "components": [
        {"category": "flowlogic", "definition": "IF", "order": 1, "block": None},
        {"category": "action", "definition": "mail", "order": 2, "block": 1},
        {"category": "flowlogic", "definition": "ELSE", "order": 3},
        {"category": "action", "definition": "create_record", "order": 4, "block": 3, "inputs": [{"name": "table", "value": "task"}]},
    ],
}  # fmt: skip
TEXT = json.dumps(GOOD)


@pytest.mark.parametrize(
    ("text", "state", "reason"),
    [
        (TEXT, "valid", ""),
        (f"Here it is:\n```json\n{TEXT}\n```\nEnjoy!", "valid", ""),
        (f"```\n{TEXT}", "valid", ""),
        (TEXT + " I hope this helps {", "valid", ""),
        (TEXT[:-30], "truncated", "at character"),
        (TEXT[:30], "truncated", "Unterminated"),
        (TEXT.replace('"trigger"', '// the trigger\n"trigger"', 1), "no_json", "at character"),
        (TEXT.replace('"order": 1', '"order": 1, "order": 2'), "no_json", "'order' is there twice"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "no_json", "nested too deeply"),
        ("{" + "".join(f'"{i}":0,' for i in range(80_000)) + '"79999":1}', "no_json", "'79999' is there twice"),
        ("[" * 10_000, "no_json", "no {"),
        ("{" + '"components": [' * 10_000, "no_json", ""),
        ("x" * 5_000_000, "too_long", "5,000,000"),
        (TEXT + " " * LONGEST, "too_long", ""),
        ("", "no_json", "no {"),
        ("I cannot do that.", "no_json", "no {"),
        ("{}", "wrong_shape", "components"),
        ('{"components": 3}', "wrong_shape", "components"),
        ('{"components": [{"definition": 3, "order": 1}]}', "wrong_shape", "components.0.definition"),
        (TEXT.replace('"action"', '"dance"', 1), "wrong_shape", "category"),
        ('{"components": [], "n": ' + "9" * 5000 + "}", "no_json", "number"),
        (TEXT.replace('"order": 4', '"order": 7'), "misplaced", "not 1 to 4"),
        (TEXT.replace('"order": 4', '"order": 2'), "misplaced", "order 2 is there twice"),
        (TEXT.replace('"block": 3', '"block": 9'), "misplaced", "block 9, which is not there"),
        (TEXT.replace('"block": 1', '"block": 3'), "misplaced", "comes later"),
        (TEXT.replace('"block": 3', '"block": 2'), "misplaced", "no flow logic"),
        (TEXT.replace("ELSE", "CATCH"), "misplaced", "CATCH (order 3) does not come right after TRY"),
    ],
)  # fmt: skip
def test_every_text_has_its_state(text: str, state: str, reason: str) -> None:
    found = read_workflow(text)
    assert found.state == state, found.reason[:200]
    assert reason in found.reason
    assert (found.workflow is not None) == (state in {"valid", "misplaced"})
    assert bool(found.reason) == (state != "valid")


@given(st.text() | st.text().map(lambda t: TEXT[: len(t) * 7] + t + TEXT[len(t) * 7 :]))
def test_nothing_raises(text: str) -> None:
    found = read_workflow(text)
    assert found.state == "valid" or found.reason
    if found.workflow:
        outline(found.workflow)
        mermaid(found.workflow)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["trigger", "components", "definition", "order", "block", "inputs", "type"]
                ),
                inner,
            )
        ),
    )
)
def test_no_json_raises(value: object) -> None:
    assert read_workflow(json.dumps({"components": value})).state in {
        "valid",
        "misplaced",
        "wrong_shape",
    }


def test_it_is_shown_as_an_outline_and_a_diagram() -> None:
    workflow = read_workflow(TEXT).workflow
    assert workflow is not None
    assert outline(workflow).splitlines() == [
        "when: record_created on incident", "  1. IF", "    2. mail", "  3. ELSE", "    4. create_record on task"
    ]  # fmt: skip
    assert mermaid(workflow).splitlines() == [
        "flowchart TD", '  start(["record_created on incident"])', '  n1{"IF"}', "  start --> n1", '  n2["mail"]',
        "  n1 --> n2", '  n3{"ELSE"}', "  n1 --> n3", '  n4["create_record on task"]', "  n3 --> n4",
    ]  # fmt: skip
    assert workflow.tables == ["incident", "task"]


def test_a_name_is_no_markup_in_the_diagram() -> None:
    text = TEXT.replace('"mail"', json.dumps('"]; click n1 "javascript:x" <b>'))
    workflow = read_workflow(text).workflow
    assert workflow is not None
    (line,) = (line for line in mermaid(workflow).splitlines() if line.startswith("  n2["))
    assert line.count('"') == 2
    assert "<" not in line
    assert "]" not in line[:-1]


def test_every_gold_workflow_of_the_demo_is_valid() -> None:
    for _, deployment in catalogs("2026-01-05"):
        for line in request_file(deployment).splitlines():
            found = read_workflow(json.dumps(json.loads(line)["workflow"]))
            assert found.state == "valid", (line, found.reason)
            assert found.workflow is not None
            assert structure_problems(found.workflow) == []
