"""What a slice was made from, and when it is no longer up to date."""

from datetime import date

import dagster as dg
import polars as pl
import pytest

from fresh_assets.partitions import systems, versions, weeks, weeks_systems
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.io_manager import WarehouseIOManager, io_manager
from fresh_assets.warehouse.lineage import (
    Graph,
    Node,
    Parent,
    inputs_of,
    is_up_to_date,
    version_of_week,
)
from fresh_assets.warehouse.slices import Provenance, write_slice

GRAPH: Graph = {
    "eval.systems": Node("eval.systems", ("system",)),
    "eval.recorded_answers": Node(
        "eval.recorded_answers", ("week", "system"), (Parent("eval.systems"),), "1"
    ),
}
KEY = {"week": "2026-01-05", "system": "a"}
ROWS = pl.DataFrame(
    {"question_key": ["q"], "answer": ["x"], "file_name": ["f"], "byte_hash": ["h"]}
)


def write_system(warehouse: Warehouse, name: str, hash_: str) -> None:
    row = pl.DataFrame(
        {"system": [name], "method": ["m"], "options": ["{}"], "system_hash": [hash_]},
    ).with_columns(knowledge_cutoff=pl.lit(None, pl.Date))
    write_slice(warehouse, "eval.systems", {"system": name}, row)


def write_answers(warehouse: Warehouse) -> None:
    with warehouse.reader() as con:
        inputs = inputs_of(con, GRAPH, "eval.recorded_answers", KEY)
    write_slice(warehouse, "eval.recorded_answers", KEY, ROWS, Provenance("r", "1", inputs.hash))


def up_to_date(warehouse: Warehouse, graph: Graph = GRAPH) -> bool:
    with warehouse.reader() as con:
        return is_up_to_date(con, graph, "eval.recorded_answers", KEY)


def test_a_slice_is_stale_when_its_own_parent_slice_changes(warehouse: Warehouse) -> None:
    assert not up_to_date(warehouse)
    write_system(warehouse, "a", "1")
    write_answers(warehouse)
    assert up_to_date(warehouse)
    write_system(warehouse, "b", "1")
    write_system(warehouse, "a", "1")
    assert up_to_date(warehouse)
    write_system(warehouse, "a", "2")
    assert not up_to_date(warehouse)


def test_new_code_makes_a_slice_stale(warehouse: Warehouse) -> None:
    write_answers(warehouse)
    newer = {
        **GRAPH,
        "eval.recorded_answers": Node(
            "eval.recorded_answers", ("week", "system"), (Parent("eval.systems"),), "2"
        ),
    }
    assert up_to_date(warehouse)
    assert not up_to_date(warehouse, newer)


def test_a_week_is_pinned_to_the_version_it_searched(warehouse: Warehouse) -> None:
    def revision(day: str, sequence: int) -> None:
        with warehouse.writer() as con:
            con.execute(
                "INSERT INTO freshqa.revisions VALUES (?, 1, ?, 'import', 'f', 'b', 'r', 1, 0, false, now()::TIMESTAMP)",
                [day, sequence],
            )

    def pinned() -> date | None:
        with warehouse.reader() as con:
            return version_of_week(con, date(2026, 1, 5))

    assert pinned() is None
    revision("2025-12-29", 1)
    revision("2026-01-12", 2)
    assert pinned() == date(2025, 12, 29)
    with warehouse.writer() as con:
        con.execute(
            "INSERT INTO search.results (week, engine, question_key, version, query, as_of, payload_hash, archived_at) VALUES ('2026-01-05', 'e', 'k', '2025-12-29', 'q', '2026-01-05', 'h', now()::TIMESTAMP)"
        )
    revision("2026-01-07", 3)
    assert pinned() == date(2025, 12, 29)


@dg.asset(key=["eval", "recorded_answers"], partitions_def=weeks_systems)
def recorded_answers() -> pl.DataFrame:
    return ROWS


@dg.asset(key=["eval", "downstream"], partitions_def=weeks_systems, io_manager_key="memory")
def downstream(recorded_answers: pl.DataFrame) -> None:
    assert recorded_answers["answer"].to_list() == ["x"]
    assert recorded_answers["system"].to_list() == ["a"]


def test_io_manager_writes_and_reads_the_running_partition(warehouse: Warehouse) -> None:
    write_slice(warehouse, "eval.recorded_answers", {**KEY, "system": "b"}, ROWS)
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(str(systems.name), ["a", "b"])
        result = dg.materialize(
            [recorded_answers, downstream],
            instance=instance,
            partition_key=dg.MultiPartitionKey(KEY),
            resources={"io_manager": io_manager(warehouse, GRAPH), "memory": dg.mem_io_manager},
        )
        assert result.success
    with warehouse.reader() as con:
        assert is_up_to_date(con, GRAPH, "eval.recorded_answers", KEY)
        assert con.execute("SELECT count(*) FROM eval.recorded_answers").fetchall() == [(2,)]


@pytest.mark.parametrize(("writer", "known"), [("another run", False), ("this run", True)])
def test_inputs_that_moved_during_a_run_are_not_taken_as_known(
    warehouse: Warehouse, writer: str, known: bool
) -> None:
    manager = WarehouseIOManager(warehouse, GRAPH)
    row = pl.DataFrame(
        {
            "system": ["a"],
            "method": ["m"],
            "options": ["{}"],
            "system_hash": ["h"],
            "knowledge_cutoff": [None],
        },
    )
    write_slice(warehouse, "eval.systems", {"system": "a"}, row, Provenance(writer))
    with dg.build_output_context(
        asset_key=["eval", "recorded_answers"], run_id="this run", step_key="s", name="result"
    ) as context:
        found = manager._inputs_hash(context, "eval.recorded_answers", KEY)
    assert (found is not None) == known


def test_version_and_week_partitions_name_their_columns() -> None:
    assert versions.name == "version"
    assert weeks.get_cron_schedule() == "0 0 * * 1"
