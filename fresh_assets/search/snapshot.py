"""The weekly snapshot: search what is missing, import what was saved, parse the archive."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import date

import duckdb
import polars as pl

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search.corpus import CorpusEngine, read_corpus
from fresh_assets.search.dates import parse_date
from fresh_assets.search.engine import Engine, Evidence
from fresh_assets.search.recorded import RecordedEngine, RecordedSearch, read_recorded
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive

FREE_SEARCHES_AT_ONCE = 500
"""Searches of a local engine that are archived together; they cost nothing to repeat."""
EVIDENCE_SCHEMA = {
    "week": pl.Date,
    "engine": pl.String,
    "question_key": pl.String,
    "rank": pl.Int32,
    "kind": pl.String,
    "source": pl.String,
    "date": pl.Date,
    "date_precision": pl.String,
    "date_text": pl.String,
    "title": pl.String,
    "snippet": pl.String,
    "highlight": pl.String,
    "url": pl.String,
}


def make_engine(name: str, settings: Settings) -> Engine:
    """Build the engine called `name`."""
    if name == "corpus":
        return CorpusEngine(read_corpus(settings.corpus_file), settings.evidence_per_question)
    return RecordedEngine()


def search_missing(
    archive: Archive,
    engine: Engine,
    week: date,
    version: date,
    queries: Mapping[str, str],
    *,
    is_past: bool,
) -> int:
    """Search the questions of `queries` (key to query) that the week's archive lacks.

    Returns how many were searched. A live engine is never asked about a past week, and each of its
    results is archived at once.
    """
    have = {s.question_key for s in archive.searches(week) if s.engine == engine.name}
    missing = {key: query for key, query in queries.items() if key not in have}
    if missing and engine.is_live and is_past:
        raise UserError(
            f"week {week} lacks results for {len(missing)} of {len(queries)} questions and "
            f"{engine.name} cannot search it: import them with `fresh-assets import-snapshot`"
        )
    at_once = 1 if engine.is_live else FREE_SEARCHES_AT_ONCE
    keys = list(missing)
    for start in range(0, len(keys), at_once):
        found = [
            (key, missing[key], week, engine.search(missing[key], week))
            for key in keys[start : start + at_once]
        ]
        archive.put_searches(week, engine.name, version, found)
    return len(keys)


def import_recorded(
    con: duckdb.DuckDBPyConnection, content: bytes, file_name: str, version: date
) -> list[tuple[str, str, RecordedSearch]]:
    """Match the responses of a saved file to the questions of `version`.

    Returns (question key, query, response). Raises BadInputError for a response that belongs to
    none of them, so that nothing is imported by half.
    """
    rows = con.execute(
        "SELECT id, question, question_key FROM freshqa.current_questions WHERE version = ?",
        [version],
    ).fetchall()
    if not rows:
        raise UserError(f"version {version} is not imported: `fresh-assets import-version` first")
    by_id = {id_: (key, question) for id_, question, key in rows}
    by_text = {question: (key, question) for _, question, key in rows}
    engine = RecordedEngine()
    matched: dict[str, tuple[str, str, RecordedSearch]] = {}
    for number, response in enumerate(read_recorded(content, file_name), 1):
        found = (
            by_text.get(response.query or "")
            if response.query
            else by_id.get(response.question_id or 0)
        )
        if not found:
            what = response.query or f"row {response.question_id}"
            raise BadInputError(
                file_name,
                f"{what!r} is no question of version {version}",
                "Give the right --version",
                f"record {number}",
            )
        if found[0] in matched:
            raise BadInputError(
                file_name, "the question is there twice", "Keep one", f"record {number}"
            )
        try:
            engine.parse(response.payload)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise BadInputError(
                file_name, f"not a search response ({error})", "Remove it", f"record {number}"
            ) from error
        matched[found[0]] = (*found, response)
    return list(matched.values())


def snapshot_rows(archive: Archive, week: date) -> pl.DataFrame:
    """Content rows of search.results from the archive."""
    return pl.DataFrame([asdict(s) for s in archive.searches(week)], infer_schema_length=None)


def parse_snapshot(
    archive: Archive, results: pl.DataFrame, engines: Mapping[str, Engine]
) -> pl.DataFrame:
    """Content rows of search.evidence for the rows of search.results."""
    payloads = dict(archive.get_many(results["payload_hash"].unique()))
    columns = ["week", "engine", "question_key", "as_of", "payload_hash"]
    rows = (
        row
        for week, engine, key, as_of, payload_hash in results.select(columns).iter_rows()
        for row in _rows(engines[engine].parse(payloads[payload_hash]), week, engine, key, as_of)
    )
    return pl.DataFrame(list(rows), schema=EVIDENCE_SCHEMA, orient="row")


def _rows(
    evidence: Iterable[Evidence], week: date, engine: str, key: str, as_of: date
) -> Iterator[tuple[object, ...]]:
    for rank, e in enumerate(evidence):
        when = parse_date(e.date_text, as_of)
        day, precision = (when.day, when.precision) if when else (None, None)
        yield (
            week, engine, key, rank, e.kind, e.source, day, precision, e.date_text, e.title,
            e.snippet, e.highlight, e.url,
        )  # fmt: skip
