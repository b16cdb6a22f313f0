"""Judges beside public ratings: `python -m benchmarks.judge_agreement DIR [--gguf FILE --at-most N]`.

DIR holds `normalized/` and `ratings/` of the real FreshQA files. Nothing in it is a human rating.
The baseline is the rate at which "always incorrect" would agree with the same ratings. With a GGUF
file that local model rates as FreshEval instead, N answers of each file.
"""

import argparse
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import polars as pl
import python_calamine
from rich.console import Console
from rich.table import Table

from fresh_assets.answers.systems import Judge, Systems
from fresh_assets.benchmark.version_file import parse_version
from fresh_assets.judging.lexical import MODES, Truth, rate
from fresh_assets.judging.rating import rate_with_model
from fresh_assets.settings import Settings

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
    if pairs.is_empty():
        return float("nan")
    observed = (pairs["mine"] == pairs["theirs"]).mean()
    shares = [(pairs[c] == "correct").mean() for c in ("mine", "theirs")]
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return float((observed - expected) / (1 - expected)) if expected < 1 else float("nan")


def lexical(rated: list[tuple[Truth, str, str]], mode: str) -> list[str]:
    return [rate(text, truth, mode).rating for truth, text, _ in rated]


def fresheval(rated: list[tuple[Truth, str, str]], mode: str, gguf: Path, home: Path) -> list[str]:
    judge = Judge(name="j", endpoint="local", model=gguf.stem, modes=(mode,), max_tokens=96)
    answers = pl.DataFrame(
        [
            {
                "question_key": f"{i:04d}", "question": truth.question, "answers": list(truth.answers),
                "false_premise": truth.false_premise, "state": "answered", "answer": text, "reason": None,
            }
            for i, (truth, text, _) in enumerate(rated)
        ]
    )  # fmt: skip
    settings = Settings(home=home, local_model=gguf)
    frame = rate_with_model(answers, judge, Systems({}, {}, {}), settings, date(2024, 6, 7))
    return frame.sort("question_key")["rating"].to_list()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--at-most", type=int, default=10**6)
    chosen = parser.parse_args()
    judge = chosen.gguf.stem if chosen.gguf else "lexical judge"
    table = Table(title=f"{judge} beside model judges, version {VERSION[8:18]}")
    for column in ("answers of", "premise", "mode", "n", "rated", "agrees", "kappa", "baseline"):
        table.add_column(column)
    for name, file in FILES.items():
        every = list(ratings(chosen.folder, file))
        rated = every[:: max(1, len(every) // chosen.at_most)][: chosen.at_most]
        for mode in MODES:
            with tempfile.TemporaryDirectory() as home:
                mine = (
                    fresheval(rated, mode, chosen.gguf, Path(home))
                    if chosen.gguf
                    else lexical(rated, mode)
                )
            frame = pl.DataFrame(
                {
                    "false": [truth.false_premise for truth, _, _ in rated],
                    "mine": mine,
                    "theirs": [theirs for _, _, theirs in rated],
                }
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
