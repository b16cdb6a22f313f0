"""Read one FreshQA version from a file: CSV export, JSON records or XLSX.

Structure that cannot be trusted raises BadInputError naming file, row, column and what to do. Cells
that are merely irregular become findings: repaired (nothing lost), kept as upstream has them, or
damaged (content was lost before). The import refuses damage unless told otherwise.
"""

import csv
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import polars as pl
import python_calamine

from fresh_assets.benchmark.identity import question_hash
from fresh_assets.errors import BadInputError
from fresh_assets.warehouse.archive import sha256

ANSWERS = tuple(f"answer_{i}" for i in range(10))
COLUMNS = (
    "id", "split", "question", "effective_year", "next_review", "false_premise", "num_hops",
    "fact_type", "source", *ANSWERS, "note",
)  # fmt: skip
DOMAINS = {
    "split": ("TEST", "DEV"),
    "false_premise": ("TRUE", "FALSE"),
    "num_hops": ("one-hop", "multi-hop"),
    "fact_type": ("fast-changing", "slow-changing", "never-changing"),
}
REVIEW_CLASSES = ("N/A", "occasionally", "frequently", "every_time", "hardly_ever")
MAX_HEADER_ROW = 20
EXCEL_DATE = r"^(\d{1,2}-[A-Z][a-z]{2}(-\d{2}(\d{2})?)?|[A-Z][a-z]{2}-\d{2})$"
"""How Excel shows a date it made out of text, e.g. 13-May-22 or Oct-25."""
EXCEL_CELLS = 3
"""So many such answers are no accident: the file went through Excel."""
csv.field_size_limit(2**27)
LATIN_BESIDE_HAN = r"[A-Za-z][\u3040-\u30ff\u3400-\u9fff\uff00-\uffef]"


@dataclass(frozen=True)
class Finding:
    """An irregular cell; `file_row` counts from 1 as a spreadsheet does."""

    kind: str
    action: str
    file_row: int | None = None
    column_name: str | None = None
    cell_text: str | None = None


@dataclass(frozen=True)
class VersionFile:
    """A parsed version: `questions` has the content columns of freshqa.questions."""

    file_name: str
    byte_hash: str
    row_hash: str
    questions: pl.DataFrame
    findings: tuple[Finding, ...]

    @property
    def damage(self) -> tuple[Finding, ...]:
        """Findings whose content was lost before the file came here."""
        return tuple(f for f in self.findings if f.action == "damaged")


@dataclass(frozen=True)
class _Grid:
    """Cells below the header: one row a question, with the row number in the file."""

    header: tuple[str, ...]
    rows: list[tuple[int, Sequence[Any]]]
    findings: list[Finding]


def parse_version(content: bytes, file_name: str) -> VersionFile:
    """Parse the bytes of a version file; raises BadInputError where they cannot be trusted."""
    try:
        return _parse(content, file_name)
    except UnicodeEncodeError as error:
        raise BadInputError(
            file_name, "half of a surrogate pair in a text", "Correct it"
        ) from error


def _parse(content: bytes, file_name: str) -> VersionFile:
    grid = _read(content, file_name)
    _check_columns(grid.header, file_name)
    findings = list(grid.findings)
    findings += [
        Finding("unknown column", "kept", None, name) for name in grid.header if name not in COLUMNS
    ]
    cells, typed = _as_text(grid)
    findings += typed
    frame = _repair(cells, findings)
    _check_cells(frame, file_name)
    findings += [*_suspicious(frame), *_mojibake(frame)]
    questions = _questions(frame)
    return VersionFile(file_name, sha256(content), _row_hash(questions), questions, tuple(findings))


def refuse_damage(parsed: VersionFile) -> None:
    """Raise BadInputError naming the first damaged cell of every kind, if there is any."""
    if not parsed.damage:
        return
    first = parsed.damage[0]
    counts = Counter(f.kind for f in parsed.damage)
    examples = {kind: next(f for f in parsed.damage if f.kind == kind) for kind in counts}
    problem = "; ".join(
        f"{count} cells are {kind} (row {examples[kind].file_row}, column "
        f"{examples[kind].column_name}: {examples[kind].cell_text!r})"
        for kind, count in counts.items()
    )
    raise BadInputError(
        parsed.file_name,
        problem,
        "Export the sheet again without opening it in a spreadsheet program, "
        "or import it as it is with --accept-damage",
        f"row {first.file_row}, column {first.column_name}",
    )


