"""Ratings by people: a sheet that is blind to the system, and back.

The protocol of FreshLLMs (arXiv 2310.03214): a sample of answers, half of them to false premises,
rated in both modes by two people who do not know the system.
"""

import csv
import io
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import duckdb
import polars as pl

from fresh_assets.answers.imports import Columns, cell_text, match_rows, read_cells
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.warehouse.archive import sha256

TABLE = "eval.human_ratings"
MODES = ("relaxed", "strict")
TERMINAL = "terminal"
"""In place of a file name: rated with `fresh-assets rate`."""
COLUMNS = ("item", "question", "correct_answers", "false_premise", "response", *MODES, "comment")
WORDS = {"correct": "correct", "c": "correct", "1": "correct"}
WORDS |= {"incorrect": "incorrect", "i": "incorrect", "0": "incorrect"}
WORDS |= {"true": "correct", "false": "incorrect"}
NO_RATING = ("", "unknown", "unrated", "n/a")


@dataclass(frozen=True)
class Item:
    """An answer to be rated; `name` says nothing of the system."""

    name: str
    system: str
    question_key: str
    question: str
    answers: tuple[str, ...]
    false_premise: bool
    response: str
    answer_hash: str


@dataclass(frozen=True)
class RatedAnswers:
    """Whose answers a file rates: system, week with its version, mode, and the file's columns."""

    system: str
    week: date
    version: date
    mode: str
    columns: Columns


def read_items(con: duckdb.DuckDBPyConnection, week: date) -> list[Item]:
    """Every answer given in a week, in the order of its name."""
    rows = con.execute(
        """
        SELECT DISTINCT system, question_key, question, answers, false_premise, answer, answer_hash
        FROM eval.answers JOIN freshqa.ground_truth USING (week, question_key)
        JOIN eval.judgements USING (week, system, question_key)
        WHERE week = ? AND is_current AND answer IS NOT NULL
        """,
        [week],
    ).fetchall()
    items = [Item(_name(week, row[0], row[1]), *row) for row in rows]
    return sorted(items, key=lambda item: item.name)


def sample(items: list[Item], number: int, week: date) -> list[Item]:
    """The same sample for every rater: half false premises, spread over systems and questions."""
    if not items:
        raise UserError(f"no answers were given in week {week}: `fresh-assets refresh` first")
    drawn = random.Random(f"{week}").sample(items, len(items))  # noqa: S311
    halves = ([i for i in drawn if i.false_premise], [i for i in drawn if not i.false_premise])
    taken = [*halves[0][: number // 2], *halves[1][: number - number // 2]]
    rest = [item for item in drawn if item not in taken]
    return [*taken, *rest][: min(number, len(items))]


def shuffled(items: list[Item], rater: str) -> list[Item]:
    """The items in the order of a rater."""
    return random.Random(rater).sample(items, len(items))  # noqa: S311


def sheet(items: list[Item], rater: str) -> str:
    """CSV text of a sheet, shuffled for the rater; text that a spreadsheet would run is quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item in shuffled(items, rater):
        cells = [item.question, " | ".join(item.answers), item.false_premise, item.response]
        writer.writerow([item.name, *(_harmless(str(cell)) for cell in cells), "", "", ""])
    return text.getvalue()


def read_sheet(
    content: bytes, file_name: str, rater: str, week: date, items: list[Item]
) -> pl.DataFrame:
    """Content rows of eval.human_ratings from a filled-in sheet; rows left blank are skipped.

    Raises BadInputError naming row and column of an unknown item or a word that is no rating.
    """
    known = {item.name: item for item in items}
    rows = list(_ratings(content, file_name, known))
    if not rows:
        raise BadInputError(file_name, "no row is rated", "Fill in relaxed and strict")
    return pl.concat(
        rating_rows(item, {mode: rating}, comment, rater, week, file_name)
        for item, mode, rating, comment in rows
    )


def rating_rows(
    item: Item,
    ratings: Mapping[str, str],
    comment: str,
    rater: str,
    week: date,
    file_name: str = TERMINAL,
) -> pl.DataFrame:
    """Content rows of eval.human_ratings for one item; `ratings`: mode to rating."""
    return pl.DataFrame(
        [
            {
                "week": week, "rater": rater, "system": item.system,
                "question_key": item.question_key, "mode": mode, "rating": rating,
                "comment": comment or None, "answer_hash": item.answer_hash,
                "file_name": file_name,
            }
            for mode, rating in ratings.items()
        ],
        schema_overrides={"comment": pl.String},
    )  # fmt: skip


def match_ratings(
    con: duckdb.DuckDBPyConnection,
    content: bytes,
    file_name: str,
    rater: str,
    answers: RatedAnswers,
) -> pl.DataFrame:
    """Content rows of eval.human_ratings from a file with a question and a rating in each row.

    A row without a rating is left out. Raises BadInputError naming the row of a question without
    an answer of the system, or of a word that is no rating.
    """
    given = match_rows(con, content, file_name, answers.version, answers.columns)
    items = {
        item.question_key: item
        for item in read_items(con, answers.week)
        if item.system == answers.system
    }
    if not items:
        raise UserError(
            f"{answers.system} gave no answers in week {answers.week}: refresh it first"
        )
    rows = []
    for key, (place, cell) in given.items():
        word = cell.lower()
        if word in NO_RATING:
            continue
        if word not in WORDS:
            fix = "Write correct or incorrect"
            raise BadInputError(file_name, f"{cell!r} is no rating", fix, place)
        if key in items:
            rows.append(
                rating_rows(
                    items[key], {answers.mode: WORDS[word]}, "", rater, answers.week, file_name
                )
            )
    if not rows:
        raise BadInputError(file_name, "no row is rated", "Name the column that holds the ratings")
    return pl.concat(rows)


def _ratings(
    content: bytes, file_name: str, known: dict[str, Item]
) -> Iterator[tuple[Item, str, str, str]]:
    header, *rows = [[cell_text(c) for c in row] for row in read_cells(content, file_name)] or [[]]
    missing = {"item", *MODES} - set(header)
    if missing:
        raise BadInputError(
            file_name, f"no column {', '.join(sorted(missing))}", "Use `fresh-assets rating-sheet`"
        )
    seen: set[str] = set()
    for number, row in enumerate(rows, 2):
        cells = dict(zip(header, row, strict=False))
        given = {mode: cells.get(mode, "").lower() for mode in MODES}
        if not any(given.values()):
            continue
        place, item = f"row {number}", known.get(cells["item"])
        if item is None:
            problem = f"{cells['item']!r} is no answer of this week, or was given anew since"
            raise BadInputError(file_name, problem, "Export a new sheet", f"{place}, column item")
        if item.name in seen:
            raise BadInputError(file_name, "the item is there twice", "Keep one row", place)
        seen.add(item.name)
        for mode, word in given.items():
            if word and word not in WORDS:
                raise BadInputError(
                    file_name, f"{word!r} is no rating", "Write correct or incorrect",
                    f"{place}, column {mode}",
                )  # fmt: skip
            if word:
                yield item, mode, WORDS[word], cells.get("comment", "")


def _name(week: date, system: str, question_key: str) -> str:
    return sha256(f"{week}|{system}|{question_key}".encode())[:12]


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell
