"""Ask a model every question by a method. Every question gets an answer with its state."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

import polars as pl

from fresh_assets.answers.demonstrations import demonstrations
from fresh_assets.answers.evidence import Piece, choose
from fresh_assets.answers.prompts import (
    Messages,
    Style,
    closed_book,
    decompose,
    few_shot,
    fresh_prompt,
    self_ask,
)
from fresh_assets.answers.refusal import refusal
from fresh_assets.answers.systems import Asking, ClosedBook, FewShot, FreshPrompt, SelfAsk
from fresh_assets.llm.pool import Pool, stream
from fresh_assets.llm.prices import CHARS_PER_TOKEN
from fresh_assets.llm.request import Outcome, Parameters, Request, Usage

ANSWER_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "question_key": pl.String,
    "state": pl.String,
    "answer": pl.String,
    "reason": pl.String,
    "engine": pl.String,
    "evidence_ranks": pl.List(pl.Int32),
    "evidence_dropped": pl.Int32,
    "follow_ups": pl.List(pl.String),
    "model": pl.String,
    "prompt_hash": pl.String,
    "finish_reason": pl.String,
    "input_tokens": pl.Int64,
    "cached_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "cost": pl.Float64,
    "seconds": pl.Float64,
    "tries": pl.Int32,
    "from_cache": pl.Boolean,
    "citations": pl.List(pl.String),
}
WORKED_FOLLOW_UPS = (
    (
        "Who was the head of state of France when the Eiffel Tower was opened?",
        "Follow up: When was the Eiffel Tower opened?\n"
        "Intermediate answer: It was opened on March 31, 1889.\n"
        "Follow up: Who was the head of state of France on March 31, 1889?\n"
        "Intermediate answer: Sadi Carnot was President of France from 1887 to 1894.\n"
        "So the final answer is: Sadi Carnot.",
    ),
)
MAX_SUB_QUERIES = 3
Searcher = Callable[[str, "Asked"], Awaitable[Sequence[Piece]]]
"""Finds evidence for a follow-up question or sub-query of a question."""


async def no_search(_query: str, _asked: "Asked") -> Sequence[Piece]:
    """The searcher of an asker that only makes prompts."""
    return ()


@dataclass(frozen=True)
class Asked:
    """A question with the evidence of its week."""

    key: str
    question: str
    pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Response:
    """What a method got for one question."""

    asked: Asked
    outcome: Outcome
    used: tuple[Piece, ...] = ()
    dropped: int = 0
    follow_ups: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Asker:
    """One system over a pool, on a day. `endpoint` is the name that the pool knows it by."""

    def __init__(
        self, system: Asking, endpoint: str, pool: Pool | None, today: date, searcher: Searcher
    ) -> None:
        self.system = system
        self.endpoint = endpoint
        self._pool = pool
        self.today = today
        self.searcher = searcher

    async def ask_all(self, questions: Sequence[Asked], at_once: int) -> AsyncIterator[Response]:
        """Responses as they come."""
        async for response in stream(questions, self.ask, at_once):
            yield response

    async def ask(self, asked: Asked) -> Response:
        """Ask one question."""
        match self.system:
            case SelfAsk():
                return await self._self_ask(asked, self.system)
            case FreshPrompt(method="decomposed"):
                return await self._decomposed(asked)
            case _:
                messages, used, dropped = self.prompt(asked)
                outcome = await self._complete(messages)
                return Response(asked, outcome, tuple(used), dropped, usage=outcome.usage)

    def prompt(self, asked: Asked) -> tuple[Messages, Sequence[Piece], int]:
        """Messages of the only or first step, the evidence in them, how much did not fit."""
        system, today = self.system, self.today
        if isinstance(system, ClosedBook):
            return closed_book(asked.question, today, premise_check=system.premise_check), (), 0
        if isinstance(system, FewShot):
            shown = demonstrations()[: system.demonstrations]
            thinks = system.method == "chain_of_thought"
            return few_shot(asked.question, today, shown, reasoning=thinks), (), 0
        if isinstance(system, FreshPrompt):
            return self._fresh_prompt(asked, system)
        if isinstance(system, SelfAsk):
            return self_ask(asked.question, today, (), WORKED_FOLLOW_UPS), (), 0
        raise TypeError(f"{system.method} asks no model")

    def _fresh_prompt(
        self, asked: Asked, system: FreshPrompt
    ) -> tuple[Messages, Sequence[Piece], int]:
        """The prompt; the least useful evidence is dropped until it fits the model."""
        chosen = choose(asked.pieces, system.evidence)
        shown = [
            replace(d, evidence=tuple(choose(d.evidence, system.evidence)))
            for d in demonstrations()[: system.demonstrations]
        ]
        style = Style(system.long_answers, system.premise_check, system.evidence.snippets_only)
        for dropped in range(len(chosen) + 1):
            kept = chosen[dropped:]
            messages = fresh_prompt(asked.question, kept, self.today, shown, style)
            if system.prompt_tokens is None or _tokens(messages) <= system.prompt_tokens:
                break
        return messages, kept, dropped

    async def _decomposed(self, asked: Asked) -> Response:
        planned = await self._complete(decompose(asked.question, self.today))
        queries = _lines(planned.text)[:MAX_SUB_QUERIES] if planned.state == "ok" else []
        found = [piece for query in queries for piece in await self.searcher(query, asked)]
        merged = _without_repeats([*asked.pieces, *found])
        messages, used, dropped = self.prompt(replace(asked, pieces=tuple(merged)))
        outcome = await self._complete(messages)
        usage = planned.usage + outcome.usage
        return Response(asked, outcome, tuple(used), dropped, tuple(queries), usage)

    async def _self_ask(self, asked: Asked, system: SelfAsk) -> Response:
        steps: list[tuple[str, str]] = []
        used: list[Piece] = []
        usage = Usage()
        while True:
            outcome = await self._complete(
                self_ask(asked.question, self.today, steps, WORKED_FOLLOW_UPS)
            )
            usage += outcome.usage
            asks = re.search(r"^\s*follow up:\s*(.+)$", outcome.text, re.IGNORECASE | re.MULTILINE)
            final = re.search(r"final answer is:?\s*(.+)", outcome.text, re.IGNORECASE)
            if outcome.state != "ok" or not asks or final or len(steps) >= system.follow_ups:
                break
            pieces = (await self.searcher(asks[1], asked))[:1]
            used += pieces
            steps.append((asks[1], _told(pieces)))
        if final:
            outcome = replace(outcome, text=final[1].strip())
        return Response(asked, outcome, tuple(used), 0, tuple(q for q, _ in steps), usage)

    async def _complete(self, messages: Messages) -> Outcome:
        if self._pool is None:
            raise RuntimeError("an asker without a pool only makes prompts")
        return await self._pool.complete(self.request(messages))

    def request(self, messages: Messages) -> Request:
        """The request that the system would send."""
        system = self.system
        parameters = Parameters(
            temperature=None if system.reasoning else system.temperature,
            max_tokens=system.max_tokens,
            limit_name="max_completion_tokens" if system.reasoning else "max_tokens",
            seed=system.seed,
        )
        return Request(self.endpoint, system.model, messages, parameters, system.repeat)


def as_row(response: Response, engine: str | None) -> dict[str, object]:
    """Content of a row of eval.answers, without version, method and system hash."""
    outcome = response.outcome
    state, answer, reason = _state(outcome)
    return {
        "question_key": response.asked.key,
        "state": state,
        "answer": answer,
        "reason": reason,
        "engine": engine if response.used else None,
        "evidence_ranks": [p.rank for p in response.used if p.rank >= 0],
        "evidence_dropped": response.dropped,
        "follow_ups": list(response.follow_ups),
        "model": outcome.model,
        "prompt_hash": outcome.request.key[:16],
        "finish_reason": outcome.finish_reason,
        "input_tokens": response.usage.input,
        "cached_tokens": response.usage.cached,
        "output_tokens": response.usage.output,
        "cost": outcome.cost,
        "seconds": outcome.seconds,
        "tries": outcome.tries,
        "from_cache": outcome.from_cache,
        "citations": list(outcome.citations),
    }


def deferred_row(key: str, reason: str) -> dict[str, object]:
    """Row of a question that was not asked."""
    return {"question_key": key, "state": "deferred", "reason": reason, "evidence_ranks": []}


def pieces_of(rows: Sequence[Mapping[str, object]]) -> tuple[Piece, ...]:
    """Pieces from rows of search.evidence of one question."""
    return tuple(
        Piece(
            str(r["kind"]), int(str(r["rank"])), _text(r["source"]), r["date"],  # type: ignore[arg-type]
            _text(r["date_text"]), _text(r["title"]), _text(r["snippet"]), _text(r["highlight"]),
            _text(r["url"]), _text(r["date_precision"]),
        )
        for r in rows
    )  # fmt: skip


def _state(outcome: Outcome) -> tuple[str, str | None, str | None]:
    if outcome.state == "ok":
        declined = refusal(outcome.text)
        return ("refused" if declined else "answered"), outcome.text.strip(), declined
    if outcome.state == "truncated":
        return "truncated", outcome.text.strip(), outcome.problem
    if outcome.state == "deferred":
        return "deferred", None, outcome.problem
    if outcome.state == "empty":
        return "empty", None, outcome.problem
    return "error", None, outcome.problem or outcome.state


def _tokens(messages: Messages) -> int:
    return int(sum(len(content) for _, content in messages) / CHARS_PER_TOKEN)


def _lines(text: str) -> list[str]:
    stripped = (re.sub(r"^[\s\d.)*-]+", "", line).strip() for line in text.splitlines())
    return [line for line in stripped if line]


def _without_repeats(pieces: Sequence[Piece]) -> list[Piece]:
    seen: set[tuple[str | None, str | None]] = set()
    unique = []
    for piece in pieces:
        if (piece.url, piece.snippet) not in seen:
            seen.add((piece.url, piece.snippet))
            unique.append(piece)
    return unique


def _told(pieces: Sequence[Piece]) -> str:
    return (
        next((p.highlight or p.snippet or p.title or "" for p in pieces), "")
        or "Nothing was found."
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
