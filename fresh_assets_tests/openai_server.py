"""A real HTTP server on loopback that speaks the chat completions protocol, as scripted by a test."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What the server sends for one request."""

    text: str | None = "ok"
    status: int = 200
    finish_reason: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    )
    seconds: float = 0.0


Script = Callable[[dict[str, Any], int], Reply]
"""From the request body and the number of requests before it to the reply."""


@dataclass
class Server:
    """The running server: its address and what it was asked."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def openai_server(script: Script) -> Iterator[Server]:
    """Run the server for the length of the block."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                number = len(server.requests)
                server.requests.append(body)
            reply = script(body, number)
            time.sleep(reply.seconds)
            content = json.dumps(_body(reply, body)).encode()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "content-type": "application/json"}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        server = Server(f"http://127.0.0.1:{http.server_address[1]}/v1")
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        http.shutdown()
        thread.join()


def _body(reply: Reply, request: dict[str, Any]) -> dict[str, Any]:
    if reply.status != 200:
        return {"error": reply.error or {"message": "no", "type": "x", "code": None}}
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": f"{request['model']}-2026",
        "choices": [{"index": 0, "finish_reason": reply.finish_reason, "message": message}],
        "usage": reply.usage,
        **reply.extra,
    }
