"""Systems, the search baseline, recorded answers."""

import json
from datetime import date

import duckdb
import polars as pl
import pytest

from fresh_assets.answers.imports import match_answers, read_answers
from fresh_assets.answers.methods import evidence_of, recorded, search_answer
from fresh_assets.answers.systems import read_systems
from fresh_assets.benchmark.identity import question_hash
from fresh_assets.errors import BadInputError, UserError

DAY = date(2026, 1, 5)
QUESTIONS = pl.DataFrame({"question_key": ["box", "top", "none", "blank"]})


def hit(key: str, rank: int, kind: str = "organic", **fields: str) -> dict[str, object]:
    empty = {"title": None, "snippet": None, "highlight": None}
    return {"question_key": key, "engine": "e", "rank": rank, "kind": kind, **empty, **fields}


EVIDENCE = pl.DataFrame(
    [
        hit("box", 0, snippet="first"),
        hit("box", 1, "answer_box", snippet="long", highlight="short"),
        hit("top", 0, "related_question", snippet="related"),
        hit("top", 1, title="only a title"),
        hit("top", 2, snippet="second"),
        hit("blank", 0, "related_question", snippet="related"),
    ],
    schema_overrides={"rank": pl.Int32, "title": pl.String, "highlight": pl.String},
)


def test_search_answer_takes_the_box_else_the_top_result() -> None:
    rows = search_answer(QUESTIONS, EVIDENCE).rows_by_key("question_key", named=True, unique=True)
    assert (rows["box"]["answer"], rows["box"]["evidence_ranks"]) == ("short", [1])
    assert (rows["top"]["answer"], rows["top"]["evidence_ranks"]) == ("only a title", [1])
    assert (rows["none"]["state"], rows["none"]["reason"]) == (
        "error",
        "the search brought no evidence",
    )
    assert (rows["blank"]["state"], rows["blank"]["answer"]) == ("empty", None)


def test_every_question_has_a_row_without_any_evidence() -> None:
    rows = search_answer(QUESTIONS, EVIDENCE.clear())
    assert rows["state"].to_list() == ["error"] * 4


def test_recorded_answers_keep_their_states() -> None:
    given = pl.DataFrame({"question_key": ["box", "top"], "answer": ["yes", "  "]})
    rows = recorded(QUESTIONS, given)
    assert rows.select("question_key", "state", "answer").rows() == [
        ("box", "answered", "yes"),
        ("top", "empty", None),
        ("none", "error", None),
        ("blank", "error", None),
    ]


def test_engine_must_be_named_where_a_week_has_several() -> None:
    two = pl.concat([EVIDENCE, EVIDENCE.with_columns(engine=pl.lit("f"))])
    assert len(evidence_of(two, "f", "s")) == len(EVIDENCE)
    with pytest.raises(UserError, match="evidence of e, f: set `engine` for s"):
        evidence_of(two, None, "s")


def test_systems_file() -> None:
    text = '[systems.a]\nmethod = "search_answer"\n[systems."m/x-1"]\nmethod = "recorded"\n'
    systems = read_systems(text)
    assert list(systems.systems) == ["a", "m/x-1"]
    assert systems.find("a").hash != systems.find("m/x-1").hash
    assert systems.find("elsewhere").method == "recorded"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a\n", "systems.toml: "),
        ("[a]\n", r"\[a\] should be \[systems.a\]"),
        ("[systems]\na = 1", "systems.a is no table"),
        ('[systems.a]\nmethod = "magic"', r"\[systems.a\], method: "),
        ('[systems.a]\nmethod = "recorded"\ncolour = 1', r"\[systems.a\], recorded.colour: "),
        ('[systems.a]\nname = "b"\nmethod = "recorded"', r"\[systems.a\], name: the name stands"),
        ('[systems."a|b"]\nmethod = "recorded"', r"\[systems.a\|b\], recorded.name: "),
        (
            '[systems.a]\nmethod = "closed_book"\nmodel = "m"\nendpoint = "x"',
            r"systems.toml, a: no endpoint 'x', only local",
        ),
        ("[endpoints.e]\nurl = 1", r"\[endpoints.e\], url: "),
    ],
)
def test_mistakes_in_the_systems_file_are_named(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_systems(text)


CSV = b"question,answer\nWho?,Ana\nWhat?,\n"


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        b"\xef\xbb\xbf" + CSV,
        b"a warning,\n,\n" + CSV.replace(b"answer", b"model_response"),
        b"".join(
            json.dumps({"question": q, "answer": a}).encode() + b"\n"
            for q, a in [("Who?", "Ana"), ("What?", "")]
        ),
    ],
    ids=["csv", "bom", "sheet", "jsonl"],
)
def test_formats_of_recorded_answers(content: bytes) -> None:
    assert [(value, answer) for _, value, answer in read_answers(content, "f")] == [
        ("Who?", "Ana"),
        ("What?", ""),
    ]


