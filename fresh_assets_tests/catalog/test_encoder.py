"""The packaged encoder and the cache of its vectors: only what changed is encoded."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fresh_assets.catalog.encoder import Encoder, VectorCache, Vectors
from fresh_assets.errors import UserError


class Counting(Encoder):
    """An encoder without a model that counts what it is given."""

    def __init__(self, name: str = "toy") -> None:
        super().__init__(name)
        self.hash = f"hash of {name}"
        self.encoded: list[str] = []

    @property
    def dimension(self) -> int:
        return 4

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        rows = [[len(text), text.count("a"), text.count("e"), 1] for text in texts]
        vectors = np.array(rows, dtype=np.float32).reshape(-1, 4)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.slow
def test_the_packaged_encoder_knows_what_is_alike() -> None:
    encoder = Encoder()
    vectors = encoder.encode(["send an e-mail", "post a message", "delete the database table"])
    assert vectors.shape == (3, encoder.dimension) == (3, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1], abs=1e-5)
    asked = encoder.encode(["mail it to the customer"])[0]
    assert (vectors @ asked).argmax() == 0
    assert encoder.encode([]).shape == (0, 384)
    assert Encoder().hash == encoder.hash, "of the weights, not of the object"


def test_a_changed_catalog_encodes_only_what_changed(tmp_path: Path) -> None:
    cache, encoder = VectorCache(tmp_path / "v.sqlite"), Counting()
    texts = [f"entry number {i}" for i in range(1000)]
    first, new = cache.encode(encoder, texts)
    assert new == 1000
    changed = [f"{text} again" if i % 100 == 0 else text for i, text in enumerate(texts)]
    second, new = VectorCache(tmp_path / "v.sqlite").encode(encoder, changed)
    assert new == 10
    assert encoder.encoded[1000:] == changed[::100]
    assert second == pytest.approx(Counting().encode(changed))
    assert np.array_equal(first[1], second[1])


def test_a_text_twice_is_encoded_once_and_encoders_do_not_mix(tmp_path: Path) -> None:
    cache, encoder = VectorCache(tmp_path / "v.sqlite"), Counting()
    vectors, new = cache.encode(encoder, ["a", "b", "a"])
    assert new == 2
    assert np.array_equal(vectors[0], vectors[2])
    assert cache.encode(Counting("other"), ["a"])[1] == 1
    assert cache.encode(encoder, [])[0].shape == (0, 4)


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "model"
    empty.mkdir()
    with pytest.raises(UserError, match="no encoder .*model': give packaged-minilm"):
        Encoder(str(empty)).encode(["a"])
