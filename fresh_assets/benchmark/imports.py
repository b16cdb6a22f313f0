"""Take a version file into the archive and the list of revisions.

The rows themselves are derived from the archive by the asset `freshqa/questions`.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta

import duckdb
import polars as pl

from fresh_assets.benchmark.version_file import VersionFile, parse_version, refuse_damage
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.slices import Provenance, conform, put_slice

FIRST_DATE = date(2000, 1, 1)
LOST_ROWS = 0.1
"""A version that lost more than this share of the rows of its neighbour is not trusted."""
REVISIONS = "freshqa.revisions"
FINDINGS = "freshqa.findings"


@dataclass(frozen=True)
class Source:
    """Where a version file comes from; `origin` is `import` or `demo`."""

    version: date
    file_name: str
    origin: str = "import"
    accept_damage: bool = False


@dataclass(frozen=True)
class Imported:
    """What an import did: `revision` is the current one, new or not."""

    source: Source
    revision: int
    is_new: bool
    parsed: VersionFile


def import_version(
    warehouse: Warehouse, archive: Archive, content: bytes, source: Source
) -> Imported:
    """Validate `content` and record it as a revision of its version.

    The rows of the current revision again make no new one, in whatever format. Raises
    BadInputError for a file that cannot be trusted and UserError for one that belongs elsewhere.
    """
    parsed = parse_version(content, source.file_name)
    if not source.accept_damage:
        refuse_damage(parsed)
    refuse_other_origin(warehouse, source.origin)
    _refuse_odd_date(source)
    if not source.accept_damage:
        _refuse_lost_rows(warehouse, source, parsed)
    archive.put(content)
    with warehouse.writer() as con:
        known = con.execute(
            f"SELECT * FROM {REVISIONS} WHERE version = ? ORDER BY revision", [source.version]
        ).pl()
        current = known.row(-1, named=True) if len(known) else None
        if current and current["row_hash"] == parsed.row_hash:
            return Imported(source, current["revision"], False, parsed)
        revision = len(known) + 1
        sequence = con.execute(f"SELECT coalesce(max(sequence), 0) + 1 FROM {REVISIONS}").fetchall()
        row = _revision_row(source, parsed, revision, sequence[0][0])
        findings = con.execute(f"SELECT * FROM {FINDINGS} WHERE version = ?", [source.version]).pl()
        con.execute("BEGIN")
        _put(con, warehouse, REVISIONS, source, pl.concat([known, row.cast(known.schema)]))
        fresh = _finding_rows(source, parsed, revision).cast(findings.schema)
        _put(con, warehouse, FINDINGS, source, pl.concat([findings, fresh]))
        con.execute("COMMIT")
    return Imported(source, revision, True, parsed)


def refuse_other_origin(warehouse: Warehouse, origin: str) -> None:
    """Raise UserError if the home holds versions of another origin: worlds are not mixed."""
    with warehouse.reader() as con:
        other = con.execute(
            f"SELECT DISTINCT origin FROM {REVISIONS} WHERE origin <> ?", [origin]
        ).fetchone()
    if other:
        holds = "the demo world" if other[0] == "demo" else "an imported benchmark"
        raise UserError(
            f"this home holds {holds}; set FRESH_ASSETS_HOME to another folder to keep them apart"
        )


def read_revisions(con: duckdb.DuckDBPyConnection, version: date) -> list[tuple[int, str, str]]:
    """(revision, byte hash, file name) of every revision of `version`, oldest first."""
    return con.execute(
        f"SELECT revision, byte_hash, file_name FROM {REVISIONS} WHERE version = ? ORDER BY 1",
        [version],
    ).fetchall()


def parse_revisions(archive: Archive, revisions: list[tuple[int, str, str]]) -> pl.DataFrame:
    """Rows of freshqa.questions of one version, from the archived files."""
    content = dict(archive.get_many(byte_hash for _, byte_hash, _ in revisions))
    return pl.concat(
        parse_version(content[byte_hash], file_name).questions.with_columns(
            revision=pl.lit(revision, dtype=pl.Int32)
        )
        for revision, byte_hash, file_name in revisions
    )


def _refuse_odd_date(source: Source) -> None:
    latest = datetime.now(UTC).date() + timedelta(days=31)
    if not FIRST_DATE <= source.version <= latest:
        raise UserError(f"version date {source.version} is outside {FIRST_DATE} to {latest}")


def _refuse_lost_rows(warehouse: Warehouse, source: Source, parsed: VersionFile) -> None:
    """A file much shorter than its neighbours was probably cut off."""
    with warehouse.reader() as con:
        nearest = con.execute(
            f"SELECT version, row_count FROM {REVISIONS} "
            "ORDER BY abs(version - $version::DATE), revision DESC LIMIT 1",
            {"version": source.version},
        ).fetchone()
    found = len(parsed.questions)
    if nearest and found < nearest[1] * (1 - LOST_ROWS):
        raise BadInputError(
            source.file_name,
            f"only {found} questions, while version {nearest[0]} has {nearest[1]}",
            "Download it again, or import it as it is with --accept-damage",
        )


def _revision_row(
    source: Source, parsed: VersionFile, revision: int, sequence: int
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "version": [source.version],
            "revision": [revision],
            "sequence": [sequence],
            "origin": [source.origin],
            "file_name": [source.file_name],
            "byte_hash": [parsed.byte_hash],
            "row_hash": [parsed.row_hash],
            "row_count": [len(parsed.questions)],
            "finding_count": [len(parsed.findings)],
            "damage_accepted": [source.accept_damage],
            "imported_at": [datetime.now(UTC).replace(tzinfo=None)],
        }
    )


def _finding_rows(source: Source, parsed: VersionFile, revision: int) -> pl.DataFrame:
    rows = [
        {"version": source.version, "revision": revision, "ordinal": i, **asdict(finding)}
        for i, finding in enumerate(parsed.findings)
    ]
    columns = (
        "version",
        "revision",
        "ordinal",
        "file_row",
        "column_name",
        "kind",
        "action",
        "cell_text",
    )
    return pl.DataFrame(rows, schema=columns, infer_schema_length=None)


def _put(
    con: duckdb.DuckDBPyConnection,
    warehouse: Warehouse,
    name: str,
    source: Source,
    rows: pl.DataFrame,
) -> None:
    table, key = warehouse.declaration.tables[name], {"version": source.version.isoformat()}
    put_slice(con, table, key, conform(table, key, rows, Provenance()), Provenance())
