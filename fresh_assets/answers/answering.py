"""Run one system over the questions of a week, whatever its method."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache

import polars as pl
from rapidfuzz import fuzz

from fresh_assets.answers.asking import (
    ANSWER_SCHEMA,
    Asked,
    Asker,
    Searcher,
    as_row,
    deferred_row,
    no_search,
    pieces_of,
)
from fresh_assets.answers.evidence import Piece
from fresh_assets.answers.methods import evidence_of, recorded, search_answer
from fresh_assets.answers.systems import (
    LOCAL,
    AnySystem,
    Asking,
    EndpointConfig,
    Judge,
    Recorded,
    SearchAnswer,
    SelfAsk,
    Systems,
)
from fresh_assets.benchmark.ground_truth import ground_truth
from fresh_assets.errors import UserError
from fresh_assets.llm.batch import Batches
from fresh_assets.llm.cache import CallCache
from fresh_assets.llm.local import local_server, model_file, status
from fresh_assets.llm.pool import Endpoint, OnText, Pool
from fresh_assets.llm.prices import Budget, cost_of, estimated_usage, read_prices
from fresh_assets.llm.request import Usage
from fresh_assets.partitions import monday
from fresh_assets.search.corpus import NAME as CORPUS
from fresh_assets.search.dates import parse_date
from fresh_assets.search.engine import Engine, Evidence
from fresh_assets.search.engines import make_engine
from fresh_assets.search.live import LiveEngine
from fresh_assets.search.recorded import NAME as RECORDED
from fresh_assets.search.snapshot import search_now
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.warehouse.connections import Warehouse
from fresh_assets.warehouse.lineage import pinned_version
from fresh_assets.web.fetch import FetchError

LOCAL_AT_ONCE = 2
IN_BATCH = "in a provider batch"
"""Reason of answers that a batch has not brought yet."""
WAITING = "SELECT DISTINCT week::VARCHAR, system FROM eval.answers WHERE reason = $reason"


@dataclass(frozen=True)
class Week:
    """Inputs of a week: questions (question_key, question, split) and search.evidence rows."""

    day: date
    version: date
    questions: pl.DataFrame
    evidence: pl.DataFrame
    recorded: pl.DataFrame


def read_week(warehouse: Warehouse, week: date, system: str) -> Week:
    """Inputs of a week; recorded answers are those of `system`."""
    with warehouse.reader() as con:
        version = pinned_version(con, week)
        return Week(
            week,
            version,
            ground_truth(con, week, version).select("question_key", "question", "split"),
            con.execute("SELECT * FROM search.evidence WHERE week = ?", [week]).pl(),
            con.execute(
                "SELECT * FROM eval.recorded_answers WHERE week = ? AND system = ?", [week, system]
            ).pl(),
        )


def estimate_systems(systems: Systems, week: Week, settings: Settings) -> list[tuple[str, ...]]:
    """(system, model, calls, input tokens, output tokens, dollars) of every system, at most."""
    prices = read_prices(settings.prices_toml)
    rows = []
    for name, system in systems.systems.items():
        if not isinstance(system, Asking):
            continue
        evidence = evidence_of(week.evidence, system.engine, name)
        questions, _ = _chosen(week.questions, system.at_most)
        asker = Asker(system, system.endpoint, None, week.day, no_search)
        usages = [
            estimated_usage(asker.request(asker.prompt(asked)[0]))
            for asked in _asked(questions, evidence)
        ]
        steps = system.follow_ups + 1 if isinstance(system, SelfAsk) else 1
        steps += system.method == "decomposed"
        total = sum(usages, Usage())
        cost = cost_of(total, prices.get(system.model))
        calls, spent = len(usages) * steps, [total.input * steps, total.output * steps]
        shown = "unknown" if cost is None else f"{cost * steps:.2f}"
        rows.append((name, system.model, f"{calls:,}", *(f"{n:,}" for n in spent), shown))
    return rows


def answer_week(
    system: AnySystem, systems: Systems, week: Week, settings: Settings, archive: Archive
) -> pl.DataFrame:
    """Answers of `system` with the columns of ANSWER_SCHEMA: one row a question."""
    if isinstance(system, Recorded):
        return recorded(week.questions, week.recorded.select("question_key", "answer"))
    evidence = evidence_of(week.evidence, system.engine, system.name)
    if isinstance(system, SearchAnswer):
        return search_answer(week.questions, evidence)
    with connect(system, systems, settings) as endpoint:
        return asyncio.run(_ask(system, endpoint, week, evidence, settings, archive))


@contextmanager
def connect(system: Asking, systems: Systems, settings: Settings) -> Iterator[Endpoint]:
    """The endpoint of a system; the local server runs for the length of the block if needed."""
    config = systems.endpoints.get(system.endpoint)
    if config is not None and config.url != LOCAL:
        key = settings.secret(config.api_key_env) if config.api_key_env else "none"
        yield _endpoint(config, config.url, key, config.url)
        return
    file = model_file(settings.local_model)
    name = f"{LOCAL}/{file.name}"
    config = config or EndpointConfig(url=LOCAL, most_at_once=LOCAL_AT_ONCE)
    if running := status(settings.local_server_file):
        yield _endpoint(config, running.url, "none", name)
        return
    with local_server(file) as url:
        yield _endpoint(config, url, "none", name)


def make_pool(
    system: Asking, endpoint: Endpoint, settings: Settings, on_text: OnText | None = None
) -> Pool:
    """Pool over one endpoint with the home's cache, the price table and the budget."""
    prices = read_prices(settings.prices_toml)
    if settings.budget is not None and system.model not in prices:
        raise UserError(
            f"a budget is set but the price of {system.model} is unknown: add it to prices.toml"
        )
    reasks = system.reasks if isinstance(system, Judge) else 0
    cache = CallCache(settings.calls_file)
    return Pool([endpoint], cache, prices, Budget(settings.budget), reasks, on_text)


