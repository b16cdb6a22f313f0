"""The lexical judge: FreshEval without a model. An offline stand-in, always labelled as such.

It compares normalised text, numbers and dates with the acceptable answers, wants a rebuttal where
the premise is false, and leaves unrated what it cannot decide. How far it agrees with model judges
is measured in docs/judging.md.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fresh_assets.answers import refusal as refusals
from fresh_assets.answers.refusal import refusal
from fresh_assets.judging import text as seen
from fresh_assets.warehouse.archive import sha256

NAME = "lexical"
MODES = ("relaxed", "strict")
HASH = sha256(b"".join(Path(f).read_bytes() for f in (__file__, seen.__file__, refusals.__file__)))[
    :16
]
"""Hash of the rules: a change of them makes every rating stale."""
MAX_NUMBERS = 4
"""A text with more different numbers than this does not commit itself to one of them."""
SAME_MEANING, RELATED = 0.75, 0.4
"""Share of a gold answer's content words in the response: enough; too little to exclude it."""
CLOSE = 0.02
"""A number this near to an acceptable one may be an approximation of it."""
LONG_ANSWER = 5
"""From so many content words a gold answer is a statement, not a name."""


@dataclass(frozen=True)
class Truth:
    """What a response is rated against."""

    question: str
    answers: Sequence[str]
    false_premise: bool

    @property
    def aliases(self) -> list[str]:
        """Acceptable answers, also without what they hold in brackets."""
        bare = (re.sub(r"\s*\([^)]*\)", "", answer).strip() for answer in self.answers)
        return list(dict.fromkeys([*self.answers, *(a for a in bare if a)]))


@dataclass(frozen=True)
class Rating:
    """`correct`, `incorrect` or `unrated`, and why."""

    rating: str
    comment: str


def rate(response: str, truth: Truth, mode: str) -> Rating:
    """Rate a response in `relaxed` or `strict` mode (FreshEval, arXiv 2310.03214)."""
    if not response.strip():
        return Rating("incorrect", "no response")
    rating = _rate_premise(response, truth) if truth.false_premise else _rate_fact(response, truth)
    return _stricter(rating, response, truth) if mode == "strict" else rating


def _rate_fact(response: str, truth: Truth) -> Rating:
    gold = _matched(response, truth.aliases)
    if gold:
        return _commitment(response, gold, truth.question)
    if refusal(response):
        return Rating("incorrect", "declines to answer")
    if seen.words(truth.answers[0]) in (["yes"], ["no"]):
        return _rate_yes_no(response, truth.answers[0])
    if seen.is_number(truth.aliases[-1]) or seen.is_date(truth.answers[0]):
        return _rate_quantity(response, truth.answers)
    overlap = _best_overlap(response, truth.aliases)
    if overlap >= SAME_MEANING:
        return Rating("correct", f"holds {overlap:.0%} of the words of an acceptable answer")
    if overlap >= RELATED:
        return Rating("unrated", f"holds only {overlap:.0%} of the words of an acceptable answer")
    return Rating("incorrect", "holds no acceptable answer")


def _commitment(response: str, gold: str, question: str) -> Rating:
    """A matched number counts only where the text commits itself to it."""
    if seen.is_number(gold):
        if len(seen.numbers(response)) > MAX_NUMBERS:
            return Rating("unrated", f"names {gold!r} among many numbers")
        if seen.numbers(gold) & seen.numbers(question):
            return Rating("unrated", f"names {gold!r}, which the question names too")
    return Rating("correct", f"holds {gold!r}")


def _rate_yes_no(response: str, gold: str) -> Rating:
    opposite = {"yes": "no", "no": "yes"}[gold.lower().strip(".")]
    if seen.words(response)[:1] == [opposite]:
        return Rating("incorrect", f"says {opposite}")
    return Rating("unrated", "says neither yes nor no")


def _rate_quantity(response: str, answers: Sequence[str]) -> Rating:
    named = seen.numbers(response)
    if not named:
        return Rating("unrated", "names no number")
    wanted = {n for a in answers if seen.is_number(a) for n in seen.numbers(a)}
    if any(w and abs(n - w) / abs(w) <= CLOSE for n in named for w in wanted):
        return Rating("unrated", f"names a number within {CLOSE:.0%} of an acceptable one")
    return Rating("incorrect", "holds no acceptable number or date")


def _rate_premise(response: str, truth: Truth) -> Rating:
    gold = next((a for a in truth.aliases if _holds_phrase(response, a)), None)
    if gold:
        return Rating("correct", f"holds {gold!r}")
    overlap = _best_overlap(response, truth.answers)
    if not seen.rebuts(response):
        if overlap >= SAME_MEANING:
            return Rating("unrated", f"holds {overlap:.0%} of a gold answer without a denial")
        return Rating("incorrect", "accepts the false premise")
    if overlap >= SAME_MEANING:
        return Rating(
            "correct", f"rebuts the premise with {overlap:.0%} of the words of a gold answer"
        )
    return Rating("unrated", f"may rebut the premise (holds {overlap:.0%} of a gold answer)")


def _stricter(rating: Rating, response: str, truth: Truth) -> Rating:
    """Strict mode wants a plain answer: what only may be right is not rated correct."""
    if rating.rating != "correct":
        return rating
    if seen.is_hedged(response):
        return Rating("incorrect", f"{rating.comment}, but doubts itself or its date")
    gold = _matched(response, truth.aliases)
    allowed = {n for text in (*truth.answers, truth.question) for n in seen.numbers(text)}
    if gold and seen.is_number(gold) and seen.numbers(response) - allowed:
        return Rating("unrated", f"{rating.comment}, beside other numbers")
    return rating


def _matched(response: str, aliases: Sequence[str]) -> str | None:
    return next((a for a in aliases if _matches(response, a)), None)


def _matches(response: str, gold: str) -> bool:
    if seen.is_number(gold):
        return bool(seen.numbers(gold) & seen.numbers(response)) and _same_unit(response, gold)
    if seen.is_date(gold):
        return bool(seen.dates(gold) & seen.dates(response)) or _holds_phrase(response, gold)
    return _holds_phrase(response, gold)


def _same_unit(response: str, gold: str) -> bool:
    return "%" not in gold or "%" in response or "percent" in response.lower()


def _holds_phrase(response: str, gold: str) -> bool:
    return seen.contains(seen.words(response), seen.words(gold))


def _best_overlap(response: str, answers: Sequence[str]) -> float:
    """Largest share of an answer's content words that the response holds.

    A short answer is a name: it must be whole, and its numbers must be there.
    """
    have, named = set(seen.words(response)), seen.numbers(response)
    shares = [0.0]
    for answer in answers:
        wanted = set(seen.content_words(answer))
        share = len(wanted & have) / len(wanted) if wanted else 0.0
        if len(wanted) < LONG_ANSWER and share < 1:
            share = 0.0 if seen.numbers(answer) - named else min(share, RELATED)
        shares.append(share)
    return max(shares)
