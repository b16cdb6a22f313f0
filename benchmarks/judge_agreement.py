"""The lexical judge beside public ratings: `python -m benchmarks.judge_agreement DIR`.

DIR holds `normalized/` and `ratings/` of the real FreshQA files. Nothing in it is a human rating.
The baseline is the rate at which "always incorrect" would agree with the same ratings.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import python_calamine
from rich.console import Console
from rich.table import Table

from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.judging.lexical import MODES, Truth, rate

FILES = {
    "FreshPrompt, gpt-3.5": "varun_freshprompt_gpt35_eval.xlsx",
    "FreshPrompt, llama2-70b": "varun_freshprompt_llama2_70b_eval.xlsx",
    "4-shot, gpt-3.5": "varun_4shot_gpt35_eval.xlsx",
    "4-shot, llama2-70b": "varun_4shot_llama2_70b_eval.xlsx",
}
VERSION = "freshqa_2024-03-11.csv"


def ratings(folder: Path, file: str) -> Iterator[tuple[Truth, str, str]]:
    """(truth, response, rating of the model judge) of every answer whose question is known."""
    source = folder / "normalized" / VERSION
    truths = {
        q["question"]: Truth(q["question"], q["answers"], q["false_premise"])
        for q in parse_version(source.read_bytes(), VERSION).questions.iter_rows(named=True)
    }
    book = python_calamine.CalamineWorkbook.from_path(str(folder / "ratings" / file))
    header, *rows = book.get_sheet_by_index(0).to_python()
    for row in (dict(zip(header, cells, strict=True)) for cells in rows):
        if row["question"] in truths:
            yield truths[row["question"]], str(row["final_answer"]), str(row["accuracy"]).lower()


def kappa(pairs: pl.DataFrame) -> float:
    """Cohen's kappa of two columns of correct / incorrect."""
    observed = (pairs["mine"] == pairs["theirs"]).mean()
    shares = [(pairs[c] == "correct").mean() for c in ("mine", "theirs")]
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return float((observed - expected) / (1 - expected))


def main() -> None:
    table = Table(title=f"Lexical judge beside model judges, version {VERSION[8:18]}")
    for column in ("answers of", "premise", "mode", "n", "rated", "agrees", "kappa", "baseline"):
        table.add_column(column)
    for name, file in FILES.items():
        rated = list(ratings(Path(sys.argv[1]), file))
        for mode in MODES:
            frame = pl.DataFrame(
                [
                    {
                        "false": truth.false_premise,
                        "mine": rate(text, truth, mode).rating,
                        "theirs": theirs,
                    }
                    for truth, text, theirs in rated
                ]
            )
            for false in (False, True):
                asked = frame.filter(pl.col("false") == false)
                pairs = asked.filter(pl.col("mine") != "unrated")
                table.add_row(
                    name, "false" if false else "valid", mode, str(len(asked)),
                    f"{len(pairs) / len(asked):.0%}",
                    f"{(pairs['mine'] == pairs['theirs']).mean():.0%}", f"{kappa(pairs):.2f}",
                    f"{(pairs['theirs'] == 'incorrect').mean():.0%}",
                )  # fmt: skip
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
