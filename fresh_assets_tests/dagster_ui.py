"""A real `fresh-assets ui` (webserver and daemon) and a real browser to look at it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
]  # fmt: skip


@contextmanager
def dagster_ui(home: Path, **environment: str) -> Iterator[str]:
    """Address of the UI over `home`, for the length of the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = Path(sys.executable).with_name("fresh-assets")
    process = subprocess.Popen(
        [program, "ui", "--port", str(port)],
        env={**os.environ, "FRESH_ASSETS_HOME": str(home), **environment},
        start_new_session=True,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(f"{url}/server_info")
        yield url
    finally:
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(20)
        finally:
            os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None


def _wait(url: str) -> None:
    for _ in range(240):
        try:
            if requests.get(url, timeout=2).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.5)
    raise TimeoutError(url)


@contextmanager
def browser_page() -> Iterator[Page]:
    """A page of a real browser; skips where there is none."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}; `.ci/run` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page(viewport={"width": 1600, "height": 1000})
        browser.close()


def graphql(address: str, query: str, **variables: Any) -> Any:
    """Data of a GraphQL query to the UI's own server."""
    response = requests.post(
        f"{address}/graphql", json={"query": query, "variables": variables}, timeout=60
    )
    body = response.json()
    assert "errors" not in body, body
    return body["data"]
