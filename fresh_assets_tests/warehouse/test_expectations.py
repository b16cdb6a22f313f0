"""A corrupted slice of every table stops what depends on it, and the text says which rows."""

import shutil
from datetime import date
from pathlib import Path

import duckdb
import polars as pl
import pytest

from fresh_assets.definitions import CONTRACTS
from fresh_assets.demo.files import Demo
from fresh_assets.refresh import BlockedError, Platform, RefreshError
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.expectations import validate
from fresh_assets.warehouse.schema import Table, declared
from fresh_assets.warehouse.slices import FrameError, write_slice
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform
from fresh_assets_tests.test_refresh import quiet

WEEK = f"DATE '{DEMO_WEEK}'"
HASH = "a" * 64
SAMPLES = {
    "catalog.changes": "('it-2026-01-12', 'it-2026-01-05', 'steps', 's', 'renamed', 'o', 90, 'r', '1')",
    "catalog.indexes": f"('it-2026-01-05', 'steps', 'e', 'h', 4, 1, 1, 'ip', 'exact', 1, 'h', '{HASH}', 'r', '1')",
    "catalog.steps": f"('it-2026-01-05', 's', 'action', 'S', '', '', [], FALSE, FALSE, 'f', '{HASH}')",
    "catalog.tables": f"('it-2026-01-05', 't', 'T', '', '', [], 'f', '{HASH}')",
    "eval.golden_ratings": f"({WEEK}, 'j', 'strict', {WEEK}, 's', 'q', 'correct', 'unrated', 'r', '1')",
    "eval.human_ratings": f"({WEEK}, 'ana', 's', 'q', 'strict', 'correct', NULL, 'h', 'f.csv')",
    "freshqa.decisions": f"(1, 'q', {WEEK}, 'keep', 'What?', ['a'], 'What?', ['a'], 'seen', NULL, 'ana', TIMESTAMP '2026-02-10')",
    "freshqa.findings": f"({WEEK}, 1, 0, 3, 'note', 'outer space', 'repaired', ' a')",
    "mart.corrected_accuracy": f"({WEEK}, 's', 'j', 'strict', 9, .5, 5, .9, .9, .5, .4, .6, 'r', '1')",
    "mart.judge_agreement": f"({WEEK}, 'a', 'b', 'strict', 'overall', 4, 1, 1, 1, 1, .5, 0, -1, 1, 0, 'r', '1')",
    "mart.retriever_recall": "('it-2026-01-05', 'steps', FALSE, 'test', 'bm25', 15, 4, .5, .4, .6, .5, .5, 0, 0, 0, 'e', 'r', '1')",
    "retriever.encoder": "(1, .5, .5, 9, TRUE, 'b', 'h', 'h', 'h', 4, '{}', 'r', '1')",
    "retriever.pairs": "('it-2026-01-05', 'i', 'steps', 1, 'do it', 's', 'S', 'r', '1')",
    "workflow.requests": f"('it-2026-01-05', 'i', 'test', 'do it', ['s'], [], NULL, 'f', '{HASH}')",
    "search.drift": f"({WEEK}, 'e', 'q', {WEEK} - 7, .5, 2, 1, 1, 0, [], FALSE, NULL, NULL, 'r', '1')",
}  # fmt: skip
"""Rows of tables that a refreshed demo world leaves empty."""

