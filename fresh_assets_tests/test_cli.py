"""The command line as a person uses it: real processes, exit codes, one-line errors."""

import csv
import io
import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from fresh_assets.refresh import Platform
from fresh_assets.search.corpus import Document, write_corpus
from fresh_assets_tests.benchmark.files import as_csv, row, rows
from fresh_assets_tests.openai_server import Reply, openai_server

PROGRAM = Path(sys.executable).with_name("fresh-assets")


def run(
    home: Path, *arguments: str, typed: str | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, "FRESH_ASSETS_HOME": str(home), "COLUMNS": "160", **environment}
    return subprocess.run(
        [PROGRAM, *arguments],
        capture_output=True,
        text=True,
        input=typed,
        env=settings,
        timeout=300,
        check=False,
    )


def output_of(home: Path, *arguments: str, **environment: str) -> str:
    done = run(home, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def error_of(home: Path, *arguments: str, **environment: str) -> str:
    done = run(home, *arguments, **environment)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()[-1:]
    assert line.startswith("Error: ")
    return line


@pytest.fixture
def version_file(tmp_path: Path) -> Path:
    file = tmp_path / "v.csv"
    file.write_bytes(as_csv(rows()))
    return file


def test_a_version_from_file_to_table(tmp_path: Path, version_file: Path) -> None:
    home = tmp_path / "home"
    told = output_of(home, "import-version", str(version_file), "--date", "2024-03-04")
    assert "2024-03-04 revision 1: 6 questions, 0 irregular cells" in told
    told = output_of(home, "import-version", str(version_file), "--date", "2024-03-04")
    assert "has these rows already (revision 1)" in told
    version_file.write_bytes(as_csv(rows(row(1, answer_0="corrected"))))
    output_of(home, "import-version", str(version_file), "--date", "2024-03-11")
    assert "2024-03-11" in output_of(home, "versions")
    told = output_of(home, "changes", "2024-03-04", "2024-03-11")
    assert "replaced" in told
    assert "corrected" in told


def test_mistakes_get_one_line(tmp_path: Path, version_file: Path) -> None:
    home = tmp_path / "home"
    assert "nothing is published" in error_of(home, "sql", "SELECT 1")
    version_file.write_bytes(as_csv(rows(row(2, split="DEMO"))))
    told = error_of(home, "import-version", str(version_file), "--date", "2024-03-04")
    assert "v.csv, row 6, column split: 'DEMO' is not one of TEST, DEV." in told
    assert "is not imported" in error_of(home, "changes", "2024-01-01", "2024-01-08")
    assert "no version dated up to" in error_of(home, "refresh", "--week", "2024-03-04")
    assert "is not a Monday" in error_of(home, "refresh", "--week", "2024-03-05")
    told = error_of(home, "refresh", FRESH_ASSETS_MAX_UNRATED="7")
    assert "FRESH_ASSETS_MAX_UNRATED: " in told
    answers = tmp_path / "a.csv"
    answers.write_text("question,answer\nWho?,Ana\n")
    told = error_of(home, "import-answers", str(answers), "--system", "a|b", "--week", "2024-03-04")
    assert "is no system name" in told
    snapshot = ["import-snapshot", str(answers), "--week", "2024-03-04", "--version", "2024-03-04"]
    assert "version 2024-03-04 is not imported" in error_of(home, *snapshot)
    assert "cannot be imported" in error_of(home, *snapshot, "--engine", "bing")


def test_usage_errors_exit_with_2(tmp_path: Path) -> None:
    assert run(tmp_path, "import-version", "none.csv", "--date", "2024-03-04").returncode == 2
    assert run(tmp_path, "refresh", "--week", "soon").returncode == 2
    assert run(tmp_path, "no-such-command").returncode == 2


def test_sql_is_read_only_and_safe_to_paste(refreshed: Platform) -> None:
    home = refreshed.settings.home
    told = output_of(home, "sql", "SELECT system, mode FROM mart.accuracy LIMIT 1", "--csv")
    assert told.splitlines()[0] == "system,mode"
    assert "read-only" in error_of(home, "sql", "DELETE FROM mart.accuracy")
    assert "nothing_here" in error_of(home, "sql", "FROM nothing_here")
    assert "disabled" in error_of(home, "sql", "COPY mart.accuracy TO 'stolen.csv'")
    told = output_of(
        home, "sql", "-- a comment\nSELECT '=1+1' AS cell, NULL AS none, 0.125 AS number", "--csv"
    )
    assert told == "cell,none,number\n'=1+1,,0.125\n"
    error = error_of(home, "sql", "SELECT CAST(question AS INTEGER) FROM freshqa.current_questions")
    assert "Conversion Error" in error
    assert "[/foo]" in output_of(home, "sql", r"""SELECT '\[/foo]' AS "[red]a" """)
    assert "\\[red]a" not in output_of(home, "sql", """SELECT 1 AS "[red]a" """)
    assert "'-cmd" in output_of(home, "sql", "SELECT '-cmd' AS a, -5 AS b, '-5' AS c", "--csv")
    told = output_of(home, "sql", "SELECT '[red]x[/red]' || chr(27) || '[2J' AS cell")
    assert "[red]x[/red]\ufffd[2J" in told


@pytest.mark.parametrize("damage", ["home is a file", "warehouse", "archive", "published"])
def test_a_broken_home_is_one_line(tmp_path: Path, version_file: Path, damage: str) -> None:
    home = tmp_path / "home [b]"
    if damage == "home is a file":
        home.touch()
        assert "is no folder" in run(home, "doctor").stdout
        error_of(home, "versions")
        return
    output_of(home, "import-version", str(version_file), "--date", "2024-03-04")
    if damage == "published":
        (home / "published").mkdir()
        (home / "published" / "latest.duckdb").touch()
        assert "broken  published file" in run(home, "doctor").stdout
        error_of(home, "sql", "SELECT 1")
        return
    file = home / ("warehouse.duckdb" if damage == "warehouse" else "archive.sqlite")
    file.write_bytes(b"not a database" * 1000)
    assert f"broken  {damage}" in run(home, "doctor").stdout
    error_of(home, "import-version", str(version_file), "--date", "2024-03-11")


def test_worked_examples_run(refreshed: Platform) -> None:
    folder = Path(__file__).parents[1] / "sql" / "examples"
    examples = sorted(set(folder.glob("*.sql")) - set(folder.glob("retrievers_*.sql")))
    assert examples
    for example in examples:
        assert (
            len(output_of(refreshed.settings.home, "sql", str(example), "--csv").splitlines()) > 1
        )


def test_doctor_says_what_is_missing(tmp_path: Path, refreshed: Platform) -> None:
    told = output_of(tmp_path / "new", "doctor", FRESH_ASSETS_HOEM="x")
    assert "note  FRESH_ASSETS_HOEM: no such setting" in told
    assert "note  warehouse: empty: `fresh-assets demo`" in told
    assert not (tmp_path / "new").exists()
    assert "ok  search: corpus searches" in output_of(refreshed.settings.home, "doctor")
    searched = run(tmp_path, "doctor", FRESH_ASSETS_ENGINE="brave,bing", BRAVE_API_KEY="sk-brave-1")
    assert "ok  search: brave searches" in searched.stdout
    assert "broken  search: no search engine 'bing'" in searched.stdout
    private = "https://u:tok@h.example/R.md?token=SECRET"
    told = output_of(tmp_path, "doctor", FRESH_ASSETS_UPSTREAM=private)
    assert "https://h.example/R.md" in told
    assert "SECRET" not in told
    assert "tok" not in told.replace("token", "")
    nowhere = run(tmp_path, "doctor", FRESH_ASSETS_UPSTREAM="/nope/README.md")
    assert "broken  upstream: /nope/README.md is neither" in nowhere.stdout
    assert "JSON is expected" in error_of(
        tmp_path, "versions", FRESH_ASSETS_ALERT_EMAIL_TO="me@x.org"
    )
    broken = tmp_path / "systems.toml"
    broken.write_text("[systems.a]\nmethod = 'magic'\n")
    done = run(tmp_path, "doctor", FRESH_ASSETS_SYSTEMS_FILE=str(broken))
    assert done.returncode == 1
    assert "broken  systems: systems.toml, [systems.a], method" in done.stdout


@pytest.mark.slow
def test_demo_then_refresh_twice(tmp_path: Path) -> None:
    output_of(tmp_path, "demo", "--questions", "40", "--requests", "0.05")
    told = output_of(tmp_path, "refresh")
    assert "RELAXED accuracy in week 2026-02-09" in told
    assert "demo/all-knowing" in told
    published = told.split("Published: ")[1].splitlines()[0]
    assert Path(published).exists()
    output_of(tmp_path, "demo", "--questions", "40", "--requests", "0.05")
    assert "Everything is up to date." in output_of(tmp_path, "refresh")
    told = error_of(
        tmp_path,
        "import-version",
        str(tmp_path / "demo/versions/2026-01-05.csv"),
        "--date",
        "2026-01-05",
    )
    assert "holds the demo world" in told


@pytest.mark.slow
def test_the_real_versions_in_one_loop(tmp_path: Path, real: Path) -> None:
    for file in sorted((real / "normalized").glob("*.csv")):
        day = file.stem[-10:]
        accept = ["--accept-damage"] if day == "2025-11-24" else []
        output_of(tmp_path, "import-version", str(file), "--date", day, *accept)
    searches = real / "search" / "serpapi_evidence_600_2024-03-13.json"
    week = ["--week", "2024-03-11"]
    output_of(
        tmp_path, "import-snapshot", str(searches), "--engine", "recorded", *week,
        "--version", "2024-03-11", "--as-of", "2024-03-13",
    )  # fmt: skip
    output_of(tmp_path, "refresh", *week)
    query = (
        "SELECT slice, asked FROM mart.accuracy WHERE mode = 'strict' AND system = 'search-answer'"
    )
    told = output_of(tmp_path, "sql", query, "--csv")
    assert "overall,500" in told
    assert "false premise before 2022,90" in told


def systems_file(folder: Path, url: str) -> str:
    """Path of a systems file with one system and one judge on the server at `url`."""
    file = folder / "s.toml"
    file.write_text(
        f'[endpoints.e]\nurl = "{url}"\n'
        '[systems.plain]\nmethod = "closed_book"\nendpoint = "e"\nmodel = "m"\n'
        '[systems.fresh]\nmethod = "freshprompt"\nendpoint = "e"\nmodel = "m"\ndemonstrations = 0\n'
        '[systems.search-answer]\nmethod = "search_answer"\n'
        '[judges.j]\nendpoint = "e"\nmodel = "judge"\n'
    )
    return str(file)


def speaks(body: dict[str, Any], _: int) -> Reply:
    if body["model"] == "judge":
        item = body["messages"][1]["content"].rsplit("response [", 1)[1]
        return Reply(f"comment: seen\nevaluation: {'correct' if 'Ana' in item else 'incorrect'}")
    return Reply("Ana [bold]Bol[/bold] \x1b[31m", extra={"citations": ["https://c.example"]})


def test_ask_shows_evidence_answer_and_citations(tmp_path: Path) -> None:
    page = Document(
        "https://v.example", "v.example", date(2026, 1, 1), "Velmora", "Ana is mayor of Velmora."
    )
    write_corpus([page], tmp_path / "corpus.jsonl")
    with openai_server(speaks) as server:
        file = systems_file(tmp_path, server.url)
        told = output_of(
            tmp_path,
            "ask",
            "Who is mayor of Velmora?",
            "--system",
            "fresh",
            FRESH_ASSETS_SYSTEMS_FILE=file,
        )
        assert "evidence: Jan 1, 2026 Velmora https://v.example" in told
        assert "Ana [bold]Bol[/bold]" in told
        assert "\x1b[31m" not in told
        assert "cited: https://c.example" in told
        error = error_of(
            tmp_path, "ask", "Who?", "--system", "search-answer", FRESH_ASSETS_SYSTEMS_FILE=file
        )
    assert "systems that do are plain, fresh" in error


def test_ask_shows_what_a_model_said_before_it_was_cut_off(tmp_path: Path) -> None:
    def cut(_: dict[str, Any], __: int) -> Reply:
        return Reply("Ana Bol, who", finish_reason="length")

    with openai_server(cut) as server:
        file = systems_file(tmp_path, server.url)
        told = output_of(
            tmp_path, "ask", "Who?", "--system", "plain", FRESH_ASSETS_SYSTEMS_FILE=file
        )
    assert told.startswith("Ana Bol, who")


def test_score_writes_ratings_beside_the_file_and_never_over_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    sheet = 'a warning,,,\n,,,\nquestion,answer_0,false_premise,model_response\nWho?,Ana Bol,FALSE,It is Ana Bol\nWhat?,Tom,FALSE,"=nothing, really"\n'
    file.write_text(sheet)
    told = output_of(tmp_path, "score", str(file), "--mode", "strict")
    rated = tmp_path / "mine.lexical.strict.csv"
    assert str(rated) in told
    lines = rated.read_text().splitlines()
    assert lines[0] == "question,answer_0,false_premise,model_response,rating,explanation"
    assert [line.split(",")[-2] for line in lines[1:]] == ["correct", "incorrect"]
    assert file.read_text() == sheet
    book = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(str(book), {"strings_to_formulas": False}) as workbook:
        page = workbook.add_worksheet()
        for number, cells in enumerate(csv.reader(io.StringIO(sheet))):
            page.write_row(number, 0, cells)
    output_of(tmp_path, "score", str(book), "--mode", "strict")
    assert (tmp_path / "book.lexical.strict.csv").read_text().splitlines()[2:] == lines[2:]
    assert "exists; move it away" in error_of(tmp_path, "score", str(file), "--mode", "strict")
    assert "no judge 'k': known are lexical" in error_of(
        tmp_path, "score", str(file), "--judge", "k"
    )
    with openai_server(speaks) as server:
        output_of(
            tmp_path,
            "score",
            str(file),
            "--judge",
            "j",
            FRESH_ASSETS_SYSTEMS_FILE=systems_file(tmp_path, server.url),
        )
    assert "seen" in (tmp_path / "mine.j.relaxed.csv").read_text()
    file.write_text("a,b\n1,2\n")
    assert "mine.csv: no header with question and a response" in error_of(
        tmp_path, "score", str(file), "--judge", "lexical", "--mode", "relaxed"
    )


def test_estimate_asks_nothing_and_the_cache_tells_what_was_asked(
    refreshed: Platform, tmp_path: Path
) -> None:
    home = refreshed.settings.home
    with openai_server(speaks) as server:
        file = systems_file(tmp_path, server.url)
        told = output_of(home, "estimate", FRESH_ASSETS_SYSTEMS_FILE=file)
        assert server.requests == []
        assert "plain" in told
        assert "unknown" in told
        output_of(tmp_path, "ask", "Who?", "--system", "plain", FRESH_ASSETS_SYSTEMS_FILE=file)
    assert "1 ok" in output_of(tmp_path, "cache", "stats")
    assert "0 calls deleted" in output_of(tmp_path, "cache", "prune", "--days", "0")
    assert "not running" in output_of(tmp_path, "local-llm", "status")
    assert "no local model is served" in error_of(tmp_path, "local-llm", "stop")
