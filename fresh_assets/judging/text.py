"""What a lexical judge sees in a text: words, numbers, dates, doubts, rebuttals."""

import re
import unicodedata
from datetime import date

from fresh_assets.search.dates import MONTHS

_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "b": 1e9}
_SCALES |= {"trillion": 1e12}
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: value for value, word in enumerate(_UNITS)}
NUMBER_WORDS |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
NUMBER_WORDS |= {"once": 1, "twice": 2, "thrice": 3, "hundred": 100}
_NUMBER = re.compile(
    r"(?<![\w.])[$€£¥]?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:st|nd|rd|th)?(?!\d)"
    r"(?:\s*(thousand|million|billion|trillion|bn|[kmb])\b)?",
    re.IGNORECASE,
)
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATES = [
    re.compile(
        rf"\b(?P<month>{_MONTH})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\.?,?\s+(?P<year>\d{{4}})\b",
        re.IGNORECASE,
    ),
    re.compile(r"\b(?P<year>\d{4})[-/](?P<number>\d{1,2})[-/](?P<day>\d{1,2})\b"),
    re.compile(r"\b(?P<number>\d{1,2})[-/](?P<day>\d{1,2})[-/](?P<year>\d{4})\b"),
]
_HEDGE = re.compile(
    r"\b(as of my (last|latest|knowledge)|knowledge cutoff|may be outdated|might have changed"
    r"|i think|i believe|possibly|perhaps|probably|might be|not (entirely )?(sure|certain)"
    r"|it is likely)\b",
    re.IGNORECASE,
)
_REBUTTAL = re.compile(
    r"\b(no|not|never|none|nobody|neither|nor|cannot|without|false|incorrect|inaccurate|untrue|wrong|myth"
    r"|misconception|mistaken|fictional|hoax|unsolved|unidentified|unproven|unlikely|yet to|instead"
    r"|remains?|still)\b|n't\b|premise",
    re.IGNORECASE,
)
_STOP = frozenset(
    "a an the of in on at to for and or is are was were be been being has have had do does did it "
    "its this that these those as by with from i he she they we you his her their our your who "
    "whom which what when where how why there not no yes will would can could so if than then also "
    "about into over after before during per one any all some more most other such only own same "
    "too very".split()
)


def words(text: str) -> list[str]:
    """Lower-case words without accents and punctuation; numbers lose their thousands separators."""
    folded = unicodedata.normalize("NFKD", text.replace("’", "'").replace("&", " and "))
    plain = "".join(c for c in folded if not unicodedata.combining(c)).casefold()
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", plain).replace("'s ", " ").replace("'", "")
    return re.findall(r"\d+(?:\.\d+)?|[^\W\d_]+", plain)


def content_words(text: str) -> list[str]:
    """Words that carry meaning: stop words are left out."""
    return [word for word in words(text) if word not in _STOP]


def contains(text_words: list[str], phrase: list[str]) -> bool:
    """Whether the words of `phrase` stand together in the text."""
    joined = f" {' '.join(text_words)} "
    return bool(phrase) and f" {' '.join(phrase)} " in joined


def numbers(text: str) -> set[float]:
    """Numbers named in a text, in digits (scaled: 8.1 billion) or words up to ninety-nine."""
    found = {
        float(digits.replace(",", "")) * _SCALES.get(scale.lower(), 1)
        for digits, scale in _NUMBER.findall(text)
    }
    tokens = words(text)
    for i, token in enumerate(tokens):
        if token in NUMBER_WORDS:
            following = tokens[i + 1] if i + 1 < len(tokens) else ""
            tens = token in _TENS and 0 < NUMBER_WORDS.get(following, 0) < 10
            found.add(float(NUMBER_WORDS[token] + (NUMBER_WORDS[following] if tens else 0)))
    return found


def dates(text: str) -> set[date]:
    """Full dates named in a text, in common spellings (month before day where both are digits)."""
    found = set()
    for pattern in _DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            month = int(parts["number"]) if parts.get("number") else MONTHS[parts["month"].lower()]
            try:
                found.add(date(int(parts["year"]), month, int(parts["day"])))
            except ValueError:
                continue
    return found


def is_number(text: str) -> bool:
    """Whether the whole text is one number, with currency, scale or percent."""
    rest = _NUMBER.sub(" ", text)
    remaining = [w for w in words(rest) if w not in {"percent", "about", "approximately", "around"}]
    return len(numbers(text)) == 1 and all(w in NUMBER_WORDS for w in remaining)


def is_date(text: str) -> bool:
    """Whether the whole text is one date."""
    return bool(dates(text)) and len(words(text)) <= 4


def is_hedged(text: str) -> bool:
    """Whether the text doubts itself or says that it may be outdated."""
    return bool(_HEDGE.search(text))


def rebuts(text: str) -> bool:
    """Whether the text denies or corrects something."""
    return bool(_REBUTTAL.search(text))
