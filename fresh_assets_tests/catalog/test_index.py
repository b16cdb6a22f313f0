"""FAISS indexes: exact, whole or refused, and the old one serves until the new one is there."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fresh_assets.catalog.encoder import Vectors
from fresh_assets.catalog.index import (
    EntryIndex,
    IndexRefusedError,
    build_index,
    entry_id,
    open_index,
    search_shards,
)
from fresh_assets.errors import UserError

ENCODER = ("toy", "hash-of-toy")


def unit(rows: int, columns: int = 16, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def names(count: int, prefix: str = "step") -> list[str]:
    return [f"{prefix}_{i}" for i in range(count)]


def built(folder: Path, count: int = 50, seed: int = 0) -> EntryIndex:
    build_index(folder, "steps", names(count), unit(count, seed=seed), ENCODER)
    return open_index(folder, "steps", ENCODER[1])


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
def test_search_is_a_plain_product(
    tmp_path_factory: pytest.TempPathFactory, count: int, k: int, seed: int
) -> None:
    k = min(k, count)
    vectors, queries = unit(count, seed=seed), unit(4, seed=seed + 100)
    folder = tmp_path_factory.mktemp("index")
    build_index(folder, "steps", names(count), vectors, ENCODER)
    found = open_index(folder, "steps", ENCODER[1]).search(queries, k)
    products = queries @ vectors.T
    for row, one in enumerate(found):
        best = np.argsort(-products[row], kind="stable")[:k]
        assert list(one.names) == [f"step_{i}" for i in best]
        assert one.scores == pytest.approx(products[row, best], abs=1e-5)


def test_ids_are_those_of_the_names_in_every_catalog(tmp_path: Path) -> None:
    index = built(tmp_path)
    assert set(index.ids) == {entry_id(name) for name in names(50)}
    fewer = names(50)[10:]
    build_index(tmp_path, "steps", fewer, unit(50)[10:], ENCODER)
    after = open_index(tmp_path, "steps", ENCODER[1])
    assert set(after.ids) == {entry_id(name) for name in fewer}
    assert index.search(unit(50)[20:21], 1)[0].names == ("step_20",), "opened before, still whole"
    assert after.search(unit(50)[20:21], 1)[0].names == ("step_20",)


def test_shards_together_are_one_index(tmp_path: Path) -> None:
    vectors = unit(50)
    whole = built(tmp_path / "whole")
    shards = []
    for shard in range(3):
        folder = tmp_path / str(shard)
        build_index(folder, "steps", names(50)[shard::3], vectors[shard::3], ENCODER)
        shards.append(open_index(folder, "steps", ENCODER[1]))
    queries = unit(5, seed=9)
    for one, other in zip(
        whole.search(queries, 20), search_shards(shards, queries, 20), strict=True
    ):
        assert one.names == other.names


def test_a_large_catalog_gets_a_graph_whose_recall_is_known(tmp_path: Path) -> None:
    count = 2000
    manifest = build_index(tmp_path, "steps", names(count), unit(count), ENCODER, exact_up_to=500)
    assert manifest.kind == "graph"
    assert 0.8 < manifest.recall <= 1
    found = open_index(tmp_path, "steps", ENCODER[1]).search(unit(count)[:20], 1)
    assert np.mean([one.names[0] == f"step_{i}" for i, one in enumerate(found)]) > 0.9


def test_what_cannot_be_trusted_is_refused_with_the_reason(tmp_path: Path) -> None:
    index = built(tmp_path)
    with pytest.raises(IndexRefusedError, match="was made with encoder toy, hash hash-of-toy"):
        open_index(tmp_path, "steps", "another")
    with pytest.raises(UserError, match="no index of tables"):
        open_index(tmp_path, "tables", ENCODER[1])
    with pytest.raises(UserError, match="k is 51; the index has 50 steps"):
        index.search(unit(1), 51)
    with pytest.raises(IndexRefusedError, match=r"shape \(1, 8\).*dimension 16"):
        index.search(unit(1, 8), 3)
    with pytest.raises(UserError, match="no steps to index"):
        build_index(tmp_path, "steps", [], unit(0), ENCODER)
    place = tmp_path / (tmp_path / "current-steps").read_text()
    file = place / "index.faiss"
    whole = file.read_bytes()
    for damaged in (whole[:-7], b"", b"x" * len(whole)):
        file.write_bytes(damaged)
        with pytest.raises(IndexRefusedError, match="is not the file that was built"):
            open_index(tmp_path, "steps", ENCODER[1])
    (place / "manifest.json").write_text("{")
    with pytest.raises(IndexRefusedError, match="cannot be read"):
        open_index(tmp_path, "steps", ENCODER[1])
    assert built(tmp_path).search(unit(50)[3:4], 1)[0].names == ("step_3",), "built anew"


def test_a_build_that_is_killed_leaves_the_old_index_serving(tmp_path: Path) -> None:
    built(tmp_path, 30)
    script = (
        "import sys; from pathlib import Path\n"
        "from fresh_assets_tests.catalog.test_index import build_index, names, unit, ENCODER\n"
        "print('ready', flush=True)\n"
        "n = 0\n"
        "while True:\n"
        "    n += 1\n"
        "    build_index(Path(sys.argv[1]), 'steps', names(3000 + n), unit(3000 + n, seed=n), ENCODER)\n"
        "    print(3000 + n, flush=True)\n"
    )
    for wait in (0.0, 0.05, 0.13, 0.21):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        done = [int(line) for line in process.stdout.read().split()]
        process.wait()
        index = open_index(tmp_path, "steps", ENCODER[1])
        count = index.manifest.count
        assert count in {30, *done, max(done, default=3000) + 1, *range(3001, 3100)}
        assert set(index.ids) == {entry_id(name) for name in names(count)}
        assert index.search(unit(1), 5)
    assert json.loads((tmp_path / index_folder(tmp_path) / "manifest.json").read_text())["count"]


def index_folder(folder: Path) -> str:
    return (folder / "current-steps").read_text()
