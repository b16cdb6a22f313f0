"""A real HTTP server on loopback that speaks the chat completions protocol, as scripted by a test."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fresh_assets_tests.web_server import Got, Page, json_page, web_server


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
    requests: list[dict[str, Any]] = []

    def page(got: Got, number: int) -> Page:
        requests.append(got.json)
        reply = script(got.json, number)
        shape = {"status": reply.status, "seconds": reply.seconds, "headers": reply.headers}
        if reply.status == 200 and got.json.get("stream"):
            shape["headers"] = {**reply.headers, "content-type": "text/event-stream"}
            return Page(_events(reply, got.json), **shape)
        return json_page(_body(reply, got.json), **shape)

    with web_server(page) as server:
        yield Server(f"{server.url}/v1", requests)


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


def _events(reply: Reply, request: dict[str, Any]) -> bytes:
    """The reply as server-sent events, a word each."""
    head = {
        "id": "c",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": f"{request['model']}-2026",
    }
    words = (reply.text or "").split(" ")
    pieces = [word if i == 0 else f" {word}" for i, word in enumerate(words)]
    chunks = [
        {**head, "choices": [{"index": 0, "delta": {"content": p}, "finish_reason": None}]}
        for p in pieces
    ]
    last = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason}
    chunks += [
        {**head, "choices": [last], **reply.extra},
        {**head, "choices": [], "usage": reply.usage},
    ]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()
