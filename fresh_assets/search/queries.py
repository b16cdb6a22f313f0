"""What is sent to an engine for a question."""

import re
from datetime import date
from typing import Literal

from bm25s.stopwords import STOPWORDS_EN

Variant = Literal["verbatim", "dated", "keywords", "decomposed"]
MOST_QUERIES = 4
_QUESTION_WORDS = {"who", "what", "when", "where", "which", "why", "how", "many", "much", "does"}
_COMMON = frozenset(STOPWORDS_EN) | _QUESTION_WORDS | {"did", "do", "has", "have", "had", "were"}
_NAME = re.compile(r"(?:[A-Z][\w'’.&-]*|\d{4})(?:\s+(?:of|the|de|and|[A-Z][\w'’.&-]*|\d+))*")


def queries_of(question: str, variant: Variant, as_of: date) -> list[str]:
    """Queries of a variant.

    `verbatim` is the paper's; `dated` adds month and year; `keywords` leaves out common words;
    `decomposed` asks the question, its keywords and the names in it, each as a query.
    """
    if variant == "dated":
        return [f"{question} ({as_of:%B %Y})"]
    if variant == "keywords":
        return [keywords(question)]
    if variant == "decomposed":
        names = [name for name in names_in(question) if name != keywords(question)]
        return list(dict.fromkeys([question, keywords(question), *names]))[:MOST_QUERIES]
    return [question]


def keywords(question: str) -> str:
    """The words of a question that are not common; the question itself if all are."""
    words = re.findall(r"[\w'’.&-]*\w", question)
    kept = [word for word in words if word.lower() not in _COMMON]
    return " ".join(kept) or question


def names_in(question: str) -> list[str]:
    """Capitalised phrases of a question but for the word that opens it."""
    first, _, rest = question.partition(" ")
    text = rest if first.lower().strip(",") in _COMMON else question
    found = (match[0].strip(" .") for match in _NAME.finditer(text))
    return [re.sub(r"(?:\s+(?:of|the|de|and))+$", "", name) for name in found]