NOT_A_HASH = "'no hash'"
OUT_OF_DOMAIN = {
    "catalog.changes": ("change", "'moved'"), "catalog.indexes": ("recall", "0.5"),
    "catalog.steps": ("kind", "'dance'"), "catalog.tables": ("name", "' t'"),
    "eval.answers": ("state", "'asleep'"), "eval.golden_ratings": ("rating", "'maybe'"), "eval.human_ratings": ("rating", "'perhaps'"),
    "eval.judgements": ("mode", "'lenient'"), "eval.judges": ("options", "'{'"),
    "eval.recorded_answers": ("byte_hash", NOT_A_HASH), "eval.systems": ("options", "'{'"),
    "freshqa.changes": ("field", "'colour'"), "freshqa.decisions": ("decision", "'burn'"),
    "freshqa.findings": ("action", "'hidden'"), "freshqa.ground_truth": ("split", "'TRAIN'"),
    "freshqa.question_links": ("method", "'guessed'"), "freshqa.questions": ("effective_year", "'soon'"),
    "freshqa.revisions": ("byte_hash", NOT_A_HASH), "freshqa.version_index": ("sheet_id", "'a b'"),
    "freshqa.survival": ("survival", "2"), "freshqa.volatility": ("kind", "'odd'"), "mart.accuracy": ("slice", "'nowhere'"),
    "mart.comparisons": ("slice", "'nowhere'"), "mart.corrected_accuracy": ("accuracy", "1.5"),
    "mart.judge_agreement": ("alpha", "7"), "mart.stale_answers": ("place", "0"),
    "mart.staleness_model": ("coefficient", "'nan'::DOUBLE"), "search.drift": ("drift", "2"),
    "mart.retriever_recall": ("recall", "0.7"), "retriever.encoder": ("loss", "-1"),
    "retriever.pairs": ("entry", "''"), "workflow.requests": ("workflow", "'{'"),
    "search.evidence": ("url", "'javascript:1'"), "search.results": ("payload_hash", NOT_A_HASH),
}  # fmt: skip
FUTURE = {
    "eval.answers": "version", "eval.golden_ratings": "rated_week", "eval.human_ratings": "week", "eval.judgements": "week",
    "eval.recorded_answers": "week", "eval.systems": "knowledge_cutoff", "freshqa.changes": "previous_version",
    "freshqa.decisions": "decided_at", "freshqa.findings": "version", "freshqa.ground_truth": "valid_from",
    "freshqa.question_links": "first_version", "freshqa.questions": "review_date",
    "freshqa.revisions": "imported_at", "freshqa.version_index": "version", "freshqa.volatility": "last_change",
    "mart.accuracy": "version", "mart.comparisons": "version", "mart.corrected_accuracy": "week",
    "mart.judge_agreement": "week", "mart.stale_answers": "newest_evidence", "mart.staleness_model": "week",
    "search.drift": "previous_week", "search.evidence": "date", "search.results": "as_of",
}  # fmt: skip
"""A date of every table that has one; where it is the partition, the row leaves its slice."""
TABLES = sorted(CONTRACTS)


def corruptions(table: Table) -> dict[str, tuple[str, ...]]:
    """Statements that corrupt one row of `corrupt`, a copy of the table without constraints."""
    typed = next((c for c in table.columns if c.type != "VARCHAR"), table.columns[-1])
    other, value = (
        ("VARCHAR", "'x' || ({})::VARCHAR") if typed.type != "VARCHAR" else ("BIGINT", "1")
    )
    column, bad = OUT_OF_DOMAIN[table.name]
    found = {
        "wrong type": (
            f'ALTER TABLE corrupt ALTER "{typed.name}" SET DATA TYPE {other} '
            f"USING {value.format(f'''({typed.name})''')}",
        ),
        "missing row": ("DELETE FROM corrupt WHERE rowid = 0",),
        "duplicate key": ("INSERT INTO corrupt SELECT * FROM corrupt WHERE rowid = 0",),
        "out of domain": (f"UPDATE corrupt SET {column} = {bad} WHERE rowid = 0",),
    }
    if table.name in FUTURE:
        found["future date"] = (
            f"UPDATE corrupt SET {FUTURE[table.name]} = '2140-02-01' WHERE rowid = 0",
        )
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, refreshed: Platform) -> Path:
    """The demo world's warehouse with a row in every table."""
    file = tmp_path_factory.mktemp("corrupt") / "warehouse.duckdb"
    shutil.copy(refreshed.settings.warehouse_file, file)
    with duckdb.connect(str(file)) as con:
        con.execute("UPDATE eval.systems SET knowledge_cutoff = '2025-09-01'")
        for name, row in SAMPLES.items():
            con.execute(f"INSERT INTO {name} VALUES {row}")
            whole = ("freshqa.decisions", "retriever.encoder", "retriever.pairs")
            slice_ = "" if name in whole else str(DEMO_WEEK)
            of_catalog = "catalog" in declared().tables[name].primary_key and name not in whole
            slice_ = row[2 : row.index("',")] if of_catalog else slice_
            con.execute(
                "INSERT OR REPLACE INTO meta.slices VALUES (?, ?, 1, 'h', NULL, NULL, NULL, now()::TIMESTAMP)",
                [name, slice_],
            )
    return file


def key_of(con: duckdb.DuckDBPyConnection, table: Table) -> dict[str, str]:
    slices = con.execute(
        "SELECT slice FROM meta.slices WHERE table_name = ? AND row_count > 0 ORDER BY slice DESC",
        [table.name],
    ).fetchall()
    values = slices[0][0].split("|") if slices and slices[0][0] else []
    names = [
        n for n in ("catalog", "version", "week", "system") if n in {c.name for c in table.columns}
    ]
    if table.name == "eval.systems":
        names = ["system"]
    return dict(
        zip([n for n in names if n in table.primary_key][: len(values)], values, strict=True)
    )


