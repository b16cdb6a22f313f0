"""The two demo deployments from file to recall and to a fine-tuned encoder, on the command line."""

import json
from pathlib import Path

import polars as pl
import pytest

from fresh_assets.catalog.encoder import Encoder
from fresh_assets.demo.files import write_deployments
from fresh_assets.demo.workflows import catalogs, request_file
from fresh_assets.errors import BadInputError
from fresh_assets.refresh import Platform
from fresh_assets.retriever.cards import CARD
from fresh_assets.retriever.recall import AT
from fresh_assets.retriever.requests import read_requests
from fresh_assets.settings import Settings
from fresh_assets_tests.test_cli import error_of, output_of, run

IT, HR = "it-2026-01-05", "hr-2026-01-05"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("deployments")
    platform = Platform(Settings(home=home))
    for key, files in write_deployments(home, 0.3).items():
        content = {what: (file.read_bytes(), file.name) for what, file in files.items()}
        asked = content.pop("requests")
        platform.import_catalog(key, content)
        platform.import_requests(key, *asked)
    platform.refresh_catalogs(lambda _: None)
    return home


def rows(home: Path, query: str) -> pl.DataFrame:
    with Platform(Settings(home=home)).warehouse.reader() as con:
        return con.sql(query).pl()


def test_every_retriever_is_measured_on_both_deployments(home: Path) -> None:
    found = rows(home, "SELECT * FROM mart.retriever_recall WHERE NOT with_common")
    assert set(found["split"]) == {"test", "ood_hr"}
    assert set(found["retriever"]) == {
        "popularity", "bm25", "dense", "dense_per_step", "neighbours", "app", "hybrid"
    }  # fmt: skip
    at = found.filter(pl.col("k") == pl.col("what").replace_strict(AT, return_dtype=pl.Int32))
    recall = {(r["split"], r["what"], r["retriever"]): r["recall"] for r in at.to_dicts()}
    for split in ("test", "ood_hr"):
        assert recall[split, "steps", "hybrid"] > recall[split, "steps", "bm25"]
        assert recall[split, "steps", "hybrid"] > recall[split, "steps", "popularity"]
    assert recall["ood_hr", "steps", "popularity"] == 0
    assert recall["ood_hr", "steps", "neighbours"] == 0


def test_worked_examples_run(home: Path) -> None:
    examples = list((Path(__file__).parents[2] / "sql" / "examples").glob("retrievers_*.sql"))
    assert examples
    for example in examples:
        assert len(rows(home, example.read_text()))


def test_recall_grows_with_k_and_is_compared_with_popularity(home: Path) -> None:
    found = rows(
        home,
        "SELECT * FROM mart.retriever_recall ORDER BY catalog, what, with_common, split, retriever, k",
    )
    key = ["catalog", "what", "with_common", "split", "retriever"]
    for _, curve in found.group_by(key):
        assert curve.sort("k")["recall"].is_sorted()
    own = found.filter(pl.col("retriever") == "popularity")
    assert own["over_popularity"].abs().max() == 0
    common = (
        found.filter(pl.col("what") == "steps", pl.col("k") == 15)
        .group_by("with_common")
        .agg(pl.col("requests").sum())
    )
    with_common, without = (
        common.filter(pl.col("with_common") == flag)["requests"][0] for flag in (True, False)
    )
    assert with_common > without


def test_pairs_are_of_train_only_and_keep_requests_without_tables(home: Path) -> None:
    outside = rows(
        home,
        "SELECT * FROM retriever.pairs p JOIN workflow.requests r USING (catalog, request_id) WHERE r.split <> 'train'",
    )
    assert outside.is_empty()
    counts = rows(
        home,
        "SELECT (SELECT count(*) FROM workflow.requests WHERE split = 'train' AND len(tables) = 0) a, "
        "(SELECT count(*) FROM retriever.pairs WHERE what = 'tables' AND place = 0) b, "
        "(SELECT count(*) FROM retriever.pairs JOIN catalog.steps USING (catalog, name) WHERE is_common) c",
    ).row(0)
    assert counts[0] == counts[1] > 0
    assert counts[2] == 0


def test_a_second_refresh_measures_nothing_again_but_after_other_requests(home: Path) -> None:
    platform = Platform(Settings(home=home))
    assert platform.refresh_catalogs(lambda _: None) == []
    first = rows(
        home,
        f"SELECT requests FROM mart.retriever_recall WHERE catalog = '{HR}' AND what = 'steps' AND with_common",
    )["requests"][0]
    content = (home / "demo" / "catalogs" / HR / "requests.jsonl").read_bytes()
    platform.import_requests(HR, b"\n".join(content.splitlines()[:-5]), "fewer.jsonl")
    done = platform.refresh_catalogs(lambda _: None)
    assert any("mart/retriever_recall" in step.assets for step in done)
    again = rows(
        home,
        f"SELECT requests FROM mart.retriever_recall WHERE catalog = '{HR}' AND what = 'steps' AND with_common",
    )["requests"][0]
    assert again == first - 5


