"""What a run of week x system costs beside its calls: `python -m benchmarks.run_overhead`.

A loopback server takes 200 ms to reply; 600 questions are answered and judged. The baseline is the
time in which at least one call was in flight. A second refresh must ask nothing.
"""

import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console

from fresh_assets.benchmark.imports import Source
from fresh_assets.demo.files import make_demo, version_csv, write_demo
from fresh_assets.refresh import Platform
from fresh_assets.settings import Settings
from fresh_assets_tests.openai_server import Reply, openai_server

QUESTIONS = 600
SECONDS = 0.2
SYSTEMS = """
[endpoints.loopback]
url = "{url}"
[systems.model]
method = "freshprompt"
endpoint = "loopback"
model = "m"
[judges.judge]
endpoint = "loopback"
model = "j"
modes = ["relaxed"]
"""


def serve(pipe: Connection) -> None:
    began: list[float] = []

    def reply(body: dict, _: int) -> Reply:
        began.append(time.time())
        verdict = "comment: as asked\nevaluation: correct"
        return Reply(verdict if body["model"] == "j" else "a mayor", seconds=SECONDS)

    with openai_server(reply) as server:
        pipe.send(server.url)
        while pipe.recv():
            pipe.send(sorted(began))


def in_flight(began: list[float]) -> float:
    """Seconds in which at least one call was being answered."""
    covered, until = 0.0, 0.0
    for start in began:
        covered += start + SECONDS - max(start, until)
        until = start + SECONDS
    return covered


def main() -> None:
    ours, theirs = multiprocessing.Pipe()
    multiprocessing.Process(target=serve, args=(theirs,), daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        file = home / "systems.toml"
        file.write_text(SYSTEMS.format(url=ours.recv()))
        demo = make_demo(QUESTIONS)
        platform = Platform(Settings(home=home, systems_file=file))
        write_demo(demo, home)
        day = demo.days[-1]
        platform.import_version(version_csv(demo, day), Source(day, "v.csv", "demo"))
        steps = platform.refresh(day, [], lambda _: None)
        ours.send(True)
        asked = ours.recv()
        again = platform.refresh(day, [], lambda _: None)
        ours.send(True)
        asked_again = len(ours.recv()) - len(asked)
    (run,) = [step for step in steps if step.assets[0] == "eval/answers"]
    calls = in_flight(asked)
    Console(width=110).print(
        f"{len(asked)} calls: run {run.seconds:.1f} s, calls in flight {calls:.1f} s "
        f"(baseline), overhead {run.seconds - calls:.1f} s, ratio {run.seconds / calls:.2f}\n"
        f"second refresh: {len(again)} runs, {asked_again} calls"
    )


if __name__ == "__main__":
    main()
