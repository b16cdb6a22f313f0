"""Judges beside public ratings: `python -m benchmarks.judge_agreement DIR [--gguf FILE --at-most N]`.

DIR holds `normalized/` and `ratings/` of the real FreshQA files. Nothing in it is a human rating.
The baseline is the rate at which "always incorrect" would agree with the same ratings. With a GGUF
file that local model rates as FreshEval instead, N answers of each file.
"""

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Rated:
    """An answer with its public rating by a model judge, and the slices of its question."""

    truth: Truth
    fact_type: str
    response: str
    rating: str

    @property
    def slices(self) -> tuple[str, ...]:
        premise = "false premise" if self.truth.false_premise else "valid premise"
        return ("all", premise, *(() if self.truth.false_premise else (self.fact_type,)))


def ratings(folder: Path, file: str) -> Iterator[Rated]:
    """Every answer of a public file whose question is known."""
    source = folder / "normalized" / VERSION
    rows = parse_version(source.read_bytes(), VERSION).questions.iter_rows(named=True)
    questions = {row["question"]: row for row in rows}
    book = python_calamine.CalamineWorkbook.from_path(str(folder / "ratings" / file))
    header, *cells = book.get_sheet_by_index(0).to_python()
    for row in (dict(zip(header, values, strict=True)) for values in cells):
        if question := questions.get(row["question"]):
            truth = Truth(question["question"], question["answers"], question["false_premise"])
            rating = str(row["accuracy"]).lower()
            yield Rated(truth, question["fact_type"], str(row["final_answer"]), rating)


def kappa(pairs: pl.DataFrame) -> float:
    """Cohen's kappa of two columns of correct / incorrect."""
    if pairs.is_empty():
        return float("nan")
    observed = (pairs["mine"] == pairs["theirs"]).mean()
    shares = [(pairs[c] == "correct").mean() for c in ("mine", "theirs")]
    expected = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return float((observed - expected) / (1 - expected)) if expected < 1 else float("nan")


def lexical(rated: list[Rated], mode: str) -> list[str]:
    return [rate(one.response, one.truth, mode).rating for one in rated]


def fresheval(rated: list[Rated], mode: str, gguf: Path, home: Path) -> list[str]:
    judge = Judge(name="j", endpoint="local", model=gguf.stem, modes=(mode,), max_tokens=96)
    answers = pl.DataFrame(
        [
            {
                "question_key": f"{i:04d}", "question": one.truth.question,
                "answers": list(one.truth.answers), "false_premise": one.truth.false_premise,
                "state": "answered", "answer": one.response, "reason": None,
            }
            for i, one in enumerate(rated)
        ]
    )  # fmt: skip
    settings = Settings(home=home, local_model=gguf)
    frame = rate_with_model(answers, judge, Systems({}, {}, {}), settings, date(2024, 6, 7))
    return frame.sort("question_key")["rating"].to_list()


def judged(rated: list[Rated], name: str, gguf: Path | None) -> Iterator[dict[str, str]]:
    """A row for each mode, answer and slice: our rating and the public one."""
    for mode in MODES:
        with tempfile.TemporaryDirectory() as home:
            mine = fresheval(rated, mode, gguf, Path(home)) if gguf else lexical(rated, mode)
        for one, rating in zip(rated, mine, strict=True):
            for slice_ in one.slices:
                yield {
                    "file": name,
                    "mode": mode,
                    "slice": slice_,
                    "mine": rating,
                    "theirs": one.rating,
                }


def print_table(title: str, first: str, frame: pl.DataFrame) -> None:
    table = Table(title=title)
    for column in (first, "mode", "n", "rated", "agrees", "kappa", "baseline"):
        table.add_column(column)
    for (name, mode), asked in frame.group_by(first, "mode", maintain_order=True):
        pairs = asked.filter(pl.col("mine") != "unrated")
        agrees = f"{(pairs['mine'] == pairs['theirs']).mean():.0%}" if len(pairs) else "-"
        baseline = f"{(pairs['theirs'] == 'incorrect').mean():.0%}" if len(pairs) else "-"
        table.add_row(
            str(name), str(mode), str(len(asked)), f"{len(pairs) / len(asked):.0%}", agrees,
            f"{kappa(pairs):.2f}", baseline,
        )  # fmt: skip
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--at-most", type=int, default=10**6)
    chosen = parser.parse_args()
    rows = []
    for name, file in FILES.items():
        every = list(ratings(chosen.folder, file))
        rated = every[:: max(1, len(every) // chosen.at_most)][: chosen.at_most]
        rows += judged(rated, name, chosen.gguf)
    frame = pl.DataFrame(rows)
    judge = chosen.gguf.stem if chosen.gguf else "lexical judge"
    title = f"{judge} beside model judges, version {VERSION[8:18]}"
    print_table(title, "file", frame.filter(pl.col("slice") == "all"))
    print_table(f"{title}, all files", "slice", frame.sort("slice", "mode", maintain_order=True))


if __name__ == "__main__":
    main()
