"""The asset graph: what is in it, and that loading it is fast and touches nothing."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import dagster as dg

from fresh_assets import automation
from fresh_assets.definitions import build_defs
from fresh_assets.settings import Settings
from fresh_assets.warehouse.io_manager import table_name
from fresh_assets.warehouse.schema import declared

GRAPH = Path(__file__).with_name("graph.json")


def graph() -> dict[str, object]:
    defs = build_defs(Settings())
    checks = [check for d in defs.asset_checks or [] for check in getattr(d, "check_specs", [])]
    return {
        "assets": {
            spec.key.to_user_string(): {
                "group": spec.group_name,
                "owners": list(spec.owners),
                "partitions": type(spec.partitions_def).__name__ if spec.partitions_def else None,
                "upstream": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
                "automated": spec.automation_condition is not None,
                "checks": sorted(
                    f"{c.name}{' (blocking)' if c.blocking else ''}"
                    for c in checks
                    if c.asset_key == spec.key
                ),
            }
            for spec in sorted(defs.resolve_all_asset_specs(), key=lambda s: s.key)
        },
        "jobs": sorted(job.name for job in defs.jobs or []),
        "schedules": {
            s.name: s.cron_schedule
            for s in defs.schedules or []
            if isinstance(s, dg.ScheduleDefinition)
        },
        "sensors": sorted(s.name for s in defs.sensors or []),
    }


def test_graph_is_the_one_reviewed() -> None:
    """A change of the graph shows as a change of graph.json: run with FRESH_ASSETS_WRITE=1."""
    found = json.dumps(graph(), indent=1, sort_keys=True) + "\n"
    if os.environ.get("FRESH_ASSETS_WRITE"):
        GRAPH.write_text(found)
    assert found == GRAPH.read_text()


def test_every_asset_is_complete() -> None:
    specs = build_defs(Settings()).resolve_all_asset_specs()
    tables = declared().tables
    for spec in specs:
        name = spec.key.to_user_string()
        assert spec.description, name
        assert spec.owners, name
        assert spec.group_name, name
        if spec.key.path[0] != "publish":
            assert "dagster/column_schema" in spec.metadata, name
            assert table_name(spec.key) in tables, name
        if spec.code_version:
            assert spec.kinds, name
            by_hand = name == automation.ENCODER
            assert by_hand or spec.freshness_policy, name
    filled = {table_name(spec.key) for spec in specs}
    assert {t for t in tables if not t.startswith("meta.")} - filled == {"freshqa.findings"}


def test_loading_is_fast_and_makes_no_file_and_no_connection(tmp_path: Path) -> None:
    program = """
import socket, sys
def refuse(*_): raise RuntimeError("a connection while loading")
socket.socket.connect = refuse
import fresh_assets.definitions
heavy = {"torch", "faiss", "great_expectations", "sentence_transformers", "statsmodels"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    environment = {**os.environ, "FRESH_ASSETS_HOME": str(tmp_path / "home")}
    started = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime < 5
    assert list(tmp_path.iterdir()) == []
