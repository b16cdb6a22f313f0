"""Keys planted in the environment, and repeated by servers, are in nothing that a run leaves."""

import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import duckdb
import pytest

from fresh_assets.benchmark.imports import Source
from fresh_assets.partitions import this_week
from fresh_assets.refresh import Platform
from fresh_assets_tests.benchmark.files import as_csv, rows
from fresh_assets_tests.conftest import settings_of
from fresh_assets_tests.openai_server import Reply, openai_server
from fresh_assets_tests.search.payloads import SERPAPI
from fresh_assets_tests.web_server import Got, Page, html_page, json_page, web_server

SEARCH_KEY = "planted-search-key-7f3a"
MODEL_KEY = "planted-model-key-9c1d"
HOOK = "planted-hook-path-55e0"
SYSTEMS = """
[endpoints.loopback]
url = "{url}"
api_key_env = "PLANTED_MODEL_KEY"
tries = 1
[systems.model]
method = "freshprompt"
endpoint = "loopback"
model = "m"
[judges.judge]
endpoint = "loopback"
model = "j"
modes = ["relaxed"]
"""

pytestmark = pytest.mark.slow


def search_page(got: Got, number: int) -> Page:
    """Repeats the key in errors and in results, as careless servers do."""
    assert got.params["api_key"] == SEARCH_KEY
    if number == 0:
        return html_page(f"Error for {SEARCH_KEY}", SEARCH_KEY, status=500)
    if number == 1:
        return json_page({"error": f"odd request with api_key={SEARCH_KEY}"})
    return json_page({**SERPAPI, "search_metadata": {"json": f"https://x/?api_key={SEARCH_KEY}"}})


def reply(body: dict[str, object], number: int) -> Reply:
    if number % 3 == 1:
        return Reply(
            status=400, error={"message": f"bad request for Bearer {MODEL_KEY}", "code": None}
        )
    return Reply("comment: fine\nevaluation: correct" if body["model"] == "j" else "Thing")


def texts(home: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file of a home as bytes, and the unpacked content of its databases."""
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        yield file, file.read_bytes()
        if file.suffix == ".duckdb":
            with duckdb.connect(str(file), read_only=True) as con:
                tables = con.sql(
                    "SELECT schema_name || '.' || table_name FROM duckdb_tables()"
                ).fetchall()
                for (table,) in tables:
                    yield file, repr(con.sql(f"SELECT * FROM {table}").fetchall()).encode()
        elif file.read_bytes().startswith(b"SQLite format 3"):
            with sqlite3.connect(file) as db:
                names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                for (name,) in names:
                    for row in db.execute(f'SELECT * FROM "{name}"'):
                        for value in row:
                            yield file, unpacked(value)


def unpacked(value: object) -> bytes:
    if not isinstance(value, bytes):
        return str(value).encode()
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


def test_no_planted_key_is_left_anywhere(tmp_path: Path) -> None:
    with web_server(search_page) as search, openai_server(reply) as models:
        settings = settings_of(tmp_path / "home", SYSTEMS.format(url=models.url))
        engines = tmp_path / "engines.toml"
        engines.write_text(
            f'[serpapi]\ntype = "serpapi"\nurl = "{search.url}/search"\ntries = 1\nat_once = 1\n'
        )
        version = date(2026, 1, 5)
        Platform(settings).import_version(as_csv(rows()), Source(version, "v.csv"))
        environment = {
            **os.environ,
            "FRESH_ASSETS_HOME": str(settings.home),
            "FRESH_ASSETS_SYSTEMS_FILE": str(settings.systems_file),
            "FRESH_ASSETS_ENGINES_FILE": str(engines),
            "FRESH_ASSETS_ENGINE": "serpapi",
            "FRESH_ASSETS_MAX_UNRATED": "1",
            "FRESH_ASSETS_ALERT_WEBHOOKS": f'{{"*": "{search.url}/{HOOK}"}}',
            "SERPAPI_API_KEY": SEARCH_KEY,
            "PLANTED_MODEL_KEY": MODEL_KEY,
        }
        command = [
            Path(sys.executable).with_name("fresh-assets"),
            "refresh",
            "--week",
            f"{this_week()}",
        ]
        first, second = (
            subprocess.run(command, env=environment, capture_output=True, timeout=300, check=False)
            for _ in range(2)
        )
    assert first.returncode == 1
    assert b"could not search 2 of 6 questions" in first.stderr
    assert second.returncode == 0, second.stderr
    assert len(search.requests) == 8
    with duckdb.connect(str(settings.warehouse_file), read_only=True) as con:
        states = dict(con.sql("SELECT state, count(*) FROM eval.answers GROUP BY ALL").fetchall())
        assert con.sql("SELECT count(*) FROM search.results").fetchall() == [(6,)]
    assert states.keys() == {"answered", "error"}
    everything = [
        *texts(settings.home),
        (Path("stdout"), first.stdout + second.stdout),
        (Path("stderr"), first.stderr + second.stderr),
    ]
    assert any(b"***" in content for _, content in everything)
    for secret in (SEARCH_KEY, MODEL_KEY, HOOK):
        assert [str(file) for file, content in everything if secret.encode() in content] == []
