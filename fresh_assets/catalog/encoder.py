"""Text encoders: sentence-transformers, mean pooling, vectors of norm 1, and their cache.

A siamese encoder as in arXiv 2404.08189: the same one for requests, steps and tables.
"""

import hashlib
import json
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fresh_assets.catalog.packaged import MINILM, MPNET, packaged_folder
from fresh_assets.errors import UserError

Vectors = NDArray[np.float32]
BATCH = 128
MANY = 2000
"""Texts from which a terminal shows how far it is."""
LONGEST = 128
"""Tokens of a text that are read."""
WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")


class Encoder:
    """An encoder by name: `packaged-minilm`, `packaged-mpnet`, a local folder, a name on the hub.

    Nothing is loaded before the first text. `hash` names the weights, not the place.
    """

    def __init__(self, name: str = MINILM) -> None:
        self.name = name

    @cached_property
    def model(self) -> Any:
        """The loaded model; UserError if there is none of that name."""
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (6 s to import)

        try:
            model = SentenceTransformer(str(self.folder or self.name))
        except (OSError, ValueError) as error:
            raise UserError(
                f"no encoder {self.name!r}: give {MINILM}, {MPNET}, a folder that holds a "
                f"sentence-transformers model, or a name on the hub ({error})"
            ) from error
        model.max_seq_length = min(model.max_seq_length or LONGEST, LONGEST)
        return model

    @property
    def folder(self) -> Path | None:
        """Where the files of the model lie; None for a name on the hub."""
        return packaged_folder(self.name) or (Path(self.name) if Path(self.name).is_dir() else None)

    @cached_property
    def hash(self) -> str:
        """Hash of the model's files (16 hex digits); of the name for a model on the hub."""
        digest = hashlib.sha256(f"{LONGEST}".encode())
        if self.folder is None:
            digest.update(self.name.encode())
        else:
            for file in sorted(f for kind in WEIGHTS for f in self.folder.rglob(kind)):
                digest.update(file.relative_to(self.folder).as_posix().encode())
                with file.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()[:16]

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row of norm 1 a text; batches are of texts of like length."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        vectors = self.model.encode(
            list(texts),
            batch_size=BATCH,
            normalize_embeddings=True,
            show_progress_bar=len(texts) > MANY and sys.stderr.isatty(),
        )
        return np.ascontiguousarray(vectors, dtype=np.float32)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.model.get_embedding_dimension())


class VectorCache:
    """Vectors by (encoder, text) in SQLite: a changed catalog encodes only what changed."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def encode(self, encoder: Encoder, texts: Sequence[str]) -> tuple[Vectors, int]:
        """(vectors of `texts`, how many of them had to be encoded); each text is stored once."""
        wanted = {_text_hash(text): text for text in texts}
        with self._connect() as con:
            known = dict(self._read(con, encoder.hash, list(wanted)))
            new = {key: text for key, text in wanted.items() if key not in known}
            if new:
                vectors = encoder.encode(list(new.values()))
                known |= dict(zip(new, vectors, strict=True))
                con.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)",
                    [
                        (encoder.hash, key, vector.tobytes())
                        for key, vector in zip(new, vectors, strict=True)
                    ],
                )
        if not texts:
            return encoder.encode([]), 0
        return np.stack([known[_text_hash(text)] for text in texts]), len(new)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        con = sqlite3.connect(self.file, timeout=60)
        try:
            con.execute("PRAGMA journal_mode = WAL")
            con.execute(
                "CREATE TABLE IF NOT EXISTS vectors (encoder TEXT, text TEXT, vector BLOB, "
                "PRIMARY KEY (encoder, text)) WITHOUT ROWID"
            )
            with con:
                yield con
        finally:
            con.close()

    @staticmethod
    def _read(
        con: sqlite3.Connection, encoder: str, keys: list[str]
    ) -> Iterator[tuple[str, Vectors]]:
        rows = con.execute(
            "SELECT text, vector FROM vectors WHERE encoder = ? "
            "AND text IN (SELECT value FROM json_each(?))",
            (encoder, json.dumps(keys)),
        )
        yield from ((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