def _read(content: bytes, file_name: str) -> _Grid:
    if not content.strip():
        raise BadInputError(file_name, "the file is empty", "Download it again")
    start = content[:1000].removeprefix(b"\xef\xbb\xbf").lstrip()
    if content.startswith(b"PK\x03\x04"):
        grid = _read_xlsx(content, file_name)
        if not file_name.lower().endswith((".xlsx", ".xlsm")):
            grid.findings.append(Finding("XLSX under another name", "repaired"))
        return grid
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise BadInputError(file_name, "an old XLS workbook", "Save it as XLSX or CSV")
    if re.match(rb"<(!doctype|html|head|\?xml)", start, re.IGNORECASE):
        raise BadInputError(
            file_name,
            "a web page, not a sheet (a sign-in or error page of the export)",
            "Check that the sheet is shared with everyone who has the link, then download it again",
        )
    text = _decode(content, file_name)
    if start.startswith((b"[", b"{")):
        return _read_json(text, file_name)
    return _read_csv(text, file_name)


def _decode(content: bytes, file_name: str) -> str:
    if (at := content.find(b"\0")) >= 0:
        line = content[:at].count(b"\n") + 1
        raise BadInputError(file_name, "a NUL character", "Remove it", f"line {line}")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise BadInputError(
            file_name,
            f"not UTF-8 (byte {content[error.start]:#04x})",
            "Save it as CSV UTF-8",
            f"line {line}",
        ) from error


def _read_csv(text: str, file_name: str) -> _Grid:
    try:
        records = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise BadInputError(
            file_name, f"not a complete CSV ({error})", "Download it again"
        ) from error
    return _below_header(records, file_name)


def _read_json(text: str, file_name: str) -> _Grid:
    try:
        records = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInputError(
            file_name, f"not valid JSON ({error.msg})", "Download it again", f"line {error.lineno}"
        ) from error
    except RecursionError as error:
        raise BadInputError(
            file_name, "JSON nested too deeply", "Give a list of records"
        ) from error
    if (
        not isinstance(records, list)
        or not all(isinstance(r, dict) for r in records)
        or not records
    ):
        raise BadInputError(file_name, "not a list of records", "Give a JSON array of objects")
    header = tuple(records[0])
    uneven = next((i for i, r in enumerate(records, 1) if tuple(r) != header), None)
    if uneven:
        raise BadInputError(
            file_name,
            "the record has other keys than the first",
            "Export it again",
            f"record {uneven}",
        )
    return _Grid(header, [(i, list(r.values())) for i, r in enumerate(records, 1)], [])


def _read_xlsx(content: bytes, file_name: str) -> _Grid:
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        names = sorted(book.sheet_names, key=lambda name: name.lower() != "freshqa")
        sheets = [book.get_sheet_by_name(name).to_python(skip_empty_area=False) for name in names]
    except (python_calamine.CalamineError, ValueError) as error:
        raise BadInputError(
            file_name, f"not a readable workbook ({error})", "Save it again as XLSX"
        ) from error
    for sheet in sheets:
        if _header_row(sheet) is not None:
            return _below_header(sheet, file_name)
    return _below_header(sheets[0] if sheets else [], file_name)


def _header_row(records: Sequence[Sequence[Any]]) -> int | None:
    """Row of the header, told by its first three cells, among the first rows."""
    for i, record in enumerate(records[:MAX_HEADER_ROW]):
        if tuple(str(cell).strip().lower() for cell in record[:3]) == COLUMNS[:3]:
            return i
    return None


def _below_header(records: Sequence[Sequence[Any]], file_name: str) -> _Grid:
    at = _header_row(records)
    if at is None:
        raise BadInputError(
            file_name,
            f"no header: no row among the first {MAX_HEADER_ROW} begins with id, split, question",
            "Export the data tab with its header row",
        )
    header = tuple(str(cell).strip().lower() for cell in records[at])
    while header and not header[-1]:
        header = header[:-1]
    rows = [
        (number, cells)
        for number, cells in enumerate(records[at + 1 :], at + 2)
        if any(map(_filled, cells))
    ]
    ragged = [n for n, cells in rows if not len(header) <= len(cells) <= len(records[at])]
    if ragged:
        raise BadInputError(
            file_name,
            f"the row has not {len(header)} cells ({len(ragged)} such rows)",
            "A quote or a line break was lost: download the file again",
            f"row {ragged[0]}",
        )
    if not rows:
        raise BadInputError(file_name, "a header but no questions", "Download it again")
    return _Grid(header, [(n, cells[: len(header)]) for n, cells in rows], [])


