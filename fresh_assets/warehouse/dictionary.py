"""The data dictionary, docs/data_dictionary.md, written from the declaration.

`python -m fresh_assets.warehouse.dictionary` writes it; with `--check` it only says whether the
file is up to date.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb

from fresh_assets.warehouse.schema import Declaration, Table, declared

FILE = Path("docs/data_dictionary.md")


def dictionary(declaration: Declaration) -> str:
    """Markdown text of all tables and views with their comments."""
    lines = [
        "# Data dictionary",
        "",
        "Written from the comments in `sql/` by `python -m fresh_assets.warehouse.dictionary`.",
        "Analysts find all of it in the published file; `_snapshot` says what that file holds.",
        "",
        "## Views",
        "",
        *_views(declaration),
        *(line for table in declaration.tables.values() for line in _table(table)),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the file, or with `--check` exit with 1 if it is out of date."""
    text = dictionary(declared())
    if "--check" not in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    elif not FILE.exists() or FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE} is out of date: run python -m fresh_assets.warehouse.dictionary")


def _views(declaration: Declaration) -> Iterator[str]:
    with duckdb.connect() as con:
        for statement in (*declaration.statements, *declaration.views):
            con.execute(statement)
        views = con.execute("""
            SELECT schema_name || '.' || view_name, comment FROM duckdb_views()
            WHERE NOT internal ORDER BY ALL
        """).fetchall()
    for name, comment in views:
        yield f"* `{name}`: {comment}"


def _table(table: Table) -> Iterator[str]:
    yield from ("", f"## {table.name}", "", table.comment, "")
    yield from ("| column | type | |", "|---|---|---|")
    for column in table.columns:
        key = "**key** " if column.name in table.primary_key else ""
        optional = " (may be NULL)" if column.nullable else ""
        yield f"| {column.name} | {column.type} | {key}{column.comment}{optional} |"


if __name__ == "__main__":
    main()