@pytest.mark.parametrize("name", TABLES)
def test_a_corrupted_slice_is_found_and_its_rows_are_named(
    home: Path, tmp_path: Path, name: str
) -> None:
    table = declared().tables[name]
    contract = CONTRACTS[name]
    with duckdb.connect(str(home), read_only=True) as con:
        key = key_of(con, table)
        failures, met, rows = validate(con, table, key, contract)
        assert not failures
        assert met >= 3
        assert rows > 0
    kinds = corruptions(table)
    for kind, statements in kinds.items():
        file = tmp_path / f"{kind}.duckdb"
        shutil.copy(home, file)
        with duckdb.connect(str(file)) as con:
            corrupt(con, table, key, statements)
            failures, _, _ = validate(con, table, key, contract)
        assert failures, kind
        text = "; ".join(map(str, failures))
        names_rows = any(f.offenders for f in failures) or "written" in text
        assert names_rows, (kind, text)
        if kind == "wrong type":
            assert any(f"it is {t}" in text for t in ("VARCHAR", "BIGINT")), text
        file.unlink()


def corrupt(
    con: duckdb.DuckDBPyConnection, table: Table, key: dict[str, str], statements: tuple[str, ...]
) -> None:
    where = " AND ".join(f"{column} = '{value}'" for column, value in key.items()) or "TRUE"
    con.execute(f"CREATE TABLE corrupt AS SELECT * FROM {table.name} WHERE {where}")
    for statement in statements:
        con.execute(statement)
    con.execute(f"DROP TABLE {table.name} CASCADE")
    con.execute(f"CREATE TABLE {table.name} AS FROM corrupt")


@pytest.mark.parametrize("name", TABLES)
def test_what_the_declaration_forbids_is_refused_before_the_write(
    home: Path, tmp_path: Path, name: str
) -> None:
    table = declared().tables[name]
    with duckdb.connect(str(home), read_only=True) as con:
        key = key_of(con, table)
        where = " AND ".join(f"{column} = '{value}'" for column, value in key.items()) or "TRUE"
        good = con.sql(f"SELECT * FROM {name} WHERE {where} ORDER BY ALL").pl()
    typed = next((c.name for c in table.columns if c.type != "VARCHAR" and c.name not in key), None)
    bad = {"two rows have the key": pl.concat([good, good.head(1)])}
    if typed:
        bad[f"{typed} is VARCHAR"] = good.with_columns(pl.lit("x").alias(typed))
    required = next(c.name for c in table.columns if not c.nullable and c.name not in key)
    bad[f"{required} is NULL in row 0"] = good.with_columns(
        pl.lit(None, good.schema[required]).alias(required)
    )
    file = tmp_path / "warehouse.duckdb"
    shutil.copy(home, file)
    warehouse = Warehouse(file, lock_timeout=30)
    for told, frame in bad.items():
        with pytest.raises(FrameError) as caught:
            write_slice(warehouse, name, key, frame)
        assert told in str(caught.value)
    with warehouse.reader() as con:
        assert con.sql(f"SELECT * FROM {name} WHERE {where} ORDER BY ALL").pl().equals(good)


def test_a_check_of_the_declaration_names_the_first_row(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "warehouse.duckdb"
    shutil.copy(home, file)
    rows = pl.DataFrame(
        {"rater": ["ana", "tom"], "system": ["s"] * 2, "question_key": ["q"] * 2,
         "mode": ["strict"] * 2, "rating": ["correct", "perhaps"], "comment": [None, "?"],
         "answer_hash": ["h"] * 2, "file_name": ["f"] * 2}
    )  # fmt: skip
    with pytest.raises(FrameError, match="does not hold in 1 rows, the first week = .*rater = tom"):
        write_slice(Warehouse(file), "eval.human_ratings", {"week": str(DEMO_WEEK)}, rows)


@pytest.mark.slow
def test_nothing_downstream_of_a_corrupted_slice_runs(
    tmp_path: Path, demo: Demo, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fresh_assets.benchmark import assets  # noqa: PLC0415

    platform = demo_platform(tmp_path, demo, ())
    good = assets.truth_of_week
    future = pl.when(pl.col("id") == 3).then(pl.lit(date(2140, 2, 1))).otherwise("valid_from")
    damage = {
        "answers hold from a day up to the week: 1 rows do not, e.g. week = 2026-02-09": (
            BlockedError, lambda frame: frame.with_columns(valid_from=future),
        ),
        "no row is missing: 1 are, e.g. question_key = ": (BlockedError, lambda f: f.tail(-1)),
        "two rows have the key": (RefreshError, lambda frame: pl.concat([frame, frame.head(1)])),
    }  # fmt: skip
    for told, (error, change) in damage.items():
        monkeypatch.setattr(assets, "truth_of_week", lambda *a, c=change: c(good(*a)))
        with pytest.raises(error, match=told):
            platform.refresh(DEMO_WEEK, [], quiet)
        with platform.warehouse.reader() as con:
            for table in ("eval.answers", "eval.judgements", "mart.accuracy", "mart.stale_answers"):
                assert con.sql(f"SELECT count(*) FROM {table}").fetchall() == [(0,)]
    monkeypatch.undo()
    platform.refresh(DEMO_WEEK, [], quiet)
    assert platform.settings.published.exists()
