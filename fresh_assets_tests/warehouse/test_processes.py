"""Several processes on one home, and processes that are killed at any moment."""

import multiprocessing
import os
import random
import signal
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import duckdb
import polars as pl
import pytest

from fresh_assets.warehouse.connections import Warehouse, WarehouseBusyError
from fresh_assets.warehouse.publish import LATEST, open_latest, publish
from fresh_assets.warehouse.slices import write_slice

TABLE = "eval.recorded_answers"
ROWS = 2000
KILLS = 100

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["fresh_assets_tests.warehouse.test_processes"])


def generation(number: int) -> pl.DataFrame:
    return pl.DataFrame({"question_key": [f"q{i}" for i in range(ROWS)]}).with_columns(
        answer=pl.lit(str(number)), file_name=pl.lit("f"), byte_hash=pl.lit("h")
    )


def key(system: str) -> dict[str, str]:
    return {"week": "2026-01-05", "system": system}


def write_for_ever(file: Path, system: str, ready: Connection) -> None:
    warehouse = Warehouse(file, lock_timeout=30)
    ready.send(True)
    number = 0
    while True:
        number += 1
        write_slice(warehouse, TABLE, key(system), generation(number))


def publish_for_ever(file: Path, folder: Path, ready: Connection) -> None:
    warehouse = Warehouse(file, lock_timeout=30)
    ready.send(True)
    while True:
        publish(warehouse, folder, keep=2)


def write_times(file: Path, system: str, times: int) -> None:
    warehouse = Warehouse(file, lock_timeout=60)
    for number in range(times):
        write_slice(warehouse, TABLE, key(system), generation(number))


def hold(file: Path, ready: Connection) -> None:
    with Warehouse(file, lock_timeout=5).writer():
        ready.send(True)
        time.sleep(60)


def started(target: object, *arguments: object) -> BaseProcess:
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, there), daemon=True)  # type: ignore[arg-type]
    process.start()
    assert here.poll(60), "the process did not start"
    here.recv()
    return process


def kill(process: BaseProcess) -> None:
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join()


def test_two_processes_write_at_once(warehouse: Warehouse) -> None:
    workers = [
        context.Process(target=write_times, args=(warehouse.file, s, 15)) for s in ("a", "b")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    with warehouse.reader() as con:
        found = con.execute(
            f"SELECT system, answer, count(*) FROM {TABLE} GROUP BY ALL ORDER BY ALL"
        )
        assert found.fetchall() == [("a", "14", ROWS), ("b", "14", ROWS)]


def test_a_busy_warehouse_names_its_holder(warehouse: Warehouse) -> None:
    process = started(hold, warehouse.file)
    try:
        with (
            pytest.raises(WarehouseBusyError, match=rf"PID {process.pid}\b"),
            Warehouse(warehouse.file, lock_timeout=0.5).writer(),
        ):
            pass
        with (
            pytest.raises(WarehouseBusyError, match=rf"PID {process.pid}\b"),
            Warehouse(warehouse.file, lock_timeout=0.5).reader(),
        ):
            pass
    finally:
        kill(process)
    with Warehouse(warehouse.file, lock_timeout=5).writer():
        pass


@pytest.mark.slow
def test_killed_writers_lose_double_and_half_write_nothing(warehouse: Warehouse) -> None:
    rng = random.Random(1)
    write_slice(warehouse, TABLE, key("other"), generation(0))
    write_slice(warehouse, TABLE, key("killed"), generation(0))
    for _ in range(KILLS):
        process = started(write_for_ever, warehouse.file, "killed")
        time.sleep(rng.uniform(0, 0.12))
        kill(process)
        with warehouse.reader() as con:
            rows = con.execute(
                f"""
                SELECT system, count(*), count(DISTINCT question_key), count(DISTINCT answer)
                FROM {TABLE} GROUP BY system ORDER BY system
                """
            ).fetchall()
            noted = con.execute("SELECT row_count FROM meta.slices ORDER BY slice").fetchall()
        assert rows == [("killed", ROWS, ROWS, 1), ("other", ROWS, ROWS, 1)]
        assert noted == [(ROWS,), (ROWS,)]


@pytest.mark.slow
def test_killed_publishes_leave_a_whole_latest(warehouse: Warehouse, tmp_path: Path) -> None:
    rng = random.Random(2)
    folder = tmp_path / "published"
    write_slice(warehouse, TABLE, key("a"), generation(0))
    publish(warehouse, folder)
    for number in range(KILLS):
        write_slice(warehouse, TABLE, key("a"), generation(number))
        process = started(publish_for_ever, warehouse.file, folder)
        time.sleep(rng.uniform(0, 0.3))
        kill(process)
        assert (folder / LATEST).is_symlink()
        with open_latest(folder) as con:
            counts = con.execute("SELECT row_counts FROM _snapshot").fetchall()[0][0]
            rows = con.execute(f"SELECT count(*), count(DISTINCT answer) FROM {TABLE}").fetchall()
        assert rows == [(ROWS, 1)]
        assert counts[TABLE] == ROWS
    publish(warehouse, folder)
    assert not list(folder.glob("*tmp*"))
    with open_latest(folder) as con:
        assert con.execute(f"SELECT DISTINCT answer FROM {TABLE}").fetchall() == [(str(KILLS - 1),)]


def test_a_reader_keeps_its_file_through_publishes(warehouse: Warehouse, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    write_slice(warehouse, TABLE, key("a"), generation(1))
    publish(warehouse, folder, keep=1)
    with open_latest(folder) as old:
        for number in (2, 3):
            write_slice(warehouse, TABLE, key("a"), generation(number))
            publish(warehouse, folder, keep=1)
        assert old.execute(f"SELECT DISTINCT answer FROM {TABLE}").fetchall() == [("1",)]
        with open_latest(folder) as new:
            assert new.execute(f"SELECT DISTINCT answer FROM {TABLE}").fetchall() == [("3",)]


def test_published_files_are_read_only_and_described(warehouse: Warehouse, tmp_path: Path) -> None:
    write_slice(warehouse, TABLE, key("a"), generation(1))
    snapshot = publish(warehouse, tmp_path / "published", run_id="r")
    with open_latest(tmp_path / "published") as con:
        assert con.execute("SELECT run_id, content_hash FROM _snapshot").fetchall() == [
            ("r", snapshot.content_hash)
        ]
        comments = con.execute(
            "SELECT count(*) FROM duckdb_columns() WHERE NOT internal AND comment IS NULL "
            "AND schema_name <> 'main' AND table_name IN (SELECT table_name FROM duckdb_tables())"
        ).fetchall()
        assert comments == [(0,)]
        with pytest.raises(duckdb.Error, match="read-only"):
            con.execute(f"DELETE FROM {TABLE}")


def test_retention_keeps_the_newest_and_the_last_of_a_month(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    earlier = [
        f"fresh_assets_2026{month}{day}T000000_aaaa.duckdb"
        for month in ("01", "02")
        for day in ("05", "12")
    ]
    for name in earlier:
        (folder / name).touch()
    for _ in range(3):
        publish(warehouse, folder, keep=2)
    names = sorted(file.name for file in folder.glob("fresh_assets_*.duckdb"))
    assert names[:2] == [earlier[1], earlier[3]]
    assert len(names) == 4