def _filled(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _check_columns(header: tuple[str, ...], file_name: str) -> None:
    lost = [name for name in COLUMNS if name not in header]
    if any(name.startswith("unnamed") for name in map(str.lower, header)) and len(lost) > 2:
        raise BadInputError(
            file_name,
            f"the header was lost: keys are {', '.join(header[:3])}, ...",
            "Read the sheet with its third row as header, then export again",
        )
    if lost:
        raise BadInputError(
            file_name, f"columns missing: {', '.join(lost)}", "Export all 20 columns of the sheet"
        )
    twice = [name for name, count in Counter(header).items() if count > 1 and name in COLUMNS]
    if twice:
        raise BadInputError(file_name, f"column {twice[0]} is there twice", "Remove one of them")


def _as_text(grid: _Grid) -> tuple[pl.DataFrame, list[Finding]]:
    """All cells as text; what a spreadsheet or JSON had typed becomes a finding."""
    findings: list[Finding] = []
    columns: dict[str, list[Any]] = {"file_row": [number for number, _ in grid.rows]}
    for index, name in enumerate(grid.header):
        if name not in COLUMNS:
            continue
        values = [cells[index] for _, cells in grid.rows]
        if any(not isinstance(v, str) for v in values):
            values = [
                _typed(value, name, number, findings)
                for value, number in zip(values, columns["file_row"], strict=True)
            ]
        columns[name] = values
    schema = {"file_row": pl.Int64, **dict.fromkeys(COLUMNS, pl.String)}
    return pl.DataFrame(columns, schema_overrides=schema).select(*schema), findings


def _typed(value: Any, column: str, row: int, findings: list[Finding]) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        text = str(value).upper()
    elif isinstance(value, int | float) and float(value).is_integer():
        text = str(int(value))
    elif isinstance(value, datetime | date):
        text = f"{value:%m/%d/%Y}"
    else:
        text = str(value)
    if column in {"question", "source", *ANSWERS}:
        findings.append(Finding("typed by a spreadsheet, not text", "damaged", row, column, text))
    elif column == "next_review" and isinstance(value, date):
        findings.append(Finding("typed review date", "repaired", row, column, text))
    return text


def _repair(cells: pl.DataFrame, findings: list[Finding]) -> pl.DataFrame:
    """Undo what loses nothing: outer space, letter case of flags, N/A read as missing."""
    stripped = cells.with_columns(pl.col(COLUMNS).str.strip_chars())
    for column in COLUMNS:
        changed = cells.filter(cells[column] != stripped[column])
        findings += _cells("outer space", "repaired", changed, column)
    for column in ("next_review", "source"):
        findings += _cells(
            "N/A read as missing", "repaired", stripped.filter(pl.col(column) == ""), column
        )
    repaired = stripped.with_columns(
        pl.col("next_review", "source").replace({"": "N/A"}),
        pl.col("false_premise").str.to_uppercase(),
    )
    for earlier, later in itertools.pairwise(ANSWERS):
        hole = repaired.filter((pl.col(earlier) == "") & (pl.col(later) != ""))
        findings += _cells("an empty answer before a filled one", "repaired", hole, earlier)
    return repaired


def _check_cells(frame: pl.DataFrame, file_name: str) -> None:
    not_a_number = frame.filter(~pl.col("id").str.contains(r"^[0-9]{1,9}$"))
    _refuse(file_name, not_a_number, "id", "not a whole number", "Restore the upstream row number")
    ids = frame["id"].cast(pl.Int64)
    _refuse(
        file_name,
        frame.filter(ids.is_duplicated()),
        "id",
        "there twice",
        "Remove the duplicate row",
    )
    lost = sorted(set(range(len(ids))) - set(ids))
    if lost:
        raise BadInputError(
            file_name,
            f"rows were lost: id {lost[0]} is missing ({len(lost)} in all; ids must run from 0)",
            "Download the file again",
        )
    for column, domain in DOMAINS.items():
        wrong = frame.filter(~pl.col(column).is_in(domain))
        fix = "Give the data tab, not the demo tab" if column == "split" else "Correct the cell"
        _refuse(file_name, wrong, column, f"not one of {', '.join(domain)}", fix)
    year = frame.filter(~pl.col("effective_year").str.contains(r"^(before 2022|(19|20)\d\d)$"))
    _refuse(
        file_name, year, "effective_year", "neither 'before 2022' nor a year", "Correct the cell"
    )
    _refuse(file_name, frame.filter(pl.col("question") == ""), "question", "empty", "Fill it in")
    unanswered = frame.filter(pl.all_horizontal(pl.col(ANSWERS) == ""))
    _refuse(file_name, unanswered, "answer_0", "empty, as are all answers of the row", "Fill it in")
    hashes = frame["question"].map_elements(question_hash, return_dtype=pl.String)
    _refuse(
        file_name, frame.filter(hashes.is_duplicated()), "question", "there twice", "Remove one row"
    )


def _refuse(file_name: str, wrong: pl.DataFrame, column: str, problem: str, fix: str) -> None:
    if wrong.is_empty():
        return
    row, cell = wrong.select("file_row", column).row(0)
    more = f" ({len(wrong)} such rows)" if len(wrong) > 1 else ""
    shown = cell if len(cell) <= 60 else cell[:57] + "..."
    raise BadInputError(
        file_name, f"{shown!r} is {problem}{more}", fix, f"row {row}, column {column}"
    )


def _suspicious(frame: pl.DataFrame) -> list[Finding]:
    excel: list[Finding] = []
    others: list[Finding] = []
    for column in ANSWERS:
        cell = pl.col(column)
        excel += _cells(
            "rewritten by Excel", "damaged", frame.filter(cell.str.contains(EXCEL_DATE)), column
        )
        others += _cells(
            "a URL as answer", "kept", frame.filter(cell.str.contains("^https?://")), column
        )
    if len(excel) < EXCEL_CELLS:
        excel = [
            Finding(
                "like a date rewritten by Excel", "kept", f.file_row, f.column_name, f.cell_text
            )
            for f in excel
        ]
    answers = pl.concat_list(ANSWERS).list.eval(pl.element().filter(pl.element() != ""))
    twice = frame.filter(answers.list.len() != answers.list.n_unique())
    others += _cells("an answer given twice", "kept", twice, "answer_0")
    unread = frame.filter(~pl.col("next_review").is_in(REVIEW_CLASSES) & _review_date().is_null())
    return (
        excel + others + _cells("a review date that cannot be read", "kept", unread, "next_review")
    )


def _mojibake(frame: pl.DataFrame) -> list[Finding]:
    """Text that was decoded with the wrong encoding somewhere on its way."""
    columns = ("question", *ANSWERS)
    texts = frame.select("file_row", *columns).unpivot(index="file_row", variable_name="column")
    foreign = texts.filter(pl.col("value").str.contains(r"[^\x00-\x7f]"))
    return [
        Finding("text in the wrong encoding", "damaged", row, column, text)
        for row, column, text in foreign.iter_rows()
        if _is_mojibake(text)
    ]


def _is_mojibake(text: str) -> bool:
    if re.search(LATIN_BESIDE_HAN, text):
        return True
    for encoding in ("gb18030", "cp1252"):
        try:
            text.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        return True
    return False


def _cells(kind: str, action: str, rows: pl.DataFrame, column: str) -> list[Finding]:
    found = rows.select("file_row", column).iter_rows()
    return [Finding(kind, action, row, column, text) for row, text in found]


def _review_date() -> pl.Expr:
    padded = pl.col("next_review").str.replace(r"^(\d)/", "0$1/").str.replace(r"/(\d)/", "/0$1/")
    return padded.str.to_date("%m/%d/%Y", strict=False)


def _questions(frame: pl.DataFrame) -> pl.DataFrame:
    """The content columns of freshqa.questions, ordered by id."""
    lines = pl.col("source").str.split("\n").list.eval(pl.element().str.strip_chars())
    return frame.select(
        pl.col("id").cast(pl.Int32),
        "split",
        "question",
        pl.col("question")
        .map_elements(question_hash, return_dtype=pl.String)
        .alias("question_hash"),
        "effective_year",
        "next_review",
        _review_date().alias("review_date"),
        pl.col("false_premise") == "TRUE",
        "num_hops",
        "fact_type",
        lines.list.eval(pl.element().filter((pl.element() != "") & (pl.element() != "N/A"))).alias(
            "sources"
        ),
        pl.concat_list(ANSWERS).list.eval(pl.element().filter(pl.element() != "")).alias("answers"),
        pl.when(pl.col("note") != "").then("note").alias("note"),
    ).sort("id")


def _row_hash(questions: pl.DataFrame) -> str:
    return sha256(questions.write_ndjson().encode())
