"""Identity of a question over versions: exact normalised text first, then rewording.

Upstream `id` is a row number and moves. Keys are given in order of import and never change by a
later import, except where a version holds two wordings that were taken for one question.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

import polars as pl
from rapidfuzz import fuzz, process

REWORDING_SCORE = 68.0
"""Least similarity (rapidfuzz ratio of normalised texts, 0 to 100) of a rewording."""
_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})

LINK_SCHEMA = {
    "question_hash": pl.String,
    "question_key": pl.String,
    "question": pl.String,
    "split": pl.String,
    "method": pl.String,
    "score": pl.Float64,
    "linked_from": pl.String,
    "first_version": pl.Date,
}


@dataclass(frozen=True)
class Wording:
    """A question as one revision words it."""

    question_hash: str
    question: str
    split: str
    false_premise: bool


@dataclass(frozen=True)
class Revision:
    """The wordings of one revision, by question hash; `sequence` is its place in the imports."""

    sequence: int
    version: date
    wordings: dict[str, Wording]


@dataclass
class _Known:
    """What the revisions read so far established.

    `appearances`: in which revisions, read or not, a wording appears. `revisions_of_key`: the
    union of them over the wordings of a key.
    """

    appearances: dict[str, set[int]]
    keys: dict[str, str] = field(default_factory=dict)
    links: list[dict[str, object]] = field(default_factory=list)
    current: dict[date, Revision] = field(default_factory=dict)
    revisions_of_key: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def add(self, wording: Wording, version: date, score: float | None, old: str | None) -> None:
        key = self.keys[old] if old else wording.question_hash
        self.keys[wording.question_hash] = key
        self.revisions_of_key[key] |= self.appearances[wording.question_hash]
        self.links.append(
            {
                "question_hash": wording.question_hash,
                "question_key": key,
                "question": wording.question,
                "split": wording.split,
                "method": "reworded" if old else "new",
                "score": score,
                "linked_from": old,
                "first_version": version,
            }
        )


def normalise(text: str) -> str:
    """Text as identity sees it: case, quotes, dashes, spaces and final punctuation do not count."""
    folded = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return re.sub(r"\s+", " ", folded).strip().rstrip("?.! ")


def question_hash(text: str) -> str:
    """Hash of the normalised question text (16 hex digits)."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()[:16]


def link_questions(rows: pl.DataFrame) -> pl.DataFrame:
    """Give every wording its question key.

    `rows`: sequence, version, question_hash, question, split, false_premise of all revisions.
    Returns one row a wording with the content columns of freshqa.question_links.
    """
    revisions = _revisions(rows)
    appearances: dict[str, set[int]] = defaultdict(set)
    for revision in revisions:
        for hash_ in revision.wordings:
            appearances[hash_].add(revision.sequence)
    known = _Known(appearances)
    for revision in revisions:
        _link(revision, known)
    return pl.DataFrame(known.links, schema=LINK_SCHEMA)


def _revisions(rows: pl.DataFrame) -> list[Revision]:
    columns = ["question_hash", "question", "split", "false_premise"]
    return [
        Revision(
            group["sequence"][0],
            group["version"][0],
            {row[0]: Wording(*row) for row in group.select(columns).iter_rows()},
        )
        for _, group in rows.sort("sequence").group_by("sequence", maintain_order=True)
    ]


def _link(revision: Revision, known: _Known) -> None:
    new = [w for hash_, w in revision.wordings.items() if hash_ not in known.keys]
    gone = {
        hash_: wording
        for neighbour in _neighbours(revision.version, known)
        for hash_, wording in neighbour.wordings.items()
        if hash_ not in revision.wordings
    }
    matches = _match(new, list(gone.values()), known)
    for wording in new:
        score, old = matches.get(wording.question_hash, (None, None))
        known.add(wording, revision.version, score, old)
    known.current[revision.version] = revision


def _neighbours(version: date, known: _Known) -> Iterable[Revision]:
    """The same version's earlier revision, and the nearest versions before and after it."""
    before = max((v for v in known.current if v < version), default=None)
    after = min((v for v in known.current if v > version), default=None)
    return [known.current[v] for v in (version, before, after) if v in known.current]


def _match(new: list[Wording], gone: list[Wording], known: _Known) -> dict[str, tuple[float, str]]:
    """Best one-to-one pairs of new and vanished wordings of the same split and premise."""
    scores = process.cdist(
        [normalise(w.question) for w in new],
        [normalise(w.question) for w in gone],
        scorer=fuzz.ratio,
        score_cutoff=REWORDING_SCORE,
    )
    pairs = sorted(
        ((float(scores[i, j]), i, j) for i, j in zip(*scores.nonzero(), strict=True)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    matches: dict[str, tuple[float, str]] = {}
    taken: set[str] = set()
    for score, i, j in pairs:
        fresh, old = new[i], gone[j]
        key = known.keys[old.question_hash]
        same_block = (fresh.split, fresh.false_premise) == (old.split, old.false_premise)
        coexist = known.appearances[fresh.question_hash] & known.revisions_of_key[key]
        if same_block and not coexist and fresh.question_hash not in matches and key not in taken:
            matches[fresh.question_hash] = (score, old.question_hash)
            taken.add(key)
    return matches
