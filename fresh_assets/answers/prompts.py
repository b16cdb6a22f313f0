"""What is said to a model, method by method. What is constant comes first, for prefix caches.

The structure is that of FreshLLMs (arXiv 2310.03214); the words are this project's own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from fresh_assets.answers.demonstrations import Demonstration
from fresh_assets.answers.evidence import Piece

Messages = tuple[tuple[str, str], ...]

CONCISE = "Answer the last question. Be short and to the point; one sentence is enough."
LONG = "Answer the last question. Explain how you arrive at the answer, then state it."
PREMISE = "Before you answer, check whether the question assumes something untrue; if so, say so."
EVIDENCE = (
    "Each question comes with search results, oldest first as far as they are dated. Rely on them, "
    "and where they disagree on the newest that can be trusted."
)
SELF_ASK = (
    "If answering needs facts found one after another, ask for the next one on a line that begins "
    "with 'Follow up:' and write nothing after it; you will be given an intermediate answer. When "
    "you know enough, write a line that begins with 'So the final answer is:'."
)
DECOMPOSE = (
    "Write at most three short search queries, one a line and nothing else, that together find "
    "what is needed to answer the question."
)


@dataclass(frozen=True)
class Style:
    """How FreshPrompt words things: reasoning before the answer, a premise check, bare snippets."""

    long_answers: bool = False
    premise_check: bool = False
    snippets_only: bool = False


def closed_book(question: str, today: date, *, premise_check: bool = False) -> Messages:
    """The question alone."""
    return _messages(
        [CONCISE, *([PREMISE] if premise_check else [])], today, f"question: {question}\nanswer:"
    )


def few_shot(
    question: str, today: date, shown: Sequence[Demonstration], *, reasoning: bool = False
) -> Messages:
    """Demonstrations without evidence; with `reasoning` they think aloud (chain of thought)."""
    blocks = [f"question: {d.question}\nanswer: {_answer(d, today, long=reasoning)}" for d in shown]
    blocks.append(f"question: {question}\nanswer:")
    return _messages([LONG if reasoning else CONCISE], today, "\n\n".join(blocks))


def fresh_prompt(
    question: str,
    pieces: Sequence[Piece],
    today: date,
    shown: Sequence[Demonstration] = (),
    style: Style | None = None,
) -> Messages:
    """FreshPrompt: demonstrations with their evidence, then the question with its own."""
    style = style or Style()
    rules = [LONG if style.long_answers else CONCISE, EVIDENCE]
    rules += [PREMISE] if style.premise_check else []
    blocks = [
        _block(
            d.question,
            d.evidence,
            f"answer: {_answer(d, today, long=style.long_answers)}",
            style.snippets_only,
        )
        for d in shown
    ]
    blocks.append(_block(question, pieces, "answer:", style.snippets_only))
    return _messages(rules, today, "\n\n\n".join(blocks))


def self_ask(
    question: str, today: date, steps: Sequence[tuple[str, str]], shown: Iterable[tuple[str, str]]
) -> Messages:
    """Self-ask: `steps` are the follow-up questions so far with what was found."""
    blocks = [f"question: {asked}\n{worked}" for asked, worked in shown]
    so_far = "".join(
        f"Follow up: {asked}\nIntermediate answer: {found}\n" for asked, found in steps
    )
    blocks.append(f"question: {question}\n{so_far}")
    return _messages([CONCISE, SELF_ASK], today, "\n\n".join(blocks))


def decompose(question: str, today: date) -> Messages:
    """Ask for the search queries that a question needs."""
    return _messages([DECOMPOSE], today, f"question: {question}\nqueries:")


def _messages(rules: Sequence[str], today: date, prompt: str) -> Messages:
    dated = f"Today is {today:%B} {today.day}, {today.year}."
    return (("system", " ".join([*rules, dated])), ("user", prompt))


def _answer(shown: Demonstration, today: date, *, long: bool) -> str:
    text = f"{shown.reasoning} {shown.answer}" if long else shown.answer
    return shown.rendered(text, today)


def _block(question: str, pieces: Sequence[Piece], ending: str, snippets_only: bool) -> str:
    shown = [_piece(piece, snippets_only) for piece in pieces]
    return "\n\n".join([f"query: {question}", *shown, f"question: {question}\n{ending}"])


def _piece(piece: Piece, snippets_only: bool) -> str:
    if snippets_only:
        return f"snippet: {_line(piece.snippet or piece.highlight)}"
    fields = {
        "source": piece.source,
        "date": piece.shown_date,
        "title": piece.title,
        "snippet": piece.snippet,
        "highlight": piece.highlight,
    }
    return "\n".join(f"{name}: {_line(value)}" for name, value in fields.items())


def _line(value: str | None) -> str:
    return " ".join((value or "None").split())
