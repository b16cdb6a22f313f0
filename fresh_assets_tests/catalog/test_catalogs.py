"""Catalogs from the command line to the index: import, what changed, suggestions, checks."""

import json
import shutil
from pathlib import Path

import pytest

from fresh_assets.catalog.changes import previous_catalog
from fresh_assets.catalog.index import FAISS_FILE
from fresh_assets.refresh import BlockedError, Platform
from fresh_assets.settings import Settings
from fresh_assets_tests.test_cli import error_of, output_of

STEPS = {
    "send_mail": "Send an e-mail to a person",
    "post_chat": "Post a message to a chat channel",
    "create_record": "Create a record in a table",
    "delete_record": "Delete a record from a table",
    "daily": "Run the workflow every day",
    "log": "Write to the log",
}
TABLES = {"incident": "Incident", "sys_user": "User", "change_request": "Change Request"}


def lines(entries: dict[str, str], **kinds: str) -> str:
    return "\n".join(
        json.dumps({"name": n, "title": t, "kind": kinds.get(n, "action"), "common": n == "log"})
        for n, t in entries.items()
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two catalogs of one deployment: a step renamed, one added, one table gone, one reworded."""
    home = tmp_path_factory.mktemp("catalogs")
    (home / "steps.jsonl").write_text(lines(STEPS, daily="trigger"))
    (home / "tables.jsonl").write_text(lines(TABLES))
    later = {("mail_to_person" if n == "send_mail" else n): t for n, t in STEPS.items()}
    later |= {"wait": "Wait for some time", "post_chat": "Post a message to a channel of the chat"}
    (home / "steps2.jsonl").write_text(lines(later, daily="trigger"))
    (home / "tables2.jsonl").write_text(lines({n: t for n, t in TABLES.items() if n != "sys_user"}))
    for key, suffix in (("it-2026-01-05", ""), ("it-2026-01-12", "2")):
        files = (home / f"steps{suffix}.jsonl", home / f"tables{suffix}.jsonl")
        told = output_of(
            home, "import-catalog", key, "--steps", str(files[0]), "--tables", str(files[1])
        )
        assert f"in {key}" in told
        assert "catalog/changes + catalog/indexes" in told
    return home


def platform_of(home: Path) -> Platform:
    return Platform(Settings(home=home))


def test_what_changed_between_two_catalogs(home: Path) -> None:
    with platform_of(home).warehouse.reader() as con:
        found = con.sql(
            "SELECT what, name, change, previous_name FROM catalog.changes ORDER BY ALL"
        ).fetchall()
    assert found == [
        ("steps", "mail_to_person", "renamed", "send_mail"),
        ("steps", "post_chat", "text", None),
        ("steps", "wait", "added", None),
        ("tables", "sys_user", "removed", None),
    ]


def test_only_changed_texts_were_encoded_and_the_rest_is_left_out(home: Path) -> None:
    with platform_of(home).warehouse.reader() as con:
        found = con.sql(
            "SELECT catalog, what, entries, encoded, kind FROM catalog.indexes ORDER BY ALL"
        ).fetchall()
    assert found == [
        ("it-2026-01-05", "steps", 4, 4, "exact"), ("it-2026-01-05", "tables", 3, 3, "exact"),
        ("it-2026-01-12", "steps", 5, 3, "exact"), ("it-2026-01-12", "tables", 2, 0, "exact"),
    ]  # fmt: skip


def test_suggestions_come_from_the_newest_catalog_or_the_one_named(home: Path) -> None:
    told = output_of(home, "suggest", "write a mail to the customer", "--steps", "2")
    assert "mail_to_person" in told
    assert "send_mail" not in told
    assert "steps of it-2026-01-12" in told
    older = output_of(
        home, "suggest", "write a mail", "--catalog", "it-2026-01-05", "--tables", "1"
    )
    assert "send_mail" in older
    assert "daily" not in older, "triggers are not suggested"
    assert " log" not in older, "common steps are not suggested"


def test_a_second_refresh_does_nothing_and_another_encoder_renews(home: Path) -> None:
    assert platform_of(home).refresh_catalogs(lambda _: None) == []
    other = Platform(Settings(home=home, encoder="another"))
    with pytest.raises(Exception, match="no encoder 'another'"):
        other.refresh_catalogs(lambda _: None)


def test_an_index_that_lost_its_file_blocks_and_is_built_anew(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "home")
    platform = platform_of(tmp_path / "home")
    file = next((tmp_path / "home" / "indexes" / "it-2026-01-12").glob(f"steps-*/{FAISS_FILE}"))
    file.write_bytes(file.read_bytes()[:-5])
    assert "is not the file that was built" in error_of(tmp_path / "home", "suggest", "mail")
    with platform.warehouse.writer() as con:
        con.execute(
            "UPDATE meta.slices SET inputs_hash = NULL WHERE table_name = 'catalog.indexes'"
        )
    assert len(platform.refresh_catalogs(lambda _: None)) == 2
    assert "mail_to_person" in output_of(tmp_path / "home", "suggest", "send a mail")


def test_a_lost_entry_is_named_by_the_check(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fresh_assets.catalog import assets  # noqa: PLC0415

    shutil.copytree(home, tmp_path / "home")
    platform = platform_of(tmp_path / "home")
    whole = assets.suggestable
    monkeypatch.setattr(assets, "suggestable", lambda *a: whole(*a).head(2))
    with platform.warehouse.writer() as con:
        con.execute(
            "UPDATE meta.slices SET inputs_hash = NULL WHERE table_name = 'catalog.indexes'"
        )
    with pytest.raises(BlockedError, match="steps: 2 are missing .*tables: 1 are missing"):
        platform.refresh_catalogs(lambda _: None)


@pytest.mark.parametrize(
    ("key", "told"),
    [("2026-01-05", "write the deployment and the date"), ("it-2026", "write the deployment")],
)
def test_a_catalog_needs_a_deployment_and_a_date(home: Path, key: str, told: str) -> None:
    assert told in error_of(home, "import-catalog", key, "--steps", str(home / "steps.jsonl"))


def test_mistakes_leave_the_catalog_as_it_was(home: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"name": "a"}\n{"name": "a"}')
    told = error_of(home, "import-catalog", "it-2026-01-12", "--steps", str(bad))
    assert "bad.jsonl, line 2: 'a' is there already (line 1)" in told
    with platform_of(home).warehouse.reader() as con:
        count = con.sql("SELECT steps FROM catalog.catalogs WHERE catalog = 'it-2026-01-12'")
        assert count.fetchall() == [(7,)]
    assert "give --steps, --tables or both" in error_of(home, "import-catalog", "it-2026-01-12")


def test_the_catalog_before_is_of_the_same_deployment() -> None:
    known = ["it-2026-01-05", "hr-2026-01-12", "it-2026-01-12", "it-2026-01-19"]
    assert previous_catalog("it-2026-01-19", known) == "it-2026-01-12"
    assert previous_catalog("it-2026-01-05", known) is None
    assert previous_catalog("it-2026-02-01", known) == "it-2026-01-19"
