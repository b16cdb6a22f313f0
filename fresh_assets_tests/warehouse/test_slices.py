"""Writing slices: by name, whole or not at all."""

from datetime import date

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings

from fresh_assets.answers.asking import ANSWER_SCHEMA
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.slices import FrameError, write_slice

TABLE = "eval.recorded_answers"
KEY = {"week": "2026-01-05", "system": "a/b"}
FRAME = pl.DataFrame(
    {
        "question_key": ["q1", "q2"],
        "answer": ["x", "y"],
        "file_name": ["f", "f"],
        "byte_hash": ["h", "h"],
    }
)


def stored(warehouse: Warehouse) -> list[tuple[object, ...]]:
    with warehouse.reader() as con:
        return con.execute(
            f"SELECT system, question_key, answer FROM {TABLE} ORDER BY ALL"
        ).fetchall()


def test_slice_is_replaced_and_others_stay(warehouse: Warehouse) -> None:
    write_slice(warehouse, TABLE, KEY, FRAME)
    write_slice(warehouse, TABLE, {**KEY, "system": "c"}, FRAME.head(1))
    write_slice(warehouse, TABLE, KEY, FRAME.tail(1))
    assert stored(warehouse) == [("a/b", "q2", "y"), ("c", "q1", "x")]


@given(st.permutations(FRAME.columns))
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_columns_go_by_name_whatever_their_order(warehouse: Warehouse, columns: list[str]) -> None:
    write_slice(warehouse, TABLE, KEY, FRAME.select(columns))
    assert stored(warehouse) == [("a/b", "q1", "x"), ("a/b", "q2", "y")]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop("answer"), "columns missing"),
        (FRAME.with_columns(extra=pl.lit(1)), "not declared"),
        (FRAME.with_columns(answer=pl.lit(1)), "answer is INTEGER, declared VARCHAR"),
        (FRAME.with_columns(answer=pl.lit(None, dtype=pl.String)), "answer is NULL"),
        (FRAME.with_columns(question_key=pl.lit("q1")), "two rows have the key"),
        (FRAME.with_columns(week=pl.lit(date(2026, 1, 12))), "other than the slice"),
        (FRAME.clear(), "empty slice must be asked for"),
    ],
    ids=["missing", "unknown", "retyped", "null", "duplicate", "other slice", "empty"],
)
def test_frame_that_does_not_fit_deletes_nothing(
    warehouse: Warehouse, frame: pl.DataFrame, message: str
) -> None:
    write_slice(warehouse, TABLE, KEY, FRAME)
    with pytest.raises(FrameError, match=message):
        write_slice(warehouse, TABLE, KEY, frame)
    assert len(stored(warehouse)) == 2


def test_a_row_that_a_check_forbids_deletes_nothing(warehouse: Warehouse) -> None:
    answers = pl.DataFrame(
        [
            {
                "question_key": "q", "version": date(2026, 1, 5), "method": "m", "state": "lost",
                "answer": "x", "evidence_ranks": [1], "system_hash": "h",
            }
        ],
        schema={**ANSWER_SCHEMA, "version": pl.Date, "method": pl.String, "system_hash": pl.String},
    )  # fmt: skip
    good = answers.with_columns(state=pl.lit("answered"))
    write_slice(warehouse, "eval.answers", KEY, good)
    with pytest.raises(FrameError, match="does not hold in 1 rows, the first .*question_key = q"):
        write_slice(warehouse, "eval.answers", KEY, answers)
    with warehouse.reader() as con:
        assert con.execute("SELECT state FROM eval.answers").fetchall() == [("answered",)]


def test_empty_slice_can_be_asked_for(warehouse: Warehouse) -> None:
    write_slice(warehouse, TABLE, KEY, FRAME)
    write_slice(warehouse, TABLE, KEY, FRAME.clear(), allow_empty=True)
    assert stored(warehouse) == []


def test_equal_content_has_an_equal_hash_whatever_the_order(warehouse: Warehouse) -> None:
    first = write_slice(warehouse, TABLE, KEY, FRAME)
    assert write_slice(warehouse, TABLE, KEY, FRAME.reverse()) == first
    assert write_slice(warehouse, TABLE, KEY, FRAME.with_columns(answer=pl.lit("z"))) != first
