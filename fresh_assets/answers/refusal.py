"""Which responses decline to answer, and by which rule."""

import re

RULES = {
    "does not know": r"\bi (do not|don't|cannot|can't|am unable to|'m unable to|am not able to) "
    r"(\w+ ){0,3}(know|have|provide|find|answer|determine|confirm|access|browse|verify)",
    "is not sure": r"\b(i am|i'm) not (sure|certain|aware)",
    "speaks of itself as an AI": r"\bas an? (ai|artificial intelligence|language model)\b",
    "unable to answer": r"\bunable to (answer|provide|determine|find)",
    "no information": r"\bno information (is )?(available|found|about)",
    "not enough evidence": r"\b(insufficient|not enough) (information|evidence)",
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in RULES.items()}
WITHIN = 200
"""A refusal stands at the beginning: within so many characters."""


def refusal(text: str) -> str | None:
    """Name of the rule by which the beginning of a response declines to answer; None if none."""
    return next((name for name, rule in _COMPILED.items() if rule.search(text[:WITHIN])), None)
