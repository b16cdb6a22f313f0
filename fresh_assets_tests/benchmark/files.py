"""Version files written for the tests, clean unless a test dirties them."""

import csv
import io
from collections.abc import Sequence

from fresh_assets.benchmark.version_file import COLUMNS

WARNING = "Warning: Please do not train on this"


class Row(dict[str, str]):
    """Cells by column, and the place of the row in its file."""

    at: int


def row(number: int, **cells: str) -> Row:
    base = {
        "id": str(number),
        "split": "TEST",
        "question": f"What is the name of thing number {number}?",
        "effective_year": "before 2022",
        "next_review": "N/A",
        "false_premise": "FALSE",
        "num_hops": "one-hop",
        "fact_type": "never-changing",
        "source": "https://example.org/thing",
        "answer_0": f"Thing {number}",
    }
    made = Row({**dict.fromkeys(COLUMNS, ""), **base, **cells})
    made.at = number
    return made


def rows(*special: Row, number: int = 6) -> list[Row]:
    special_at = {r.at: r for r in special}
    return [special_at.get(i, row(i)) for i in range(number)]


def as_csv(
    data: Sequence[Row],
    *,
    columns: Sequence[str] = COLUMNS,
    warning: bool = True,
    line_end: str = "\n",
    encoding: str = "utf-8",
) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=line_end)
    if warning:
        writer.writerows([[WARNING] + [""] * (len(columns) - 1), [""] * len(columns)])
    writer.writerow(columns)
    writer.writerows([[r.get(c, "") for c in columns] for r in data])
    return text.getvalue().encode(encoding)
