"""The weekly snapshot: search what is missing, import what was saved, parse the archive."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from datetime import date

import duckdb
import polars as pl

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.partitions import monday
from fresh_assets.search.corpus import NAME as CORPUS
from fresh_assets.search.dates import parse_date
from fresh_assets.search.engine import Engine, Evidence
from fresh_assets.search.live import LiveEngine, responses
from fresh_assets.search.recorded import NAME as RECORDED
from fresh_assets.search.recorded import RecordedEngine, RecordedSearch, read_recorded
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive, Query, Search, sha256
from fresh_assets.web.fetch import FetchError

FREE_SEARCHES_AT_ONCE = 500
"""Searches of a local engine that are archived together; they cost nothing to repeat."""
LATER_EDITS = 0.05
FAILURES_TO_STOP = 10
"""Failed questions in a row after which a live engine is given up."""
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


@dataclass(frozen=True)
class Unsearched:
    """Questions that an engine could not search, with the first reason."""

    number: int
    question: str
    problem: str


def search_missing(
    archive: Archive,
    engine: Engine,
    week: date,
    version: date,
    questions: Mapping[str, str],
    today: date,
) -> Unsearched | None:
    """Search the questions (key to text) that the week's archive lacks.

    Every reply is archived at once, so that a run that was stopped goes on with the rest. A live
    engine is never asked about a past week. Questions that it failed on are returned; a failure
    that no question would get past is raised.
    """
    have = {s.question_key for s in archive.searches(week) if s.engine == engine.name}
    missing = {key: question for key, question in questions.items() if key not in have}
    if not missing:
        return None
    if engine.is_live and week < monday(today):
        raise UserError(
            f"week {week} lacks results for {len(missing)} of {len(questions)} questions and "
            f"{engine.name} cannot search it: import them with `fresh-assets import-snapshot`"
        )
    if isinstance(engine, LiveEngine):
        return _search_live(archive, engine, week, version, missing, today)
    keys = list(missing)
    for start in range(0, len(keys), FREE_SEARCHES_AT_ONCE):
        found = [
            (key, missing[key], week, engine.search(missing[key], week))
            for key in keys[start : start + FREE_SEARCHES_AT_ONCE]
        ]
        archive.put_searches(week, engine.name, version, found)
    return None


def search_now(archive: Archive, engine: LiveEngine, question: str, today: date) -> bytes:
    """The reply to one question in the running week: archived, and searched once."""
    week = monday(today)
    sent = _sent(engine, question, today)
    if known := archive.queries(week, engine.name).get(sent):
        return archive.get(known.payload_hash)
    _check_quota(archive, engine, [question], today)
    payload = engine.search(question, today)
    archive.put_query(_query(engine, week, sent, today, payload), payload)
    return payload


def _search_live(
    archive: Archive,
    engine: LiveEngine,
    week: date,
    version: date,
    missing: Mapping[str, str],
    today: date,
) -> Unsearched | None:
    """Search each text once, several at a time; archive each reply as it comes."""
    keys: dict[str, list[str]] = {}
    for key, question in missing.items():
        keys.setdefault(question, []).append(key)
    known = archive.queries(week, engine.name)
    for question in [q for q in keys if _sent(engine, q, today) in known]:
        query = known[_sent(engine, question, today)]
        archive.put_query(query, archive.get(query.payload_hash), version, keys.pop(question))
    _check_quota(archive, engine, keys, today)
    failed: dict[str, FetchError] = {}
    in_a_row = 0
    stopped = False
    waiting = deque(keys)
    for question, found in _replies(engine, waiting, today):
        if isinstance(found, bytes):
            query = _query(engine, week, _sent(engine, question, today), today, found)
            archive.put_query(query, found, version, keys[question])
            in_a_row = 0
            continue
        failed[question] = found
        in_a_row += 1
        if found.kind == "stopped" or in_a_row == FAILURES_TO_STOP:
            stopped = True
            waiting.clear()
    if stopped:
        why = next((e for e in failed.values() if e.kind == "stopped"), next(iter(failed.values())))
        raise UserError(f"{engine.name} was stopped: {why}")
    return _unsearched(keys, failed)


def _replies(
    engine: LiveEngine, waiting: deque[str], today: date
) -> Iterator[tuple[str, bytes | FetchError]]:
    """Search what waits, several at a time; replies as they come. Clearing `waiting` ends it."""
    in_flight: dict[Future[bytes], str] = {}
    with ThreadPoolExecutor(engine.config.at_once) as pool:
        while waiting or in_flight:
            while waiting and len(in_flight) < 2 * engine.config.at_once:
                question = waiting.popleft()
                in_flight[pool.submit(engine.search, question, today)] = question
            for future in wait(in_flight, return_when=FIRST_COMPLETED).done:
                question = in_flight.pop(future)
                try:
                    yield question, future.result()
                except FetchError as error:
                    yield question, error


def _unsearched(
    keys: Mapping[str, list[str]], failed: Mapping[str, FetchError]
) -> Unsearched | None:
    if not failed:
        return None
    question, error = next(iter(failed.items()))
    return Unsearched(sum(len(keys[q]) for q in failed), question, str(error))


def _check_quota(
    archive: Archive, engine: LiveEngine, questions: Iterable[str], today: date
) -> None:
    """Refuse what could go beyond the month's quota before anything is asked."""
    quota = engine.config.quota
    wanted = sum(engine.most_requests(question, today) for question in questions)
    if quota is None or not wanted:
        return
    left = quota - archive.requests_since(engine.name, today.replace(day=1))
    if wanted > left:
        raise UserError(
            f"{engine.name}: up to {wanted} requests are needed, and {max(0, left)} of the month's "
            f"quota of {quota} are left"
        )


