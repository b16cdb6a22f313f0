"""Accuracy by slice: denominators, intervals, bounds, and what an error counts as."""

from datetime import date

import polars as pl
import pytest

from fresh_assets.refresh import Platform
from fresh_assets.scoring.accuracy import SLICES
from fresh_assets_tests.conftest import DEMO_WEEK


@pytest.fixture(scope="module")
def table(refreshed: Platform) -> pl.DataFrame:
    with refreshed.warehouse.reader() as con:
        return con.sql("SELECT * FROM mart.accuracy").pl()


def test_denominators_come_from_the_version(refreshed: Platform, table: pl.DataFrame) -> None:
    with refreshed.warehouse.reader() as con:
        questions = con.execute(
            "SELECT *, split = 'TEST' AS test, question_key NOT IN (SELECT question_key FROM "
            "freshqa.changes WHERE field IN ('presence', 'question') OR (field = 'answers' AND "
            "detail <> 'aliases')) AS is_stable FROM freshqa.current_questions WHERE version = ?",
            [DEMO_WEEK],
        ).pl()
        con.register("q", questions.to_arrow())
        wanted = {
            name: con.execute(f"SELECT count(*) FROM q WHERE {where}").fetchall()[0][0]
            for name, where in SLICES.items()
        }
    for system, mode in table.select("system", "mode").unique().rows():
        cells = table.filter((pl.col("system") == system) & (pl.col("mode") == mode))
        assert dict(cells.select("slice", "asked").rows()) == {k: n for k, n in wanted.items() if n}


def test_slices_add_up(table: pl.DataFrame) -> None:
    for _, cells in table.group_by("system", "judge", "mode"):
        for column in ("asked", "answered", "judged", "correct", "unrated"):
            n = dict(cells.select("slice", column).rows())
            valid = n["valid premise"]
            assert n["overall"] == valid + n["false premise"]
            assert valid == n["fast-changing"] + n["slow-changing"] + n["never-changing"]
            assert valid == n["before 2022"] + n["since 2022"] == n["one-hop"] + n["multi-hop"]


def test_interval_and_bounds_hold_the_estimate(table: pl.DataFrame) -> None:
    rated = table.filter(pl.col("judged") > 0)
    assert (rated["ci_low"] <= rated["accuracy"] + 1e-9).all()
    assert (rated["accuracy"] <= rated["ci_high"] + 1e-9).all()
    assert (table["bound_low"] <= table["bound_high"]).all()
    assert (rated["bound_low"] <= rated["accuracy"] + 1e-9).all()
    assert (rated["accuracy"] <= rated["bound_high"] + 1e-9).all()
    exact = rated.filter(pl.col("unrated") == 0)
    assert (exact["bound_low"] == exact["bound_high"]).all()


def test_wilson_interval_of_a_known_case(table: pl.DataFrame) -> None:
    z = 1.959963984540054
    perfect = table.filter((pl.col("correct") == pl.col("judged")) & (pl.col("judged") > 0))
    for judged, low, high in perfect.select("judged", "ci_low", "ci_high").rows():
        n = float(judged)
        centre = (1 + z * z / (2 * n)) / (1 + z * z / n)
        half = z * (z * z / (4 * n * n)) ** 0.5 / (1 + z * z / n)
        assert low == pytest.approx(centre - half)
        assert high == pytest.approx(min(1.0, centre + half))


def test_the_world_is_told_apart(table: pl.DataFrame) -> None:
    overall = table.filter((pl.col("slice") == "overall") & (pl.col("mode") == "relaxed"))
    accuracy = dict(overall.select("system", "accuracy").rows())
    assert accuracy["demo/all-knowing"] > 0.95
    assert accuracy["demo/all-knowing"] > accuracy["demo/frozen-2025-09"] + 0.3
    frozen = dict(
        table.filter((pl.col("system") == "demo/frozen-2025-09") & (pl.col("mode") == "relaxed"))
        .select("slice", "accuracy")
        .rows()
    )
    assert frozen["never-changing"] == 1
    assert frozen["fast-changing"] < 0.2
    assert frozen["false premise"] == 0


def test_week_and_version_are_said(table: pl.DataFrame) -> None:
    assert table["week"].unique().to_list() == [DEMO_WEEK]
    assert table["version"].unique().to_list() == [date(2026, 2, 9)]
