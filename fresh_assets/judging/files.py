"""Rate answers in a file: CSV or XLSX with columns by name, or the upstream evaluation sheet."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import polars as pl

from fresh_assets.answers.imports import (
    ANSWER_NAMES,
    MAX_HEADER_ROW,
    cell_text,
    read_cells,
)
from fresh_assets.answers.systems import Systems
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.judging import lexical
from fresh_assets.judging.rating import rate_answers, rate_with_model
from fresh_assets.settings import Settings


@dataclass(frozen=True)
class RatedFile:
    """The rows of the input with `rating` and `explanation` beside them, as CSV text."""

    text: str
    counts: dict[str, int]


def rate_file(
    content: bytes,
    file_name: str,
    mode: str,
    judge: str,
    systems: Systems,
    settings: Settings,
    today: date,
) -> RatedFile:
    """Rate every row: `question`, `answer_0` ... `answer_9`, and the response.

    The lexical judge needs the column false_premise; a model judge does not.
    """
    header, rows = _read(content, file_name)
    answers = _answers(header, rows, file_name)
    if judge == lexical.NAME:
        rated = rate_answers(answers)
    elif judge in systems.judges:
        rated = rate_with_model(answers, systems.judges[judge], systems, settings, today)
    else:
        known = ", ".join([lexical.NAME, *systems.judges])
        raise UserError(f"no judge {judge!r}: known are {known}")
    by_row = rated.filter(pl.col("mode") == mode).rows_by_key(
        "question_key", named=True, unique=True
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*header, "rating", "explanation"])
    ratings = [by_row[str(number)] for number in range(len(rows))]
    writer.writerows(
        [*row, r["rating"], r["comment"]] for row, r in zip(rows, ratings, strict=True)
    )
    counts = pl.Series([r["rating"] for r in ratings]).value_counts()
    return RatedFile(text.getvalue(), dict(counts.sort("count", descending=True).iter_rows()))


def _read(content: bytes, file_name: str) -> tuple[list[str], list[list[str]]]:
    records = [[cell_text(c) for c in cells] for cells in read_cells(content, file_name)]
    for number, record in enumerate(records[:MAX_HEADER_ROW]):
        if "question" in record and set(record) & set(ANSWER_NAMES):
            rows = [(i, r) for i, r in enumerate(records[number + 1 :], number + 2) if any(r)]
            ragged = next((i for i, r in rows if len(r) != len(record)), None)
            if ragged:
                raise BadInputError(
                    file_name,
                    f"the row has not {len(record)} cells",
                    "Export it again",
                    f"row {ragged}",
                )
            return record, [r for _, r in rows]
    raise BadInputError(
        file_name,
        "no header with question and a response",
        f"Name the columns question, answer_0 ... and one of {', '.join(ANSWER_NAMES)}",
    )


def _answers(header: Sequence[str], rows: Sequence[Sequence[str]], file_name: str) -> pl.DataFrame:
    gold = [i for i, name in enumerate(header) if name.startswith("answer_")]
    if not gold:
        raise BadInputError(
            file_name, "no column answer_0", "Give the correct answers in answer_0 ..."
        )
    question = header.index("question")
    response = header.index(next(name for name in ANSWER_NAMES if name in header))
    premise = header.index("false_premise") if "false_premise" in header else None
    made = []
    for number, row in enumerate(rows):
        correct = [row[i].strip() for i in gold if row[i].strip()]
        if not correct:
            raise BadInputError(
                file_name,
                "no correct answer",
                "Fill in answer_0",
                f"answer {number + 1}, {row[question]!r}",
            )
        made.append(
            {
                "question_key": str(number),
                "question": row[question],
                "answers": correct,
                "false_premise": premise is not None and row[premise].strip().upper() == "TRUE",
                "state": "answered",
                "answer": row[response],
                "reason": None,
            }
        )
    return pl.DataFrame(made, schema_overrides={"reason": pl.String})
