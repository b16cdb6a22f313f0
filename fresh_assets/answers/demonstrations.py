"""Worked examples for prompts: dated, rendered for a day, and due for review like any question."""

import importlib.resources
import re
import tomllib
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

from dateutil.relativedelta import relativedelta

from fresh_assets.answers.evidence import Piece


@dataclass(frozen=True)
class Demonstration:
    """A question with its evidence and a good answer. `review`: None if it cannot change."""

    question: str
    answer: str
    reasoning: str
    evidence: tuple[Piece, ...]
    checked: date
    review: date | None

    def rendered(self, text: str, today: date) -> str:
        """`text` with its `{years_since:DATE}` filled in for `today`."""
        return re.sub(
            r"\{years_since:(\d{4}-\d\d-\d\d)\}",
            lambda match: str(relativedelta(today, date.fromisoformat(match[1])).years),
            text,
        )


@cache
def demonstrations() -> tuple[Demonstration, ...]:
    """All demonstrations, in the order in which prompts take them."""
    text = (importlib.resources.files(__package__) / "demonstrations.toml").read_text(
        encoding="utf-8"
    )
    return tuple(_demonstration(row) for row in tomllib.loads(text)["demonstration"])


def overdue(today: date) -> list[Demonstration]:
    """Demonstrations whose answer should have been looked at again by `today`."""
    return [d for d in demonstrations() if d.review and d.review < today]


def _demonstration(row: dict[str, Any]) -> Demonstration:
    return Demonstration(
        row["question"],
        row["answer"],
        row["reasoning"],
        tuple(Piece.of_demonstration(**piece) for piece in row["evidence"]),
        row["checked"],
        None if row["review"] == "never" else date.fromisoformat(row["review"]),
    )