@pytest.fixture
def con() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("CREATE SCHEMA freshqa")
    con.execute(
        "CREATE TABLE freshqa.current_questions AS SELECT * FROM (VALUES "
        f"(DATE '{DAY}', 0, '{question_hash('Who?')}', 'k0'), (DATE '{DAY}', 1, '{question_hash('What?')}', 'k1')"
        ") t(version, id, question_hash, question_key)"
    )
    con.execute(
        "CREATE TABLE freshqa.question_links AS SELECT * FROM (VALUES "
        f"('{question_hash('Who is it?')}', 'k0'), ('{question_hash('Gone?')}', 'k9')"
        ") t(question_hash, question_key)"
    )
    return con


@pytest.mark.parametrize(
    "content",
    [
        CSV,
        b"id,answer\n0,Ana\n1,\n",
        b"question_key,response\nk0,Ana\nk1,\n",
        b"question,answer\nwho,Ana\nWHAT ?,\n",
        b"Question,Answer\nWho is it?,Ana\nWhat?,\n",
        b'{"question": "Who?", "answer": "Ana"}\n{"question": "What?", "answer": ""}\n',
    ],
)
def test_questions_are_found_by_text_id_or_key(
    con: duckdb.DuckDBPyConnection, content: bytes
) -> None:
    rows = match_answers(con, content, "f.csv", DAY)
    assert rows.select("question_key", "answer").rows() == [("k0", "Ana"), ("k1", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            b"question,answer\nWho?,Ana\nWhere?,x\n",
            "f.csv, row 3, column question: 'Where?' is no question",
        ),
        (b"question,answer\nWho?,Ana\nwho,x\n", "f.csv, row 3: the question is there twice"),
        (b"frage,antwort\nx,y\n", "f.csv: columns are frage, antwort"),
        (b"", "f.csv: no answers in it"),
        (b"question,answer\nGone?,x\n", "'Gone?' is no question"),
        (b"question,answer,answer\nWho?,a,b\n", "column answer is there twice"),
        (b"question,answer\nWho?,hi, there\n", "row 2: the row has 3 cells, the header 2"),
        (b"question,answer\nWho?,a\0b\n", "a NUL character"),
        (b"PK\x03\x04broken", "f.csv: not readable"),
        (b'{"question": "Who?", "answer": "a"}\n[1]\n', "line 2: not an object"),
        (b'{"question": "Who?", "answer": "a"}\n{"question": "What?"}\n', "line 2: other keys"),
        (b'{"question": "Who?", "answer": {"a": 1}}\n', "line 1: 'answer' is no text"),
        (b'{"question": "Who?", "answer": "\\ud800"}\n', "f.csv: not readable"),
        (b"question,answer\n\xff,x\n", "f.csv: not readable"),
        (b'{"question": \n', "f.csv: not readable"),
    ],
)
def test_mistakes_in_recorded_answers_are_named(
    con: duckdb.DuckDBPyConnection, content: bytes, message: str
) -> None:
    with pytest.raises(BadInputError) as error:
        match_answers(con, content, "f.csv", DAY)
    assert message in str(error.value)
