"""A real HTTP server on loopback that replies as scripted by a test, faults included."""

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Got:
    """A request as it arrived."""

    path: str
    params: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Page:
    """What the server sends. `cut`: bytes of the body to send before the connection is dropped;
    `drip`: seconds before each byte of the body.
    """

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    cut: int | None = None
    drip: float = 0.0


def json_page(value: Any, **more: Any) -> Page:
    headers = {"content-type": "application/json", **more.pop("headers", {})}
    return Page(json.dumps(value).encode(), headers=headers, **more)


def html_page(title: str, text: str = "", **more: Any) -> Page:
    body = f"<!doctype html><html><head><title>{title}</title></head><body>{text}</body></html>"
    return Page(
        body.encode(), headers={"content-type": "text/html", **more.pop("headers", {})}, **more
    )


def gzip_bomb(size: int) -> Page:
    """A small body that unpacks to `size` bytes; never whole in memory here."""
    packer = zlib.compressobj(wbits=31)
    packed = [packer.compress(b" " * 1_000_000) for _ in range(size // 1_000_000)]
    return Page(b"".join([*packed, packer.flush()]), headers={"content-encoding": "gzip"})


Script = Callable[[Got, int], Page]
"""From a request and the number of requests before it to the page."""


@dataclass
class Server:
    """The running server: its address and what it was asked."""

    url: str
    requests: list[Got] = field(default_factory=list)


@contextmanager
def web_server(script: Script) -> Iterator[Server]:
    """Run the server for the length of the block."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            got = Got(split.path, dict(parse_qsl(split.query)), headers, body, time.time())
            with lock:
                number = len(server.requests)
                server.requests.append(got)
            page = script(got, number)
            time.sleep(page.seconds)
            self._send(page)

        do_POST = do_GET  # noqa: N815

        def _send(self, page: Page) -> None:
            self.send_response(page.status)
            for name, value in page.headers.items():
                self.send_header(name, value)
            if page.status != 304:
                self.send_header("content-length", str(len(page.body)))
            self.end_headers()
            if page.drip:
                for byte in page.body:
                    time.sleep(page.drip)
                    self.wfile.write(bytes([byte]))
                return
            self.wfile.write(page.body[: page.cut])
            if page.cut is not None:
                self.wfile.flush()
                self.connection.shutdown(2)
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that hung up is no error of the server."""

    with Quiet(("127.0.0.1", 0), Handler) as http:
        server = Server(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        http.shutdown()
        thread.join()
