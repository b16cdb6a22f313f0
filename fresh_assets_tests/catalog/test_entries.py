"""Catalog files: what is read, what is refused with row and column, near-duplicates."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fresh_assets.catalog.entries import entry_texts, near_duplicates, read_entries, words_of
from fresh_assets.errors import BadInputError


def lines(*rows: dict[str, object]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def test_json_lines_and_csv_say_the_same() -> None:
    rows = [
        {"name": "smtp.send", "kind": "action", "title": "Send an e-mail", "app": "Mail server",
         "description": "Sends one.", "inputs": ["to", "text"], "takes_table": False, "common": True},
        {"name": "IF", "kind": "flowlogic"},
    ]  # fmt: skip
    header = "name,kind,title,app,description,inputs,takes_table,common\n"
    table = (
        header
        + "smtp.send,action,Send an e-mail,Mail server,Sends one.,to | text,no,yes\nIF,logic,,,,,,\n"
    )
    one, other = (read_entries(c, "f", "steps") for c in (lines(*rows), table.encode()))
    assert one.equals(other)
    assert one["kind"].to_list() == ["logic", "action"]
    assert one["is_common"].to_list() == [False, True]
    assert entry_texts(one) == ["if", "Mail server. Send an e-mail. Sends one. (smtp send)"]


def test_tables_take_label_and_columns() -> None:
    found = read_entries(
        lines({"name": "sc_task", "label": "Catalog Task", "columns": ["a"]}), "f", "tables"
    )
    assert found.select("kind", "title", "inputs").rows() == [("table", "Catalog Task", ["a"])]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "no entries in it"),
        (b'{"name": "a"}\n{"title": "b"}', "line 2, column name: no name"),
        (b'{"name": "a"}\n\n{"name": "a"}', r"line 3: 'a' is there already \(line 1\)"),
        (b'{"name": "a", "kind": "dance"}', "line 1, column kind: 'dance' is no kind"),
        (b'{"name": "a"}\n{"name":', "line 2: no JSON"),
        (b'{"name": "a"}\n[1]', "line 2: no object"),
        (b'{"name": "a", "inputs": {"x": 1}}', "line 1, column inputs: inputs are no list"),
        (b"name,title\na,b,c\n", "row 2: the row has not as many cells"),
        (b"name,title\na\n", "row 2: the row has not as many cells"),
        (b"name,kind\n,action\n", "row 2, column name: no name"),
        (b"\xff\xfe", "not UTF-8"),
    ],
)
def test_a_mistake_names_file_place_and_column(content: bytes, told: str) -> None:
    with pytest.raises(BadInputError, match=told):
        read_entries(content, "catalog.jsonl", "steps")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("post_slackMessage.v2", "post slack message v2"),
        ("HTTPRequest", "http request"),
        ("IF", "if"),
        ("", ""),
    ],
)
def test_names_are_read_as_words(name: str, words: str) -> None:
    assert words_of(name) == words


@given(st.text())
def test_words_have_no_capitals_and_no_outer_space(name: str) -> None:
    assert words_of(name) == words_of(name).strip()


def test_near_duplicates_are_named_once() -> None:
    found = read_entries(
        lines(
            {"name": "a", "title": "Create a record in the table of incidents"},
            {"name": "b", "title": "Create a record in the table of incident"},
            {"name": "c", "title": "Something else"},
        ),
        "f",
        "steps",
    )
    assert [(twins.name, twins.other) for twins in near_duplicates(found)] == [("a", "b")]
