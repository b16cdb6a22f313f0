"""A request split into its clauses, one for each thing that is to be done."""

import re

_BREAKS = re.compile(
    r"[.;:!?\n,|]+|\s[-–—&>]+\s|\b(?:and then|and|then|after that|afterwards|finally|when|whenever|"
    r"if|otherwise|else|via|using|with|from|into|to)\b",
    re.IGNORECASE,
)
FEWEST_LETTERS = 4
MOST = 12


def clauses(text: str) -> list[str]:
    """At most MOST parts of `text` in their order; none if it cannot be split."""
    parts = (part.strip(" \"'()") for part in _BREAKS.split(text))
    found = list(dict.fromkeys(part for part in parts if len(part) >= FEWEST_LETTERS))
    return found[:MOST] if len(found) > 1 else []
