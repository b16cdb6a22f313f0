"""The declared schema (sql/) and bringing a warehouse file to it.

`sql/tables/*.sql` is the only declaration of a table. Added tables, views, comments and nullable
columns are applied by themselves; anything else needs a numbered file in `sql/migrations/`.
"""

import hashlib
import importlib.resources
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources.abc import Traversable

import duckdb

from fresh_assets.errors import UserError

PROVENANCE = ("run_id", "code_version")
"""Columns stamped by the IO manager: they say what made a row and are no part of its content."""


class SchemaError(UserError):
    """The warehouse file and the declared schema do not go together."""


@dataclass(frozen=True)
class Column:
    """A declared column."""

    name: str
    type: str
    nullable: bool
    comment: str


@dataclass(frozen=True)
class Table:
    """A declared table; `name` includes its schema."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...]
    constraints: frozenset[str]

    @property
    def checks(self) -> tuple[str, ...]:
        """Declared CHECKs as SQL predicates of a row."""
        found = (re.fullmatch(r"CHECK \[.*?\] CHECK\((.*)\)", c, re.S) for c in self.constraints)
        return tuple(sorted(match[1] for match in found if match))

    def column(self, name: str) -> Column:
        """Return the column called `name`; KeyError if there is none."""
        return {column.name: column for column in self.columns}[name]


@dataclass(frozen=True)
class Declaration:
    """All tables, views and numbered migrations of this program."""

    tables: dict[str, Table]
    statements: tuple[str, ...]
    views: tuple[str, ...]
    migrations: tuple[tuple[int, str], ...]

    @property
    def version(self) -> int:
        """Number of the last migration, 0 before the first."""
        return max((number for number, _ in self.migrations), default=0)

    @property
    def hash(self) -> str:
        """Hash of everything declared."""
        text = "\0".join([*self.statements, *self.views, str(self.version)])
        return hashlib.sha256(text.encode()).hexdigest()


@cache
def declared(folder: Traversable | None = None) -> Declaration:
    """Read the declaration from `folder` (default: the sql folder of the project)."""
    folder = folder or importlib.resources.files("fresh_assets.sql")
    statements = tuple(
        statement.query.strip()
        for _, text in _files(folder / "tables")
        for statement in duckdb.extract_statements(text)
    )
    with duckdb.connect() as con:
        for statement in statements:
            con.execute(statement)
        tables = catalog(con)
    migrations = tuple((int(name[:4]), text) for name, text in _files(folder / "migrations"))
    return Declaration(
        tables, statements, tuple(t for _, t in _files(folder / "views")), migrations
    )


def _files(folder: Traversable) -> list[tuple[str, str]]:
    if not folder.is_dir():
        return []
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".sql")), key=lambda f: f.name)
    return [(f.name, f.read_text(encoding="utf-8")) for f in files]


def catalog(con: duckdb.DuckDBPyConnection) -> dict[str, Table]:
    """Describe the tables that `con` has."""
    constraints = con.execute("""
        SELECT schema_name || '.' || table_name, constraint_type, constraint_column_names,
            constraint_text
        FROM duckdb_constraints() WHERE database_name = current_database()
    """).fetchall()
    columns = con.execute("""
        SELECT schema_name || '.' || table_name, column_name, data_type, is_nullable, comment
        FROM duckdb_columns() WHERE database_name = current_database() AND NOT internal
        ORDER BY column_index
    """).fetchall()
    tables = con.execute("""
        SELECT schema_name || '.' || table_name, comment
        FROM duckdb_tables() WHERE database_name = current_database() ORDER BY ALL
    """).fetchall()
    return {
        name: Table(
            name,
            comment or "",
            tuple(
                Column(c, kind, null, note or "") for t, c, kind, null, note in columns if t == name
            ),
            next(
                (tuple(on) for t, kind, on, _ in constraints if (t, kind) == (name, "PRIMARY KEY")),
                (),
            ),
            frozenset(f"{kind} {on} {text}" for t, kind, on, text in constraints if t == name),
        )
        for name, comment in tables
    }


def is_current(con: duckdb.DuckDBPyConnection, declaration: Declaration) -> bool:
    """Whether the file behind `con` has exactly the declared schema."""
    return _stored(con) == (declaration.version, declaration.hash)


def migrate(con: duckdb.DuckDBPyConnection, declaration: Declaration) -> None:
    """Bring the file behind `con` to the declared schema in one transaction.

    Raises SchemaError, with the file as it was, when the file is newer than the program or a
    change is not merely additive and no numbered migration covers it.
    """
    stored = _stored(con)
    if stored and stored[0] > declaration.version:
        raise SchemaError(
            f"the warehouse has schema version {stored[0]}, this program knows "
            f"{declaration.version}: update, or set FRESH_ASSETS_HOME to another folder"
        )
    con.execute("BEGIN")
    for number, text in declaration.migrations:
        if stored and number > stored[0]:
            con.execute(text)
    _add_missing(con, declaration)
    for view in declaration.views:
        con.execute(view)
    con.execute("DELETE FROM meta.schema_version")
    con.execute(
        "INSERT INTO meta.schema_version VALUES (?, ?, ?)",
        [declaration.version, declaration.hash, datetime.now(UTC).replace(tzinfo=None)],
    )
    con.execute("COMMIT")


def _stored(con: duckdb.DuckDBPyConnection) -> tuple[int, str] | None:
    exists = con.execute(
        "SELECT 1 FROM duckdb_tables() WHERE schema_name = 'meta' AND table_name = 'schema_version'"
    ).fetchone()
    if not exists:
        return None
    return con.execute("SELECT version, declaration_hash FROM meta.schema_version").fetchone()


def _add_missing(con: duckdb.DuckDBPyConnection, declaration: Declaration) -> None:
    actual = catalog(con)
    _refuse_unknown("tables", actual, declaration.tables)
    for name, table in actual.items():
        wanted = declaration.tables[name]
        _refuse_unknown(
            f"columns of {name}", (c.name for c in table.columns), (c.name for c in wanted.columns)
        )
        _add_columns(con, table, wanted)
    for statement in declaration.statements:
        created = re.match(r"CREATE TABLE ([\w.]+)", statement)
        if not (created and created[1] in actual):
            con.execute(statement)


def _refuse_unknown(what: str, actual: Iterable[str], wanted: Iterable[str]) -> None:
    unknown = sorted(set(actual) - set(wanted))
    if unknown:
        raise SchemaError(
            f"the warehouse has {what} this program does not know ({', '.join(unknown)}): it was "
            "written by a newer fresh_assets; update, or set FRESH_ASSETS_HOME to another folder"
        )


def _add_columns(con: duckdb.DuckDBPyConnection, actual: Table, wanted: Table) -> None:
    have = {c.name: c for c in actual.columns}
    retyped = [c.name for c in wanted.columns if c.name in have and have[c.name].type != c.type]
    if retyped or actual.constraints != wanted.constraints:
        changed = ", ".join(retyped) or "constraints"
        raise SchemaError(
            f"the declaration of {wanted.name} changed in more than added nullable columns "
            f"({changed}): add a numbered file to sql/migrations that takes old warehouses there"
        )
    for column in wanted.columns:
        if column.name not in have:
            con.execute(f"ALTER TABLE {wanted.name} ADD COLUMN {column.name} {column.type}")