def make_searcher(name: str, settings: Settings, archive: Archive, day: date) -> Searcher:
    """Finds evidence for follow-up questions with the engine called `name`: a new archived search
    where it may search that day and does not fail, else the best of the question's own snapshot.

    The engine is made when it is first needed: most methods never search.
    """
    today = datetime.now(UTC).date()

    @cache
    def engine() -> Engine:
        return make_engine(name, settings)

    def search(query: str) -> Sequence[Piece]:
        shown = engine()
        if isinstance(shown, LiveEngine):
            payload, day_shown = search_now(archive, shown, query, today), today
        else:
            payload, day_shown = shown.search(query, day), day
            archive.put(payload)
        return [_piece(evidence, day_shown) for evidence in shown.parse(payload)]

    async def find(query: str, asked: Asked) -> Sequence[Piece]:
        if name == CORPUS or (name != RECORDED and monday(day) == monday(today)):
            try:
                return await asyncio.to_thread(search, query)
            except FetchError:
                pass
        return sorted(asked.pieces, key=lambda piece: _fit(query, piece), reverse=True)

    return find


async def _ask(
    system: Asking,
    endpoint: Endpoint,
    week: Week,
    evidence: pl.DataFrame,
    settings: Settings,
    archive: Archive,
) -> pl.DataFrame:
    engines = sorted(evidence["engine"].unique())
    engine = engines[0] if engines else None
    questions, left_out = _chosen(week.questions, system.at_most)
    asked = list(_asked(questions, evidence))
    searcher = make_searcher(engine or settings.engines[0], settings, archive, week.day)
    async with make_pool(system, endpoint, settings) as pool:
        asker = Asker(system, endpoint.name or endpoint.url, pool, week.day, searcher)
        in_batch = _in_batch(asker, asked, endpoint, settings) if system.batch else set()
        now = [a for a in asked if a.key not in in_batch]
        rows = [as_row(r, engine) async for r in asker.ask_all(now, endpoint.most_at_once)]
    rows += [deferred_row(key, IN_BATCH) for key in in_batch]
    rows += [
        deferred_row(key, f"at most {system.at_most} questions are asked")
        for key in left_out["question_key"]
    ]
    return pl.DataFrame(rows, schema=ANSWER_SCHEMA)


def _in_batch(
    asker: Asker, asked: Sequence[Asked], endpoint: Endpoint, settings: Settings
) -> set[str]:
    """Hand the questions to the provider's batches; keys of those it has not answered yet."""
    requests = {a.key: asker.request(asker.prompt(a)[0]) for a in asked}
    batches = open_batches(endpoint, settings)
    batches.add(requests.values())
    batches.advance()
    pending = batches.pending()
    return {key for key, request in requests.items() if request.key in pending}


def open_batches(endpoint: Endpoint, settings: Settings) -> Batches:
    """The provider batches of an endpoint."""
    cache = CallCache(settings.calls_file)
    return Batches(endpoint, settings.batches_file, cache, read_prices(settings.prices_toml))


def finished_batches(systems: Systems, settings: Settings) -> set[str]:
    """Poll the provider; names of the systems for which no batch is under way any more."""
    finished = set()
    for name, system in systems.systems.items():
        if isinstance(system, Asking) and system.batch:
            with connect(system, systems, settings) as endpoint:
                if open_batches(endpoint, settings).advance().is_over:
                    finished.add(name)
    return finished


def _chosen(questions: pl.DataFrame, at_most: int | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The questions to ask and those to leave out: TEST first, then by key, which is random."""
    ordered = questions.sort(pl.col("split") != "TEST", "question_key")
    number = len(ordered) if at_most is None else at_most
    return ordered.head(number), ordered.tail(max(0, len(ordered) - number))


def _asked(questions: pl.DataFrame, evidence: pl.DataFrame) -> Iterator[Asked]:
    by_key = evidence.sort("rank").rows_by_key("question_key", named=True)
    for key, question in questions.select("question_key", "question").iter_rows():
        yield Asked(key, question, pieces_of(by_key.get(key, [])))


def _fit(query: str, piece: Piece) -> float:
    text = " ".join(filter(None, (piece.title, piece.snippet, piece.highlight)))
    return fuzz.token_set_ratio(query, text)


def _endpoint(config: EndpointConfig, url: str, key: str, name: str) -> Endpoint:
    return Endpoint(
        url, key, name, config.most_at_once, config.requests_per_minute,
        config.tokens_per_minute, config.timeout, config.tries,
    )  # fmt: skip


def _piece(evidence: Evidence, day: date) -> Piece:
    when = parse_date(evidence.date_text, day)
    return Piece(
        evidence.kind, -1, evidence.source, when.day if when else None, evidence.date_text,
        evidence.title, evidence.snippet, evidence.highlight, evidence.url,
        when.precision if when else None,
    )  # fmt: skip
