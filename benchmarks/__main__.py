"""`make bench`: import, changes and publishing beside plain DuckDB doing the same."""

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import duckdb
import polars as pl
from rich.console import Console
from rich.table import Table

from fresh_assets.benchmark.changes import find_changes
from fresh_assets.benchmark.identity import link_questions
from fresh_assets.benchmark.imports import Source, import_version, parse_revisions, read_revisions
from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.demo.files import Demo, make_demo, version_csv
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.publish import open_latest, publish
from fresh_assets.warehouse.slices import write_slice

VERSIONS = 100
ROWS = 600


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def best(work: Callable[[], object], times: int = 3) -> float:
    return min(timed(work) for _ in range(times))


def import_one(home: Path, demo: Demo) -> tuple[float, float]:
    """Import of one version into archive, revisions and questions; DuckDB reading the same CSV."""
    content = version_csv(demo, demo.days[0])
    file = home / "v.csv"
    file.write_bytes(content)
    warehouse, archive = Warehouse(home / "i.duckdb"), Archive(home / "i.sqlite")
    days = iter(demo.days[0] + timedelta(days=n) for n in range(10))
    with warehouse.reader():
        pass

    def ours() -> None:
        day = next(days)
        import_version(warehouse, archive, content, Source(day, "v.csv"))
        with warehouse.reader() as con:
            known = read_revisions(con, day)
        write_slice(
            warehouse, "freshqa.questions", {"version": str(day)}, parse_revisions(archive, known)
        )

    def plain() -> None:
        with duckdb.connect(str(home / "plain.duckdb")) as con:
            con.execute(
                f"CREATE OR REPLACE TABLE q AS FROM read_csv('{file}', skip=2, all_varchar=true)"
            )

    return best(ours), best(plain)


def changes_of_many(home: Path, demo: Demo) -> tuple[float, float]:
    """Changes of 100 versions x 600 rows; one plain DuckDB join over the same rows."""
    warehouse = Warehouse(home / "c.duckdb")
    base = parse_version(version_csv(demo, demo.days[0]), "v").questions
    days = [date(2026, 1, 5) + timedelta(weeks=n) for n in range(VERSIONS)]
    revision = {"revision": pl.lit(1, dtype=pl.Int32)}
    frames = [
        base.with_columns(
            answers=pl.when(pl.col("id") % VERSIONS == n).then(pl.lit([f"new {n}"])).otherwise("answers"),
            version=pl.lit(day), **revision,
        )
        for n, day in enumerate(days)
    ]  # fmt: skip
    everything = pl.concat(frames)
    made = {"run_id": pl.lit(None, pl.String), "code_version": pl.lit(None, pl.String)}
    texts = everything.filter(pl.col("version") == days[0]).with_columns(sequence=pl.lit(1))
    with warehouse.writer() as con:
        con.register("q", everything.with_columns(**made).to_arrow())
        con.execute("INSERT INTO freshqa.questions BY NAME FROM q")
        con.execute(
            "INSERT INTO freshqa.revisions SELECT version, 1, row_number() OVER (ORDER BY version), "
            "'import', 'f', 'b', 'r', 1, 0, false, now()::TIMESTAMP FROM (SELECT DISTINCT version FROM q)"
        )
        con.register("l", link_questions(texts).with_columns(**made).to_arrow())
        con.execute("INSERT INTO freshqa.question_links BY NAME FROM l")

    def ours() -> None:
        with warehouse.reader() as con:
            found = sum(len(find_changes(con, day)) for day in days)
        assert found >= ROWS

    def plain() -> None:
        with duckdb.connect(str(warehouse.file), read_only=True) as con:
            con.execute(
                "SELECT count(*) FROM freshqa.questions a JOIN freshqa.questions b "
                "ON a.question_hash = b.question_hash AND b.version = a.version + 7 "
                "WHERE a.answers <> b.answers OR a.next_review <> b.next_review OR a.id <> b.id"
            ).fetchall()

    return best(ours), best(plain)


def publish_large(home: Path) -> tuple[Warehouse, float, float]:
    """Publish of a large warehouse; plain COPY FROM DATABASE of the same."""
    warehouse = Warehouse(home / "p.duckdb")
    with warehouse.writer() as con:
        con.execute(
            "INSERT INTO eval.recorded_answers SELECT DATE '2026-01-05', 's', 'k' || i, "
            "sha256('a' || i) || sha256('b' || i) || sha256('c' || i), 'f', 'h' "
            "FROM range(1400000) t(i)"
        )
        con.execute("CHECKPOINT")

    def plain() -> None:
        (home / "copy.duckdb").unlink(missing_ok=True)
        with duckdb.connect() as con:
            con.execute(f"ATTACH '{warehouse.file}' AS live (READ_ONLY)")
            con.execute(f"ATTACH '{home / 'copy.duckdb'}' AS copied")
            con.execute("COPY FROM DATABASE live TO copied")

    return warehouse, best(lambda: publish(warehouse, home / "published")), best(plain)


def longest_read(warehouse: Warehouse, folder: Path, *, publishing: bool) -> float:
    """Longest of the reads of the published file within two seconds, or during a publish."""

    def read() -> None:
        with open_latest(folder) as con:
            con.execute("SELECT count(DISTINCT answer[:2]) FROM eval.recorded_answers").fetchall()

    waits: list[float] = []
    with ThreadPoolExecutor(1) as pool:
        work = (lambda: publish(warehouse, folder)) if publishing else (lambda: time.sleep(2))
        other = pool.submit(work)
        while not other.done():
            waits.append(timed(read))
        other.result()
    return max(waits)


def main() -> None:
    table = Table(title="fresh_assets beside plain DuckDB (best of 3)")
    for column in ("what", "ours (s)", "plain DuckDB (s)", "ratio", "limit (s)"):
        table.add_column(column, justify="left" if column == "what" else "right")

    def add(what: str, ours: float, plain: float, limit: float) -> None:
        table.add_row(what, f"{ours:.3f}", f"{plain:.3f}", f"{ours / plain:.1f}", f"{limit:g}")

    with tempfile.TemporaryDirectory() as folder:
        home, demo = Path(folder), make_demo(ROWS)
        add("import of a version of 600 rows", *import_one(home, demo), 0.5)
        add("changes of 100 versions x 600 rows", *changes_of_many(home, demo), 2)
        warehouse, ours, plain = publish_large(home)
        size = warehouse.file.stat().st_size / 1e6
        add(f"publish of a warehouse of {size:.0f} MB", ours, plain, 6)
        waits = [longest_read(warehouse, home / "published", publishing=p) for p in (True, False)]
        add("longest read during a publish (baseline: without one)", waits[0], waits[1], 6)
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
