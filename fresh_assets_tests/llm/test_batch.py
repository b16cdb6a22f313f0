"""The batch API against a real server on loopback that speaks it."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fresh_assets.demo.files import Demo
from fresh_assets.llm import batch
from fresh_assets.llm.batch import Batches, Progress
from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.pool import Endpoint
from fresh_assets.llm.request import Parameters, Request
from fresh_assets.refresh import Platform
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform, settings_of

Ends = Callable[[list[dict[str, Any]], int], dict[str, Any]]
"""From the lines of a batch and its number to {status, output, errors}."""


class Provider:
    """Files and batches of a provider; a batch ends at its second poll."""

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self.files: dict[str, str] = {}
        self.batches: list[dict[str, Any]] = []
        self.url = ""
        self.refuse = 0

    def create(self, file: str) -> dict[str, Any]:
        lines = [json.loads(line) for line in self.files[file].splitlines()]
        made = {
            "id": f"batch{len(self.batches)}", "object": "batch", "endpoint": "/v1/chat/completions",
            "input_file_id": file, "completion_window": "24h", "status": "in_progress", "created_at": 1,
        }  # fmt: skip
        self.batches.append({**made, "lines": lines, "polls": 0})
        return made

    def poll(self, number: int) -> dict[str, Any]:
        found = self.batches[number]
        found["polls"] += 1
        shown = {k: v for k, v in found.items() if k not in {"lines", "polls"}}
        if found["polls"] < 2:
            return shown
        end = self.ends(found["lines"], number)
        for name, rows in (("output", end.get("output", [])), ("error", end.get("errors", []))):
            if rows:
                self.files[f"{name}{number}"] = "\n".join(json.dumps(r) for r in rows)
                shown[f"{name}_file_id"] = f"{name}{number}"
        return {**shown, "status": end["status"]}


@contextmanager
def provider(ends: Ends) -> Iterator[Provider]:
    state = Provider(ends)

    class Handler(BaseHTTPRequestHandler):
        def send(self, body: object, status: int = 200) -> None:
            content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            if state.refuse:
                state.refuse -= 1
                self.send({"error": {"message": "queue is full", "type": "x", "code": "x"}}, 400)
            elif self.path.endswith("/files"):
                name = f"file{len(state.files)}"
                start = raw.index(b"\r\n\r\n", raw.index(b'filename="batch.jsonl"')) + 4
                state.files[name] = raw[start : raw.index(b"\r\n--", start)].decode()
                self.send(
                    {
                        "id": name,
                        "object": "file",
                        "bytes": 1,
                        "created_at": 1,
                        "filename": "b",
                        "purpose": "batch",
                        "status": "processed",
                    }
                )
            else:
                self.send(state.create(json.loads(raw)["input_file_id"]))

        def do_GET(self) -> None:
            if self.path.endswith("/content"):
                self.send(state.files[self.path.split("/")[-2]])
            else:
                self.send(state.poll(int(self.path.rsplit("batch", 1)[1])))

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
        threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
        yield state
        http.shutdown()


def good(line: dict[str, Any], text: str = "fine") -> dict[str, Any]:
    body = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m-2026",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }  # fmt: skip
    return {
        "custom_id": line["custom_id"],
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


def bad(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "custom_id": line["custom_id"],
        "response": {"status_code": 500, "body": {}},
        "error": None,
    }


def requests_to(server: Provider, number: int) -> list[Request]:
    return [
        Request(server.url, "m", (("user", f"q{i}"),), Parameters(max_tokens=10))
        for i in range(number)
    ]


def opened(server: Provider, home: Path) -> tuple[Batches, CallCache]:
    cache = CallCache(home / "calls.sqlite")
    return Batches(Endpoint(server.url), home / "batches.sqlite", cache), cache


def all_good(lines: list[dict[str, Any]], _: int) -> dict[str, Any]:
    return {"status": "completed", "output": [good(line) for line in reversed(lines)]}


def test_results_reach_the_cache_whatever_their_order(tmp_path: Path) -> None:
    with provider(all_good) as server:
        batches, cache = opened(server, tmp_path)
        asked = requests_to(server, 5)
        assert batches.add(asked) == 5
        assert batches.add(asked) == 0
        assert batches.advance() == Progress(running=5)
        assert batches.advance() == Progress(running=5)
        assert batches.advance() == Progress(done=5)
        assert batches.progress().is_over
        outcomes = [cache.get(request) for request in asked]
        assert [o.text for o in outcomes if o] == ["fine"] * 5
        assert batches.add(asked) == 0
    assert len(server.batches) == 1


def test_chunks_by_count_bytes_and_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, limit, batches_made in (
        ("MAX_REQUESTS", 2, 3),
        ("MAX_BYTES", 700, 3),
        ("MAX_TOKENS", 40, 3),
    ):
        monkeypatch.setattr(batch, name, limit)
        with provider(all_good) as server:
            batches, _ = opened(server, tmp_path / name)
            batches.add(requests_to(server, 5))
            batches.advance()
            assert len(server.batches) == batches_made, name
        monkeypatch.undo()


def test_errors_are_read_from_their_own_file_and_submitted_again(tmp_path: Path) -> None:
    def ends(lines: list[dict[str, Any]], number: int) -> dict[str, Any]:
        if number:
            return all_good(lines, number)
        return {
            "status": "completed",
            "output": [good(lines[0])],
            "errors": [bad(line) for line in lines[1:]],
        }

    with provider(ends) as server:
        batches, cache = opened(server, tmp_path)
        batches.add(requests_to(server, 3))
        for _ in range(3):
            progress = batches.advance()
        assert progress == Progress(running=2, done=1)
        for _ in range(2):
            progress = batches.advance()
        assert progress == Progress(done=3)
    assert cache.stats().states == {"error": 2, "ok": 3}


@pytest.mark.parametrize("status", ["expired", "failed", "cancelled"])
def test_what_fails_twice_is_left_to_live_calls(tmp_path: Path, status: str) -> None:
    def ends(lines: list[dict[str, Any]], _: int) -> dict[str, Any]:
        return {"status": status, "output": [good(lines[0])] if len(lines) == 3 else []}

    with provider(ends) as server:
        batches, _ = opened(server, tmp_path)
        batches.add(requests_to(server, 3))
        for _ in range(6):
            progress = batches.advance()
        assert progress == Progress(done=1, left=2)
        assert progress.is_over
        assert batches.problems() == [f"batch {status}"] * 2
        assert [len(b["lines"]) for b in server.batches] == [3, 2]


def test_completed_without_an_output_file_is_a_failure(tmp_path: Path) -> None:
    with provider(lambda *_: {"status": "completed"}) as server:
        batches, _ = opened(server, tmp_path)
        batches.add(requests_to(server, 2))
        for _ in range(6):
            progress = batches.advance()
        assert progress == Progress(left=2)


def test_a_refused_submission_is_tried_once_more(tmp_path: Path) -> None:
    with provider(all_good) as server:
        server.refuse = 1
        batches, _ = opened(server, tmp_path)
        batches.add(requests_to(server, 2))
        assert batches.advance() == Progress(waiting=2)
        assert batches.problems() == ["HTTP 400: queue is full"]
        for _ in range(3):
            progress = batches.advance()
        assert progress == Progress(done=2)


def test_a_restart_goes_on_with_the_batches_that_run(tmp_path: Path) -> None:
    with provider(all_good) as server:
        first, _ = opened(server, tmp_path)
        first.add(requests_to(server, 2))
        first.advance()
        second, cache = opened(server, tmp_path)
        for _ in range(2):
            progress = second.advance()
        assert progress == Progress(done=2)
        assert all(cache.get(request) for request in requests_to(server, 2))
    assert len(server.batches) == 1


def test_a_week_answered_through_batches(tmp_path: Path, demo: Demo) -> None:
    with provider(all_good) as server:
        demo_platform(tmp_path, demo, ()).instance.dispose()
        system = '[systems.b]\nmethod = "closed_book"\nendpoint = "e"\nmodel = "m"\nbatch = true\n'
        platform = Platform(settings_of(tmp_path, f'[endpoints.e]\nurl = "{server.url}"\n{system}'))
        seen = []
        for _ in range(3):
            platform.refresh(DEMO_WEEK, ["b"], lambda _: None)
            with platform.warehouse.reader() as con:
                counted = con.execute(
                    "SELECT state, reason, count(*) FROM eval.answers GROUP BY ALL"
                )
                seen.append(counted.fetchall())
        waiting = [("deferred", "in a provider batch", len(demo.questions))]
        assert seen == [waiting, waiting, [("answered", None, len(demo.questions))]]
        assert len(server.batches) == 1
        platform.instance.dispose()
