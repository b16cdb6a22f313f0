"""FAISS indexes of a catalog: exact inner product on vectors of norm 1, published by rename.

An index lies in a folder of its own, named by its content: the FAISS file, the names behind its
ids, and a manifest that says what it was made from. A file `current-WHAT` names the one in use.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fresh_assets.catalog.encoder import Vectors
from fresh_assets.errors import UserError

FAISS_FILE, NAMES_FILE, MANIFEST_FILE = "index.faiss", "names.json", "manifest.json"
EXACT_UP_TO = 200_000
"""Entries above which the index is a graph (HNSW) with its recall in the manifest."""
MANY_QUERIES = 20
"""Queries from which FAISS multiplies matrices; by its own bound (128,000 over the dimension) a
batch of 64 takes three times as long."""
NEIGHBOURS_IN_GRAPH = 32
MEASURED_AT = 15


class IndexRefusedError(UserError):
    """An index file that cannot be trusted, or does not go with the encoder."""


@dataclass(frozen=True)
class Manifest:
    """What an index was made from. `recall`: of the graph against exact search, at 15."""

    what: str
    encoder: str
    encoder_hash: str
    dimension: int
    count: int
    entries_hash: str
    file_hash: str
    metric: str = "inner product"
    kind: str = "exact"
    recall: float = 1.0


@dataclass(frozen=True)
class Found:
    """Names and scores of one query, best first."""

    names: tuple[str, ...]
    scores: tuple[float, ...]


def entry_id(name: str) -> int:
    """Id of an entry that stays the same in every catalog and every rebuild (63 bits)."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1


def build_index(
    folder: Path,
    what: str,
    names: Sequence[str],
    vectors: Vectors,
    encoder: tuple[str, str],
    exact_up_to: int = EXACT_UP_TO,
) -> Manifest:
    """Build an index below `folder` and make it the current one; `encoder`: its name and hash.

    Until the last rename the index before it serves. Raises UserError for an empty catalog.
    """
    import faiss  # noqa: PLC0415  (heavy)

    if not len(names):
        raise UserError(f"no {what} to index: import a catalog that has some")
    ids = np.array([entry_id(name) for name in names], dtype=np.int64)
    dimension, is_exact = vectors.shape[1], len(names) <= exact_up_to
    graph = (NEIGHBOURS_IN_GRAPH, faiss.METRIC_INNER_PRODUCT)
    index = faiss.IndexIDMap2(
        faiss.IndexFlatIP(dimension) if is_exact else faiss.IndexHNSWFlat(dimension, *graph)
    )
    index.add_with_ids(np.ascontiguousarray(vectors), ids)
    content = faiss.serialize_index(index).tobytes()
    manifest = Manifest(
        what, *encoder, dimension, len(names), entries_hash(names, vectors),
        hashlib.sha256(content).hexdigest(), kind="exact" if is_exact else "graph",
        recall=1.0 if is_exact else _recall(index, vectors, ids),
    )  # fmt: skip
    name = f"{what}-{manifest.entries_hash[:16]}-{manifest.encoder_hash}"
    files = {
        FAISS_FILE: content,
        NAMES_FILE: json.dumps(list(names), ensure_ascii=False).encode(),
        MANIFEST_FILE: json.dumps(asdict(manifest), indent=1).encode(),
    }
    _publish(folder, name, files, what)
    return manifest


def entries_hash(names: Sequence[str], vectors: Vectors) -> str:
    """Hash of names and vectors."""
    digest = hashlib.sha256("\0".join(names).encode())
    digest.update(np.ascontiguousarray(vectors).tobytes())
    return digest.hexdigest()


