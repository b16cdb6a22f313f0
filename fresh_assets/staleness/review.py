"""Review of the queue: what a person sees, what is decided, and the patch for upstream."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import duckdb
import polars as pl

from fresh_assets.benchmark.version_file import ANSWERS, COLUMNS
from fresh_assets.errors import UserError

TABLE = "freshqa.decisions"
DECISIONS = ("keep", "correct", "reword", "retire")
SHOWN_EVIDENCE = 5


@dataclass(frozen=True)
class Case:
    """A question of the queue as the reviewer sees it; `evidence`: (date, text, url), newest
    first."""

    place: int
    question_key: str
    question: str
    answers: tuple[str, ...]
    risk: float | None
    reasons: tuple[str, ...]
    proposed_answer: str | None
    evidence: tuple[tuple[date | None, str, str | None], ...]


@dataclass(frozen=True)
class Decision:
    """What a reviewer decided. `answers` are needed to correct, `question` to reword."""

    question_key: str
    decision: str
    reason: str
    reviewer: str
    source: str | None = None
    answers: tuple[str, ...] = ()
    question: str | None = None


def open_cases(con: duckdb.DuckDBPyConnection, week: date, most: int) -> list[Case]:
    """The first `most` questions of the week's queue that were not reviewed for this week."""
    rows = con.execute(
        """
        SELECT place, question_key, t.question, t.answers, risk, reasons, proposed_answer
        FROM mart.stale_answers AS q JOIN freshqa.ground_truth AS t USING (week, question_key)
        WHERE week = $week AND NOT EXISTS (
            FROM freshqa.decisions AS d WHERE d.week = $week AND d.question_key = q.question_key
        )
        ORDER BY place LIMIT $most
        """,
        {"week": week, "most": most},
    ).fetchall()
    return [
        Case(
            place, key, question, tuple(answers), risk, tuple(why), proposed,
            tuple(_evidence(con, week, key)),
        )
        for place, key, question, answers, risk, why, proposed in rows
    ]  # fmt: skip


def _evidence(con: duckdb.DuckDBPyConnection, week: date, question_key: str) -> list[Any]:
    return con.execute(
        """
        SELECT date, concat_ws(': ', title, coalesce(highlight, snippet)), url
        FROM search.evidence WHERE week = ? AND question_key = ?
        ORDER BY date DESC NULLS LAST, rank LIMIT ?
        """,
        [week, question_key, SHOWN_EVIDENCE],
    ).fetchall()


def decide(con: duckdb.DuckDBPyConnection, week: date, made: Decision) -> pl.DataFrame:
    """All rows of freshqa.decisions with this one; UserError if it does not hold together."""
    row = con.execute(
        """
        SELECT t.question, t.answers, q.question, q.answers
        FROM freshqa.ground_truth AS t
        JOIN freshqa.current_questions AS q USING (version, question_key)
        WHERE week = ? AND question_key = ?
        """,
        [week, made.question_key],
    ).fetchone()
    if row is None:
        raise UserError(f"no question {made.question_key!r} in week {week}")
    question, answers, upstream_question, upstream_answers = row
    _check(made, question, answers)
    earlier = con.sql(f"SELECT * FROM {TABLE}").pl()
    new = {
        "sequence": len(earlier) + 1, "question_key": made.question_key, "week": week,
        "decision": made.decision, "question": made.question or question,
        "answers": list(made.answers) or answers, "reviewed_question": upstream_question,
        "reviewed_answers": upstream_answers, "reason": made.reason, "source": made.source,
        "reviewer": made.reviewer, "decided_at": datetime.now(UTC).replace(tzinfo=None),
    }  # fmt: skip
    return pl.concat([earlier, pl.DataFrame([new], schema=earlier.schema)])


def _check(made: Decision, question: str, answers: list[str]) -> None:
    if made.decision not in DECISIONS:
        raise UserError(f"decision {made.decision!r}: use {', '.join(DECISIONS)}")
    if not (made.reason.strip() and made.reviewer.strip()):
        raise UserError("a decision needs a reason and a reviewer")
    if bool(made.answers) != (made.decision == "correct"):
        raise UserError("answers go with `correct`, and only with it")
    if bool(made.question) != (made.decision == "reword"):
        raise UserError("a wording goes with `reword`, and only with it")
    if made.decision == "correct":
        if not made.source:
            raise UserError("a correction needs a source: the address of a page that says so")
        if list(made.answers) == answers:
            raise UserError("these are the answers it has; use `keep`")
        if not 1 <= len(made.answers) <= len(ANSWERS) or not all(a.strip() for a in made.answers):
            raise UserError(f"give 1 to {len(ANSWERS)} answers, none of them empty")
    if made.question is not None and made.question.strip() in {"", question}:
        raise UserError("give another wording")


def corrections_csv(con: duckdb.DuckDBPyConnection, week: date, *, whole: bool) -> tuple[str, int]:
    """(CSV text in the upstream layout, number of rows) of the decisions in force in `week`.

    Only the rows that differ from upstream, retired ones with a note that says so; or, if `whole`,
    the complete version as it should be, with row numbers of its own.
    """
    rows = con.execute(
        """
        WITH week AS (SELECT any_value(version) AS version FROM freshqa.ground_truth
            WHERE week = $week)
        SELECT q.*, t.question AS new_question, t.answers AS new_answers,
            d.decision AS decided, d.reason, d.source AS proof, d.reviewer
        FROM freshqa.current_questions AS q
        LEFT JOIN freshqa.ground_truth AS t ON t.week = $week AND t.question_key = q.question_key
        LEFT JOIN (
            FROM freshqa.decisions WHERE week <= $week
            QUALIFY sequence = max(sequence) OVER (PARTITION BY question_key)
        ) AS d ON d.question_key = q.question_key AND d.reviewed_question = q.question
            AND d.reviewed_answers = q.answers
        WHERE q.version = (SELECT version FROM week)
        ORDER BY q.id
        """,
        {"week": week},
    ).pl()
    if rows.is_empty():
        raise UserError(f"week {week} has no ground truth: `fresh-assets refresh` first")
    every = list(rows.iter_rows(named=True))
    if whole:
        kept = [row for row in every if row["decided"] != "retire"]
        written = [_upstream_row({**row, "id": number}) for number, row in enumerate(kept)]
    else:
        written = [_upstream_row(row) for row in every if _differs(row)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([COLUMNS, *written])
    return text.getvalue(), len(written)


def _differs(row: dict[str, Any]) -> bool:
    kept = (row["new_question"], row["new_answers"]) == (row["question"], row["answers"])
    return row["decided"] is not None and not kept


def _upstream_row(row: dict[str, Any]) -> Iterator[str]:
    answers = row["new_answers"] or row["answers"]
    cells = {
        **row,
        "question": row["new_question"] or row["question"],
        "false_premise": str(row["false_premise"]).upper(),
        "source": "\n".join(filter(None, [row["proof"], *row["sources"]])),
        "note": _note(row),
        **dict(zip(ANSWERS, answers, strict=False)),
    }
    return (str(cells.get(name) or "") if name != "id" else str(row["id"]) for name in COLUMNS)


def _note(row: dict[str, Any]) -> str:
    if not _differs(row):
        return row["note"] or ""
    made = f"{row['decided']} ({row['reviewer']}): {row['reason']}"
    return "; ".join(filter(None, [made, row["note"]]))