def _sent(engine: LiveEngine, question: str, today: date) -> str:
    return "\n".join(engine.queries(question, today))


def _query(engine: LiveEngine, week: date, sent: str, today: date, payload: bytes) -> Query:
    requests = len(responses(payload))
    price = engine.config.price
    cost = None if price is None else price * requests
    return Query(week, engine.name, sent, today, sha256(payload), requests, cost)


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


def engines_to_search(
    settings: Settings, archived: Iterable[Search], week: date, today: date
) -> list[str]:
    """Engines that may still be asked about a week.

    A past week that has results is only searched by the local engine; the running week by the
    engines that are configured, or by those it was begun with.
    """
    begun = {search.engine for search in archived}
    if begun and week < monday(today):
        return sorted(begun & {CORPUS})
    if settings.engine or not begun:
        return settings.engines
    return sorted(begun - {RECORDED})


def tolerance(settings: Settings, week: date, today: date) -> float:
    """Share of a week's questions that may lack results; a past week may have been edited since."""
    past = week < monday(today)
    return max(settings.max_unsearched, LATER_EDITS if past else 0.0)


def complete_searches(
    searches: Sequence[Search], questions: Iterable[str], allowed: float
) -> list[Search]:
    """The searches of engines that have results for all question keys but the allowed share.

    All searches, where no engine has: what is incomplete is then told by its check.
    """
    wanted = set(questions)
    have: dict[str, set[str]] = {}
    for search in searches:
        have.setdefault(search.engine, set()).add(search.question_key)
    lacking = {engine: len(wanted - keys) for engine, keys in have.items()}
    complete = {e for e, number in lacking.items() if number <= allowed * len(wanted)}
    return [s for s in searches if s.engine in complete] if complete else list(searches)


def snapshot_rows(archive: Archive, week: date, searches: Iterable[Search]) -> pl.DataFrame:
    """Content rows of search.results of archived searches.

    The first question of a query bears its requests and cost; others that share it cost nothing.
    """
    rows = []
    billed: dict[str, dict[str, Query]] = {}
    for search in searches:
        if search.engine not in billed:
            billed[search.engine] = archive.queries(week, search.engine)
        query = billed[search.engine].pop(search.query, None)
        spent = {"requests": query.requests if query else 0, "cost": query.cost if query else 0.0}
        rows.append({**asdict(search), **spent})
    return pl.DataFrame(rows, infer_schema_length=None)


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