class EntryIndex:
    """An opened index."""

    def __init__(self, index: Any, names: Sequence[str], manifest: Manifest) -> None:
        self._index = index
        self.names = tuple(names)
        self.manifest = manifest
        self._name_of = {entry_id(name): name for name in names}

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids that FAISS holds."""
        import faiss  # noqa: PLC0415

        return np.asarray(faiss.vector_to_array(self._index.id_map))

    def search(self, vectors: Vectors, k: int) -> list[Found]:
        """The best `k` of every query vector (queries x dimension)."""
        if vectors.ndim != 2 or vectors.shape[1] != self.manifest.dimension:
            raise IndexRefusedError(
                f"vectors of shape {vectors.shape} do not go with an index of dimension "
                f"{self.manifest.dimension}"
            )
        if not 1 <= k <= self.manifest.count:
            raise UserError(f"k is {k}; the index has {self.manifest.count} {self.manifest.what}")
        import faiss  # noqa: PLC0415

        faiss.cvar.distance_compute_blas_threshold = MANY_QUERIES * self.manifest.dimension
        scores, ids = self._index.search(np.ascontiguousarray(vectors, dtype=np.float32), k)
        return [
            Found(tuple(self._name_of[i] for i in row), tuple(map(float, of_row)))
            for row, of_row in zip(ids.tolist(), scores, strict=True)
        ]


def search_shards(shards: Sequence[EntryIndex], vectors: Vectors, k: int) -> list[Found]:
    """The best `k` of several indexes together, as if they were one."""
    parts = [shard.search(vectors, min(k, shard.manifest.count)) for shard in shards]
    merged = []
    for row in zip(*parts, strict=True):
        pairs = [pair for found in row for pair in zip(found.scores, found.names, strict=True)]
        first = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]
        merged.append(Found(tuple(n for _, n in first), tuple(s for s, _ in first)))
    return merged


def open_index(folder: Path, what: str, encoder_hash: str) -> EntryIndex:
    """The current index of `what`; IndexRefusedError says what is wrong with it.

    It must be whole, and made with the encoder at hand: vectors of another one have the same shape
    and mean nothing.
    """
    import faiss  # noqa: PLC0415  (heavy)

    pointer = folder / f"current-{what}"
    if not pointer.exists():
        raise UserError(f"no index of {what} in {folder}: `fresh-assets refresh` builds it")
    place = folder / pointer.read_text(encoding="utf-8").strip()
    manifest, names, content = _read_whole(place)
    if manifest.encoder_hash != encoder_hash:
        raise IndexRefusedError(
            f"the index {place} was made with encoder {manifest.encoder}, hash "
            f"{manifest.encoder_hash}; the one at hand has {encoder_hash}: build it anew"
        )
    index = faiss.deserialize_index(np.frombuffer(content, dtype=np.uint8))
    return EntryIndex(index, names, manifest)


def _read_whole(place: Path) -> tuple[Manifest, list[str], bytes]:
    """Manifest, names and FAISS file of an index; IndexRefusedError if not as they were built."""
    try:
        manifest = Manifest(**json.loads((place / MANIFEST_FILE).read_bytes()))
        names = json.loads((place / NAMES_FILE).read_bytes())
        content = (place / FAISS_FILE).read_bytes()
    except (OSError, ValueError, TypeError) as error:
        raise IndexRefusedError(f"the index {place} cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != manifest.file_hash:
        raise IndexRefusedError(
            f"{place / FAISS_FILE} is not the file that was built: build it anew"
        )
    return manifest, names, content


def _recall(index: Any, vectors: Vectors, ids: NDArray[np.int64]) -> float:
    """Share of the exact nearest that the graph finds, for a sample of the entries."""
    sample = vectors[:: max(1, len(vectors) // 200)]
    exact = np.argsort(-(sample @ vectors.T), axis=1)[:, :MEASURED_AT]
    _, found = index.search(np.ascontiguousarray(sample), min(MEASURED_AT, len(ids)))
    shares = [np.isin(ids[e], f).mean() for e, f in zip(exact, found, strict=True)]
    return float(np.mean(shares))


def _publish(folder: Path, name: str, files: dict[str, bytes], what: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    building = folder / f".building-{os.getpid()}-{name}"
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir()
    for file, content in files.items():
        _write(building / file, content)
    _sync(building)
    place = folder / name
    if place.exists() and not _is_whole(place):
        shutil.rmtree(place)
    if place.exists():
        shutil.rmtree(building)
    else:
        building.rename(place)
    pointer = folder / f".current-{what}-{os.getpid()}"
    _write(pointer, name.encode())
    pointer.replace(folder / f"current-{what}")
    _sync(folder)


def _is_whole(place: Path) -> bool:
    try:
        _read_whole(place)
    except IndexRefusedError:
        return False
    return True


def _write(file: Path, content: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
