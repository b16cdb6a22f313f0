"""What differs between two catalogs of a deployment."""

import re
from collections.abc import Iterator, Sequence

import polars as pl
from rapidfuzz import fuzz, process

from fresh_assets.errors import UserError

RENAMED = 85.0
"""Similarity (rapidfuzz ratio of texts) from which a vanished and a new entry are one."""
COMPARED = ("title", "description", "app")
CHANGE_SCHEMA = {
    "what": pl.String, "name": pl.String, "change": pl.String, "previous_name": pl.String,
    "score": pl.Float64,
}  # fmt: skip


def check_catalog(key: str) -> str:
    """Return `key` if it is a deployment and a date; UserError if not."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*-\d{4}-\d\d-\d\d", key):
        raise UserError(f"catalog {key!r}: write the deployment and the date, as in it-2026-01-05")
    return key


def previous_catalog(key: str, known: Sequence[str]) -> str | None:
    """The catalog of the same deployment dated next before `key`."""
    deployment = key[:-11]
    return max((k for k in known if k[:-11] == deployment and k < key), default=None)


def find_changes(what: str, before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Changes between two frames of entries: name, title, description, app and, of steps, kind."""
    old, new = _by_name(before), _by_name(after)
    gone, added = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    renamed = dict(_renamed(_texts(before, gone), _texts(after, added)))
    rows: list[tuple[str, str, str, str | None, float | None]] = []
    rows += [(what, to, "renamed", name, score) for name, (to, score) in renamed.items()]
    taken = {to for to, _ in renamed.values()}
    rows += [(what, name, "added", None, None) for name in added if name not in taken]
    rows += [(what, name, "removed", None, None) for name in gone if name not in renamed]
    kept = old.keys() & new.keys()
    rows += [(what, name, "text", None, None) for name in kept if old[name] != new[name]]
    return pl.DataFrame(rows, schema=CHANGE_SCHEMA, orient="row").sort("name")


def _by_name(entries: pl.DataFrame) -> dict[str, tuple[object, ...]]:
    compared = [*COMPARED, *(c for c in ("kind",) if c in entries.columns)]
    return {row[0]: row[1:] for row in entries.select("name", *compared).iter_rows()}


def _texts(entries: pl.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """What entries say, without their names, which is what a renamed one keeps."""
    said = pl.concat_str(COMPARED, separator=". ")
    return dict(entries.filter(pl.col("name").is_in(names)).select("name", said).iter_rows())


def _renamed(
    gone: dict[str, str], added: dict[str, str]
) -> Iterator[tuple[str, tuple[str, float]]]:
    """(vanished name, (new name, score)), the most alike first, one to one."""
    if not gone or not added:
        return
    scores = process.cdist(
        list(gone.values()), list(added.values()), scorer=fuzz.ratio, score_cutoff=RENAMED
    )
    places = zip(*scores.nonzero(), strict=True)
    pairs = sorted(((float(scores[i, j]), int(i), int(j)) for i, j in places), reverse=True)
    old, new = list(gone), list(added)
    seen: set[str] = set()
    for score, i, j in pairs:
        if old[i] not in seen and f"new {new[j]}" not in seen:
            seen |= {old[i], f"new {new[j]}"}
            yield old[i], (new[j], score)