def test_the_most_frequent_steps_of_train_can_be_taken_for_the_common_ones(tmp_path: Path) -> None:
    lines = [
        {"id": f"{split}{i}", "split": split, "query": f"{split} {i}", "steps": names}
        for split, several in {
            "train": (["mail", "log"], ["log"], ["mail", "wait"], ["log", "wait"]),
            "test": (["wait"], ["wait", "mail"]),
        }.items()
        for i, names in enumerate(several)
    ]  # fmt: skip
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, lines)))
    steps = tmp_path / "s.csv"
    steps.write_text("name,common\nlog,\nmail,\nwait,yes\n")
    output_of(tmp_path, "import-catalog", IT, "--steps", str(steps))
    output_of(tmp_path, "import-requests", IT, str(tmp_path / "r.jsonl"), "--common", "1")
    found = rows(tmp_path, "SELECT name FROM catalog.steps WHERE is_common")
    assert found["name"].to_list() == ["log"]
    assert rows(tmp_path, "SELECT entries FROM catalog.indexes")["entries"].to_list() == [2]


@pytest.mark.slow
def test_a_trained_encoder_has_its_card_and_can_be_used(home: Path) -> None:
    told = output_of(home, "train-encoder", "--minutes", "0.01", "--negatives", "all")
    assert "retriever/encoder" in told
    found = rows(home, "SELECT * FROM retriever.encoder").row(0, named=True)
    made = Encoder(str(home / "encoder"))
    assert found["encoder_hash"] == made.hash != found["base_hash"]
    assert json.loads(found["recipe"])["negatives"] == "all"
    card = (home / "encoder" / CARD).read_text()
    assert found["base_hash"] in card
    assert f"{found['dev_recall']:.3f}" in card
    assert made.encode(["a request"]).shape == (1, 384)


def test_mistakes_are_named_and_change_nothing(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    file.write_text(
        '{"id": "a", "split": "test", "query": "x"}\n{"id": "a", "split": "test", "query": "y"}'
    )
    assert "line 2" in error_of(home, "import-requests", IT, str(file))
    file.write_text('{"id": "a", "split": "test", "query": "x"}')
    assert "known are hr-2026-01-05, it-2026-01-05" in error_of(
        home, "import-requests", "no-2026-01-05", str(file)
    )
    done = run(home, "train-encoder", "--recipe", "magic")
    assert done.returncode == 2
    assert "magic" in done.stderr


@pytest.mark.parametrize(
    "line",
    ['{"id": "a", "split": "test"}', '{"id": "a", "split": "test", "query": " "}', "[]", "{", '"a"',
     '{"id": "a", "split": "t", "query": "q", "workflow": {"components": [{}]}}', '{"id": "a", "split": "t", "query": "q", "steps": 3}'],
)  # fmt: skip
def test_a_line_that_is_no_request_is_named(line: str) -> None:
    with pytest.raises(BadInputError, match="line 1"):
        read_requests(line.encode(), "r.jsonl")


def test_what_is_no_text_or_empty_is_refused() -> None:
    for content in (b"\xff\xfe", b"", b"\n\n"):
        with pytest.raises(BadInputError, match=r"r\.jsonl"):
            read_requests(content, "r.jsonl")


def test_a_workflow_of_step_objects_is_read_in_the_shape_of_the_paper() -> None:
    line = {
        "id": "a", "split": "gold", "query": "q", "trigger": {"type": "created", "table": "incident"},
        "steps": [{"name": "IF", "kind": "logic", "order": 1}, {"name": "log", "kind": "action", "order": 2, "block": 1, "table": "task"}],
    }  # fmt: skip
    (request,) = read_requests(json.dumps(line).encode(), "r.jsonl")
    workflow = json.loads(request.workflow or "")
    assert workflow["trigger"] == {
        "type": "created",
        "inputs": [{"name": "table", "value": "incident"}],
    }
    assert [(c["category"], c["definition"], c["block"]) for c in workflow["components"]] == [
        ("flowlogic", "IF", None),
        ("action", "log", 1),
    ]
    assert request.tables == ("incident", "task")


def test_the_demo_requests_are_600_the_same_every_time_and_of_known_names() -> None:
    total = 0
    for _, deployment in catalogs("2026-01-05"):
        assert request_file(deployment) == request_file(deployment)
        made = read_requests(request_file(deployment), "r.jsonl")
        total += len(made)
        assert len({request.text for request in made}) == len(made)
        tables = {noun.name for noun in deployment.tables}
        assert all(set(request.tables) <= tables for request in made)
        for request in made:
            parts = json.loads(request.workflow or "")["components"]
            assert [part["order"] for part in parts] == list(range(1, len(parts) + 1))
            assert all(part["block"] is None or part["block"] < part["order"] for part in parts)
            assert all(part["annotation"].lower() in request.text.lower() for part in parts)
    assert total == 600
