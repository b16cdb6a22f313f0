"""Evidence for a prompt: which pieces, in which order, and what is cut (FreshPrompt)."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Self

import pydantic

BOXES = ("answer_box", "knowledge_graph", "sports_results", "ai_overview")
RESULTS = ("organic", "top_story")
BEYOND_UPSTREAM = {"sports_results", "top_story", "ai_overview"}
"""Sections that the notebook does not read."""


@dataclass(frozen=True)
class Piece:
    """A piece of evidence as a prompt shows it; `rank` is that of search.evidence."""

    kind: str
    rank: int
    source: str | None
    day: date | None
    date_text: str | None
    title: str | None
    snippet: str | None
    highlight: str | None
    url: str | None = None
    precision: str | None = "day"

    @classmethod
    def of_demonstration(
        cls, source: str, date: str, title: str, snippet: str, highlight: str
    ) -> Self:
        """A piece as demonstrations write it."""
        day = datetime.strptime(date, "%b %d, %Y").date()  # noqa: DTZ007
        return cls("organic", 0, source, day, date, title, snippet, highlight)

    @property
    def shown_date(self) -> str | None:
        """The day in one form, or the date as the engine wrote it where no day is known."""
        if self.day and self.precision == "day":
            return f"{self.day:%b} {self.day.day}, {self.day.year}"
        return self.date_text


class EvidenceOptions(pydantic.BaseModel):
    """Which evidence goes into a prompt; the ablations of FreshLLMs (arXiv 2310.03214) are values.

    `upstream_compatible`: undated pieces first and cut first, boxes too, as the notebook has it.
    Otherwise boxes, being the most trusted, stand next to the question whatever their date.
    `organic` counts top stories too, after the organic results. `ai_overview`: an overview is what
    another model says, so it is left out unless asked for.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    organic: int = pydantic.Field(15, ge=0)
    related: int = pydantic.Field(3, ge=0)
    questions_and_answers: int = pydantic.Field(3, ge=0)
    kept: int = pydantic.Field(15, ge=0)
    order: Literal["time", "search", "random"] = "time"
    seed: int = 0
    answer_box: bool = True
    ai_overview: bool = False
    snippets_only: bool = False
    upstream_compatible: bool = False


def choose(pieces: Sequence[Piece], options: EvidenceOptions) -> list[Piece]:
    """The pieces for a prompt, the most useful last, next to the question."""
    left_out = BEYOND_UPSTREAM if options.upstream_compatible else set()
    if not options.ai_overview:
        left_out = left_out | {"ai_overview"}
    pieces = [p for p in pieces if p.kind not in left_out]
    taken = [
        *_first(pieces, ("question_and_answer",), options.questions_and_answers),
        *_first(pieces, ("related_question",), options.related),
        *_first(pieces, RESULTS, options.organic),
    ]
    trusted_last = sorted(taken, key=lambda p: (_trust(p), -p.rank))
    boxes = [p for p in pieces if p.kind in BOXES][::-1] if options.answer_box else []
    if options.order == "random":
        shuffled = [*trusted_last, *boxes]
        random.Random(f"{options.seed}|{[p.rank for p in pieces]}").shuffle(shuffled)  # noqa: S311
        return shuffled[-options.kept :] if options.kept else []
    if options.order == "search":
        ordered = [*trusted_last, *boxes]
    elif options.upstream_compatible:
        ordered = _by_date([*trusted_last, *boxes])
    else:
        ordered = [*_by_date(trusted_last), *boxes]
    return ordered[-options.kept :] if options.kept else []


def _first(pieces: Sequence[Piece], kinds: tuple[str, ...], number: int) -> list[Piece]:
    return [p for p in pieces if p.kind in kinds][:number]


def _trust(piece: Piece) -> int:
    return ("question_and_answer", "related_question", *RESULTS[::-1]).index(piece.kind)


def _by_date(pieces: Sequence[Piece]) -> list[Piece]:
    """Oldest first, undated before all; equal days keep their order."""
    return sorted(pieces, key=lambda p: p.day or date.min)
