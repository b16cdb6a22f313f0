"""The declared schema, and bringing older and newer files to it."""

from pathlib import Path

import duckdb
import pytest

from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.schema import SchemaError, catalog, declared

META = """
CREATE SCHEMA IF NOT EXISTS meta;
CREATE TABLE meta.schema_version (
    version INTEGER PRIMARY KEY, declaration_hash VARCHAR, applied_at TIMESTAMP
);
CREATE TABLE meta.slices (
    table_name VARCHAR, slice VARCHAR, row_count BIGINT, content_hash VARCHAR, inputs_hash VARCHAR,
    code_version VARCHAR, run_id VARCHAR, written_at TIMESTAMP, PRIMARY KEY (table_name, slice)
);
CREATE SCHEMA IF NOT EXISTS s;
"""
OLD = "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v VARCHAR);"


def sql_folder(folder: Path, table: str, **migrations: str) -> Path:
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "s.sql").write_text(META + table)
    for name, text in migrations.items():
        (folder / "migrations").mkdir(exist_ok=True)
        (folder / "migrations" / f"{name.strip('_')}.sql").write_text(text)
    return folder


def open_with(file: Path, folder: Path) -> duckdb.DuckDBPyConnection:
    with Warehouse(file, 5, declared(folder)).reader() as con:
        return duckdb.sql("SELECT 1") and con.execute("SELECT * FROM s.t").fetchall()


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "w.duckdb"
    with Warehouse(file, 5, declared(sql_folder(tmp_path / "old", OLD))).writer() as con:
        con.execute("INSERT INTO s.t VALUES (1, 'kept')")
    return file


def test_every_table_and_column_says_what_it_is() -> None:
    for table in declared().tables.values():
        assert table.comment, table.name
        assert table.primary_key, table.name
        for column in table.columns:
            assert column.comment, f"{table.name}.{column.name}"


def test_added_column_and_table_are_applied(tmp_path: Path, old: Path) -> None:
    new = "CREATE TABLE s.t (k INTEGER PRIMARY KEY, w DOUBLE, v VARCHAR); CREATE TABLE s.u (k INTEGER);"
    assert open_with(old, sql_folder(tmp_path / "new", new)) == [(1, "kept", None)]
    with duckdb.connect(str(old)) as con:
        assert "s.u" in catalog(con)


@pytest.mark.parametrize(
    "table",
    [
        "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v INTEGER);",
        "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v VARCHAR, w VARCHAR NOT NULL);",
        "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v VARCHAR CHECK (v <> ''));",
        "CREATE TABLE s.t (k INTEGER, v VARCHAR);",
    ],
    ids=["retyped", "required", "check", "key"],
)
def test_other_changes_need_a_numbered_migration(tmp_path: Path, old: Path, table: str) -> None:
    with pytest.raises(SchemaError, match="add a numbered file"):
        open_with(old, sql_folder(tmp_path / "new", table))
    assert open_with(old, tmp_path / "old") == [(1, "kept")]


def test_numbered_migration_runs_once(tmp_path: Path, old: Path) -> None:
    folder = sql_folder(
        tmp_path / "new",
        "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v INTEGER);",
        _0001_to_length="ALTER TABLE s.t ALTER v TYPE INTEGER USING length(v) + 10;",
    )
    assert open_with(old, folder) == [(1, 14)]
    assert open_with(old, folder) == [(1, 14)]


def test_failing_migration_leaves_the_file_as_it_was(tmp_path: Path, old: Path) -> None:
    folder = sql_folder(
        tmp_path / "new",
        "CREATE TABLE s.t (k INTEGER PRIMARY KEY, v INTEGER);",
        _0001_broken="DELETE FROM s.t; SELECT no_such_function();",
    )
    with pytest.raises(duckdb.Error):
        open_with(old, folder)
    assert open_with(old, tmp_path / "old") == [(1, "kept")]


@pytest.mark.parametrize(
    ("table", "migrations"),
    [
        (OLD, {"_0002_later": "SELECT 1;"}),
        ("CREATE TABLE s.t (k INTEGER PRIMARY KEY, v VARCHAR, w VARCHAR);", {}),
        (OLD + "CREATE TABLE s.u (k INTEGER);", {}),
    ],
    ids=["migration", "column", "table"],
)
def test_file_of_a_newer_program_is_refused(
    tmp_path: Path, table: str, migrations: dict[str, str]
) -> None:
    file = tmp_path / "w.duckdb"
    open_with(file, sql_folder(tmp_path / "new", table, **migrations))
    with pytest.raises(SchemaError, match="newer|knows 0"):
        open_with(file, sql_folder(tmp_path / "old", OLD))


def test_evidence_of_older_warehouses_is_kept_and_takes_the_new_kinds(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path / "w.duckdb", 5)
    insert = "INSERT INTO search.evidence (week, engine, question_key, rank, kind) VALUES "
    with warehouse.writer() as con:
        con.execute("""
            DROP TABLE search.evidence;
            CREATE TABLE search.evidence (
                week DATE NOT NULL, engine VARCHAR NOT NULL, question_key VARCHAR NOT NULL,
                rank INTEGER NOT NULL, kind VARCHAR NOT NULL CHECK (kind = 'organic'),
                source VARCHAR, date DATE, date_precision VARCHAR, date_text VARCHAR,
                title VARCHAR, snippet VARCHAR, highlight VARCHAR, url VARCHAR, run_id VARCHAR,
                code_version VARCHAR
            );
            UPDATE meta.schema_version SET version = 0, declaration_hash = 'older';
        """)
        con.execute(insert + "('2026-01-05', 'e', 'k', 0, 'organic')")
    with Warehouse(warehouse.file, 5).writer() as con:
        con.execute(insert + "('2026-01-05', 'e', 'k', 1, 'top_story')")
        kinds = con.execute("SELECT kind FROM search.evidence ORDER BY rank").fetchall()
    assert kinds == [("organic",), ("top_story",)]
