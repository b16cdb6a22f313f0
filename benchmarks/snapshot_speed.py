"""A week's snapshot through a SerpApi-speaking server: `python -m benchmarks.snapshot_speed`.

600 questions, 300 ms a reply, 8 at once. The baseline is the limit: questions x seconds / at once.
"""

import json
import multiprocessing
import tempfile
import time
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console

from fresh_assets.search.engines import ADAPTERS
from fresh_assets.search.live import EngineConfig, LiveEngine
from fresh_assets.search.snapshot import search_missing
from fresh_assets.warehouse.archive import Archive
from fresh_assets_tests.search.payloads import SERPAPI
from fresh_assets_tests.web_server import Page, web_server

QUESTIONS, SECONDS, AT_ONCE = 600, 0.3, 8
WEEK = date(2026, 2, 9)


def serve(pipe: Connection) -> None:
    body = json.dumps(SERPAPI).encode()
    with web_server(lambda *_: Page(body, seconds=SECONDS)) as server:
        pipe.send(server.url)
        pipe.recv()


def main() -> None:
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
    config = EngineConfig(type="serpapi", url=ours.recv(), at_once=AT_ONCE)
    engine = LiveEngine("serpapi", config, ADAPTERS["serpapi"], "sk-bench", allow_private=False)
    questions = {f"k{i}": f"question {i}?" for i in range(QUESTIONS)}
    with tempfile.TemporaryDirectory() as home:
        archive = Archive(Path(home) / "archive.sqlite")
        began = time.perf_counter()
        left = search_missing(archive, engine, WEEK, WEEK, questions, WEEK)
        seconds = time.perf_counter() - began
        assert left is None
        assert len(archive.searches(WEEK)) == QUESTIONS
    limit = QUESTIONS * SECONDS / AT_ONCE
    Console(width=110).print(
        f"{QUESTIONS} questions: {seconds:.1f} s, limit {limit:.1f} s (baseline), "
        f"ratio {seconds / limit:.3f}"
    )


if __name__ == "__main__":
    main()
