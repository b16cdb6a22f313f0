"""Take answers recorded elsewhere: CSV, JSON lines or XLSX, with question and answer."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb
import polars as pl
import python_calamine

from fresh_assets.benchmark.identity import question_hash
from fresh_assets.errors import BadInputError, UserError
from fresh_assets.warehouse.archive import sha256

TABLE = "eval.recorded_answers"
QUESTION_NAMES = ("question_key", "question", "id")
ANSWER_NAMES = ("answer", "model_response", "response", "model_answer", "final_answer")
MAX_HEADER_ROW = 20
csv.field_size_limit(2**27)
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Columns:
    """How to read a file: the column of the answers (default: the first of ANSWER_NAMES there is),
    and whether rows about questions that the version does not have are left out."""

    value: str | None = None
    skip_unknown: bool = False


BY_NAME = Columns()


def read_answers(
    content: bytes, file_name: str, column: str | None = None
) -> list[tuple[str, str, str]]:
    """(place, question column value, answer) of every row; see `match_answers`.

    The header is found among the first rows, so that the upstream evaluation sheet works as it is.
    """
    wanted = [column.lower()] if column else ANSWER_NAMES
    records = list(_records(content, file_name, wanted))
    if not records:
        raise BadInputError(file_name, "no answers in it", "Give a header and at least one row")
    columns = list(records[0][1])
    answer = next((name for name in wanted if name in columns), None)
    question = next((name for name in QUESTION_NAMES if name in columns), None)
    if not answer or not question:
        raise BadInputError(
            file_name,
            f"columns are {', '.join(columns) or 'missing'}",
            f"It needs one of {', '.join(QUESTION_NAMES)} and one of {', '.join(wanted)}",
        )
    return [
        (f"{place}|{question}", cell_text(record.get(question)), cell_text(record.get(answer)))
        for place, record in records
    ]


def match_answers(
    con: duckdb.DuckDBPyConnection,
    content: bytes,
    file_name: str,
    version: date,
    columns: Columns = BY_NAME,
) -> pl.DataFrame:
    """Content rows of eval.recorded_answers (without week and system) for questions of `version`.

    Raises BadInputError for an unknown or repeated question, naming its row.
    """
    answers = match_rows(con, content, file_name, version, columns)
    return pl.DataFrame(
        {"question_key": list(answers), "answer": [answer for _, answer in answers.values()]},
        schema={"question_key": pl.String, "answer": pl.String},
    ).with_columns(file_name=pl.lit(file_name), byte_hash=pl.lit(sha256(content)))


def match_rows(
    con: duckdb.DuckDBPyConnection, content: bytes, file_name: str, version: date, columns: Columns
) -> dict[str, tuple[str, str]]:
    """(place, cell) of one column of a file by the key of the question of `version`.

    Questions are found by key, by text in any wording they ever had, or by upstream id.
    """
    known = con.execute(
        "SELECT question_key, question_hash, id FROM freshqa.current_questions WHERE version = ?",
        [version],
    ).fetchall()
    if not known:
        raise UserError(f"version {version} is not imported: `fresh-assets import-version` first")
    keys = {key for key, _, _ in known}
    links = con.execute("SELECT question_hash, question_key FROM freshqa.question_links").fetchall()
    wordings = {hash_: key for hash_, key in links if key in keys}
    lookup = {
        "question_key": {key: key for key, _, _ in known},
        "question": wordings | {hash_: key for key, hash_, _ in known},
        "id": {str(id_): key for key, _, id_ in known},
    }
    rows: dict[str, tuple[str, str]] = {}
    for place_and_column, value, cell in read_answers(content, file_name, columns.value):
        place, _, column = place_and_column.partition("|")
        key = lookup[column].get(question_hash(value) if column == "question" else value)
        if key is None and columns.skip_unknown:
            continue
        if key is None:
            raise BadInputError(
                file_name,
                f"{value!r} is no {column} of version {version}",
                "Correct or remove it, or leave such rows out with --skip-unknown",
                f"{place}, column {column}",
            )
        if key in rows:
            raise BadInputError(file_name, "the question is there twice", "Keep one answer", place)
        rows[key] = (place, cell)
    return rows


def read_cells(content: bytes, file_name: str) -> list[list[Any]]:
    """Cells of a CSV file in UTF-8, or of the first sheet of an XLSX file."""
    try:
        if content.startswith(b"PK\x03\x04"):
            book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
            return book.get_sheet_by_index(0).to_python(skip_empty_area=False)
        return list(csv.reader(io.StringIO(_decoded(content, file_name), newline=""), strict=True))
    except (csv.Error, python_calamine.CalamineError) as error:
        raise _unreadable(file_name, error) from error


def cell_text(value: Any) -> str:
    """Text of a cell; whole numbers without a fraction."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def _records(content: bytes, file_name: str, wanted: Sequence[str]) -> Iterator[tuple[str, Record]]:
    if not content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        yield from _table(read_cells(content, file_name), file_name, wanted)
        return
    try:
        yield from _lines(_decoded(content, file_name), file_name)
    except ValueError as error:
        raise _unreadable(file_name, error) from error


def _decoded(content: bytes, file_name: str) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(file_name, error) from error
    if "\0" in text:
        raise BadInputError(file_name, "a NUL character", "Remove it")
    return text


def _unreadable(file_name: str, error: Exception) -> BadInputError:
    fix = "Give CSV (UTF-8), JSON lines or XLSX"
    return BadInputError(file_name, f"not readable ({error})", fix)


def _lines(text: str, file_name: str) -> Iterator[tuple[str, Record]]:
    """Records of JSON lines; a line ends at a line feed only, whatever its strings hold."""
    columns: set[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        record = json.loads(line)
        json.dumps(record, ensure_ascii=False).encode()
        if not isinstance(record, dict):
            raise BadInputError(file_name, "not an object", "Correct it", f"line {number}")
        columns = columns or set(record)
        if set(record) != columns:
            raise BadInputError(
                file_name, "other keys than the first line has", "Correct it", f"line {number}"
            )
        nested = next((k for k, v in record.items() if isinstance(v, dict | list)), None)
        if nested:
            raise BadInputError(file_name, f"{nested!r} is no text", "Correct it", f"line {number}")
        yield f"line {number}", {name.lower(): value for name, value in record.items()}


def _table(
    rows: Sequence[Sequence[Any]], file_name: str, wanted: Sequence[str]
) -> Iterator[tuple[str, Record]]:
    headers = (
        (number, [str(cell).strip().lower() for cell in row])
        for number, row in enumerate(rows[:MAX_HEADER_ROW])
        if {str(cell).strip().lower() for cell in row} & set(wanted)
    )
    first = [str(cell).strip().lower() for cell in rows[0]] if rows else []
    at, header = next(headers, (0, first))
    for name in (*QUESTION_NAMES, *wanted):
        if header.count(name) > 1:
            raise BadInputError(file_name, f"column {name} is there twice", "Remove one of them")
    for number, row in enumerate(rows[at + 1 :], at + 2):
        if any(cell_text(cell) for cell in row):
            if len(row) != len(header):
                raise BadInputError(
                    file_name,
                    f"the row has {len(row)} cells, the header {len(header)}",
                    "Put quotes around texts with commas",
                    f"row {number}",
                )
            yield f"row {number}", dict(zip(header, row, strict=True))
