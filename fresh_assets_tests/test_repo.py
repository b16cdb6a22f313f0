"""The repository itself: nothing stated twice, nothing that does not belong, every command works."""

import configparser
import re
import subprocess
import tomllib
from pathlib import Path

import yaml

from fresh_assets.cli import app

ROOT = Path(__file__).parents[1]


def test_workspace_and_pyproject_name_the_same_module() -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text())
    (entry,) = workspace["load_from"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["dagster"]
    assert entry["python_module"]["module_name"] == project["module_name"]
    assert entry["python_module"]["location_name"] == project["code_location_name"]


def test_every_package_is_installed() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    listed = set(config["options"]["packages"].split())
    found = {
        ".".join(f.parent.relative_to(ROOT).parts) for f in ROOT.glob("fresh_assets/**/__init__.py")
    }
    assert listed == found | {"fresh_assets.sql", "fresh_assets.data"}
    assert "[project]" not in (ROOT / "pyproject.toml").read_text()


def tracked() -> list[Path]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in done.stdout.splitlines()]


def test_no_machine_paths_and_no_secrets() -> None:
    suspicious = re.compile(r"/(?:root|home|work)/\w+|sk-[A-Za-z0-9]{20}|AKIA[A-Z0-9]{16}")
    for file in tracked():
        if file.suffix not in {".png"} and file != Path(__file__):
            assert not suspicious.search(file.read_text(encoding="utf-8")), file


def test_commands_of_the_documents_exist() -> None:
    commands = {
        c.name or (c.callback.__name__.replace("_", "-") if c.callback else "")
        for c in app.registered_commands
    }
    commands |= {group.name or "" for group in app.registered_groups}
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = document.read_text()
        for command in re.findall(r"fresh-assets ([a-z][a-z-]+)", text):
            assert command in commands, f"{document.name}: fresh-assets {command}"
        for target in re.findall(r"`make ([a-z]+)`|^make ([a-z]+)", text, re.MULTILINE):
            assert (target[0] or target[1]) in targets, f"{document.name}: make {target}"


def test_links_of_the_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
