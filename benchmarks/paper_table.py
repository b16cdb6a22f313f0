"""The papers' slices for real recorded answers: `python -m benchmarks.paper_table DIR`.

DIR holds the real FreshQA files. Version 2024-03-11 with its archived searches, the answers and ratings of
four public files (the ratings are by a model judge), the search baseline, and the lexical judge beside.
"""

import argparse
import tempfile
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fresh_assets.answers.imports import Columns
from fresh_assets.benchmark.imports import Source
from fresh_assets.judging.people import RatedAnswers
from fresh_assets.refresh import Platform
from fresh_assets.scoring.accuracy import SLICES
from fresh_assets.settings import Settings

WEEK = date(2024, 3, 11)
FILES = {
    "gpt-3.5/freshprompt": "varun_freshprompt_gpt35_eval.xlsx",
    "llama2-70b/freshprompt": "varun_freshprompt_llama2_70b_eval.xlsx",
    "gpt-3.5/4-shot": "varun_4shot_gpt35_eval.xlsx",
    "llama2-70b/4-shot": "varun_4shot_llama2_70b_eval.xlsx",
}
SHOWN = [name for name in SLICES if name not in {"dev", "stable core"}]


def imported(folder: Path, home: Path) -> Platform:
    systems = home / "systems.toml"
    systems.write_text('[systems.search-answer]\nmethod = "search_answer"\n')
    platform = Platform(Settings(home=home, systems_file=systems))
    version = folder / "versions" / f"{WEEK}.csv"
    platform.import_version(version.read_bytes(), Source(WEEK, version.name))
    saved = folder / "search" / "serpapi_evidence_600_2024-03-13.json"
    platform.import_snapshot(saved.read_bytes(), saved.name, WEEK, WEEK, date(2024, 3, 13))
    contents = {name: (folder / "ratings" / file).read_bytes() for name, file in FILES.items()}
    for name, content in contents.items():
        platform.import_answers(content, FILES[name], WEEK, name)
    platform.refresh(WEEK, [], lambda _: None)
    for name, content in contents.items():
        of = RatedAnswers(name, WEEK, WEEK, "relaxed", Columns("accuracy"))
        platform.import_rated_answers(content, FILES[name], "public", of)
    platform.refresh(WEEK, [], lambda _: None)
    return platform


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    with tempfile.TemporaryDirectory() as home:
        platform = imported(parser.parse_args().folder, Path(home))
        with platform.warehouse.reader() as con:
            rows = con.sql(
                "SELECT system, judge, mode, slice, accuracy, asked, judged FROM mart.accuracy ORDER BY ALL"
            ).fetchall()
    asked = {row[3]: row[5] for row in rows}
    table = Table(title=f"Version {WEEK}, accuracy (rated of asked)")
    for column in ("system", "judge", "mode", *(f"{name} ({asked[name]})" for name in SHOWN)):
        table.add_column(column, overflow="fold")
    cells = {row[:4]: row for row in rows}
    for key in sorted({row[:3] for row in rows}):
        found = [cells[*key, name] for name in SHOWN]
        table.add_row(*key, *(f"{row[4]:.0%} ({row[6]})" if row[6] else "-" for row in found))
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
