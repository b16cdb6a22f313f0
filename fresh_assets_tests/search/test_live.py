"""Live engines against a server that speaks each provider's protocol, faults included."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from fresh_assets.errors import UserError
from fresh_assets.search.engine import Evidence
from fresh_assets.search.engines import ADAPTERS, make_engine, make_parser, read_engines
from fresh_assets.search.live import EngineConfig, LiveEngine
from fresh_assets.search.snapshot import search_missing, search_now, snapshot_rows
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import Archive
from fresh_assets.web.fetch import FetchError
from fresh_assets_tests.search.payloads import REPLIES, SERPAPI
from fresh_assets_tests.web_server import Got, Page, Server, html_page, json_page, web_server

TODAY = date(2026, 2, 11)
WEEK = date(2026, 2, 9)
KEY = "sk-planted-secret"
Script = Callable[[Got, int], Page]


@contextmanager
def engine_of(kind: str, script: Script, **options: object) -> Iterator[tuple[LiveEngine, Server]]:
    with web_server(script) as server:
        config = EngineConfig.model_validate(
            {"type": kind, "url": f"{server.url}/search", "timeout": 2, "tries": 2, **options}
        )
        yield LiveEngine(kind, config, ADAPTERS[kind], KEY, allow_private=False), server


def parsed(kind: str) -> list[Evidence]:
    return make_parser(kind, Settings()).parse(json.dumps(REPLIES[kind]).encode())


@pytest.mark.parametrize("kind", REPLIES)
def test_every_engine_asks_and_reads_its_protocol(kind: str) -> None:
    with engine_of(kind, lambda *_: json_page(REPLIES[kind])) as (engine, server):
        payload = engine.search("Who is the mayor of Olven?", TODAY)
    assert json.loads(payload) == REPLIES[kind]
    assert engine.parse(payload) == parsed(kind)
    (got,) = server.requests
    asked = got.params or got.json
    words = " ".join(map(str, asked.values()))
    assert "mayor" in words
    assert "Olven" in words
    if kind in {"serpapi", "serper", "brave"}:
        assert KEY in {*asked.values(), *got.headers.values()}
    else:
        assert KEY not in f"{asked}{got.headers}"


def test_serpapi_section_by_section() -> None:
    assert parsed("serpapi") == [
        Evidence("answer_box", None, None, "currency_converter", "price: 1.25\ncurrency: crown", "1.25 Veldish crown"),
        Evidence(
            "knowledge_graph", "encyclopedia.example", None, "Olven\nCity",
            "population: 81,204 (2026)\nmayor.name: Ada Brandt\nmayor.since: 2025\nrivers: Sarn\nrivers: Mell",
            None, "https://www.encyclopedia.example/olven",
        ),
        Evidence(
            "sports_results", None, None, "Olven Rovers",
            "rankings: 1st in North League\ngames.tournament: North League\ngames.date: Feb 8\n"
            "games.teams.name: Olven Rovers\ngames.teams.score: 3\ngames.teams.name: Mell Town\ngames.teams.score: 1",
        ),
        Evidence(
            "organic", "olven.example", "2 days ago", "Ada Brandt elected",
            "Ada Brandt is the mayor.\nRating 4.5\n81 reviews\nFirst: Brandt\nSecond: Moll\nYear, Mayor\n2025, Brandt",
            "Ada Brandt", "https://www.olven.example/news/1",
        ),
        Evidence("top_story", "herald.example", "5 hours ago", "Mayor opens bridge", None, None, "https://herald.example/bridge"),
        Evidence("question_and_answer", "qa.example", None, "Who runs Olven?", "Its mayor, Ada Brandt.", None, "https://qa.example/1"),
        Evidence(
            "related_question", "bio.example", "Jan 3, 2026", "How old is Ada Brandt?",
            "She is 51.\nAda Brandt's life", None, "https://bio.example/brandt",
        ),
        Evidence(
            "ai_overview", None, None, "AI overview",
            "The mayor of Olven is Ada Brandt.\nTerm:\n2025 to 2029", None, "https://www.olven.example/",
        ),
    ]  # fmt: skip


def test_serper_brave_searxng_and_wikipedia_section_by_section() -> None:
    assert [(e.kind, e.source, e.title, e.snippet, e.highlight) for e in parsed("serper")] == [
        ("answer_box", "olven.example", "Mayor", "Ada Brandt, since 2025", "Ada Brandt | since 2025"),
        ("knowledge_graph", "encyclopedia.example", "Olven\nCity", "A city on the Sarn.\nPopulation: 81,204", None),
        ("organic", "olven.example", "Ada Brandt elected", "Ada Brandt is the mayor.\nOffice: Mayor", None),
        ("top_story", "herald.example", "Mayor opens bridge", None, None),
        ("related_question", "bio.example", "How old is Ada Brandt?", "She is 51.\nAda Brandt's life", None),
    ]  # fmt: skip
    assert [(e.kind, e.date_text, e.title, e.snippet, e.highlight) for e in parsed("brave")] == [
        ("knowledge_graph", None, "Olven", "City\nA city on the Sarn.\nPopulation: 81,204", None),
        ("organic", "2026-02-07T08:00:00", "Ada Brandt elected", "Ada Brandt is the mayor & more.\nShe won with 54 %.", "Ada Brandt"),
        ("organic", None, "New mayor?", "Yes.\ntop_comment: Brandt it is", None),
        ("top_story", "5 hours ago", "Mayor opens bridge", "On Sunday.", None),
        ("question_and_answer", None, "Who runs Olven?", "Ada Brandt.\nOlven FAQ", None),
    ]  # fmt: skip
    assert [(e.kind, e.title, e.snippet, e.highlight, e.url) for e in parsed("searxng")] == [
        ("answer_box", None, None, "Ada Brandt", "https://olven.example/"),
        ("answer_box", None, None, "Brandt", None),
        ("knowledge_graph", "Olven", "A city on the Sarn.\nPopulation: 81,204", None, "https://encyclopedia.example/olven"),
        ("organic", "Ada Brandt elected", "Ada Brandt is the mayor.", None, "https://olven.example/news/1"),
    ]  # fmt: skip
    assert [(e.title, e.date_text, e.snippet) for e in parsed("wikipedia")] == [
        ("Olven", "2026-02-01T10:00:00Z", "Olven is a city. Its mayor is Ada Brandt."),
        ("List of mayors of Olven", "2025-12-01T10:00:00Z", "The mayors of Olven."),
    ]


IGNORED = {
    "link", "displayed_link", "thumbnail", "favicon", "position", "source", "source_logo",
    "redirect_link", "serpapi_link", "next_page_token", "missing", "must_include", "duration",
}  # fmt: skip
"""Fields of a result that are no text to read, or say again what another field says."""


def readable(value: object, name: str = "") -> Iterator[str]:
    if name in IGNORED or name.endswith("_link"):
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from readable(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from readable(item, name)
    elif isinstance(value, str):
        yield " ".join(value.split())


@pytest.mark.parametrize("name", ["cancer_cure", "centurion", "moon_animal"])
def test_nothing_readable_of_real_replies_is_lost(real: Path, name: str) -> None:
    sections = (
        "organic_results",
        "related_questions",
        "answer_box",
        "knowledge_graph",
        "questions_and_answers",
    )
    for file in (real / "search").glob(f"raw_serpapi_*{name}.json"):
        response = json.loads(file.read_text())
        evidence = make_parser("recorded", Settings()).parse(file.read_bytes())
        text = "\n".join(f"{e.title}\n{e.snippet}\n{e.highlight}\n{e.date_text}" for e in evidence)
        flat = " ".join(text.split())
        lost = {t for s in sections for t in readable(response.get(s)) if t not in flat}
        assert lost == set()
        assert len(evidence) == len(response["organic_results"]) + len(
            response["related_questions"]
        )


def test_more_pages_are_asked_for_until_there_are_no_more() -> None:
    def page(got: Got, _: int) -> Page:
        start = int(got.params["start"])
        items = [
            {"title": f"r{start + i}", "link": f"https://a.example/{start + i}"}
            for i in range(10 if start < 20 else 3)
        ]
        return json_page({"organic_results": items})

    with engine_of("serpapi", page, results=100) as (engine, server):
        payload = engine.search("q", TODAY)
    assert len(server.requests) == 3
    assert len(engine.parse(payload)) == 23


def test_query_variants() -> None:
    question = "Who is the mother of the mayor of Port Olven?"
    sent = {}
    for variant in ("verbatim", "dated", "keywords", "decomposed"):
        with engine_of("serpapi", lambda *_: json_page(SERPAPI), query=variant) as (engine, server):
            payload = engine.search(question, TODAY)
        sent[variant] = [got.params["q"] for got in server.requests]
    assert sent == {
        "verbatim": [question],
        "dated": [f"{question} (February 2026)"],
        "keywords": ["mother mayor Port Olven"],
        "decomposed": [question, "mother mayor Port Olven", "Port Olven"],
    }
    assert engine.parse(payload) == parsed("serpapi")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (html_page("Before you continue"), "a page (Before you continue), no results"),
        (Page(b'{"organic_results": [', headers={"content-type": "application/json"}), "not valid JSON"),
        (json_page([1]), "not a search response"),
        (json_page({"organic_results": ["x"]}), "a section holds what is no object"),
        (json_page({"organic_results": [{"rich_snippet": 3}]}), "not a search response"),
        (json_page({"error": f"bad key {KEY}"}), r"bad key \*\*\*"),
        (Page(b"[" * 100_000), "not valid JSON"),
        (html_page("Sorry", f"unusual traffic {KEY}", status=429), r"HTTP 429 (Sorry)"),
    ],
    ids=["consent page", "cut JSON", "list", "odd results", "odd result", "error", "deep", "captcha"],
)  # fmt: skip
def test_what_is_no_result_is_never_archived(archive: Archive, fault: Page, told: str) -> None:
    with engine_of("serpapi", lambda *_: fault) as (engine, _):
        left = search_missing(archive, engine, WEEK, WEEK, {"a": "a?"}, TODAY)
    assert left
    assert left.number == 1
    assert told.replace("\\", "") in left.problem
    assert KEY not in left.problem
    assert archive.searches(WEEK) == []


def test_no_results_are_a_result() -> None:
    none = {"error": "Google hasn't returned any results for this query."}
    with engine_of("serpapi", lambda *_: json_page(none)) as (engine, _):
        assert engine.parse(engine.search("q", TODAY)) == []


def test_silent_engines_behind_searxng_are_a_failure() -> None:
    silent = {"results": [], "answers": [], "unresponsive_engines": [["google", "CAPTCHA"]]}
    with (
        engine_of("searxng", lambda *_: json_page(silent)) as (engine, _),
        pytest.raises(FetchError, match="no engine behind the server answered"),
    ):
        engine.search("q", TODAY)


def test_a_key_that_a_server_repeats_is_masked() -> None:
    echo = {**SERPAPI, "search_metadata": {"url": f"https://x.example/?api_key={KEY}"}}
    with engine_of("serpapi", lambda *_: json_page(echo)) as (engine, _):
        assert KEY.encode() not in engine.search("q", TODAY)


def questions(number: int) -> dict[str, str]:
    return {f"k{i}": f"question {i}?" for i in range(number)}


def test_a_snapshot_goes_on_where_it_stopped_and_asks_the_same_once(archive: Archive) -> None:
    failing = {"question 3?", "question 7?"}

    def script(got: Got, _: int) -> Page:
        return Page(status=500) if got.params["q"] in failing else json_page(SERPAPI)

    wanted = {**questions(10), "twin": "question 1?"}
    with engine_of("serpapi", script, price=0.01) as (engine, server):
        left = search_missing(archive, engine, WEEK, WEEK, wanted, TODAY)
        assert left
        assert left.number == 2
        assert len({got.params["q"] for got in server.requests}) == 10
        server.requests.clear()
        failing.clear()
        assert search_missing(archive, engine, WEEK, WEEK, wanted, TODAY) is None
        assert sorted(got.params["q"] for got in server.requests) == ["question 3?", "question 7?"]
        assert search_missing(archive, engine, WEEK, WEEK, wanted, TODAY) is None
        assert len(server.requests) == 2
    rows = snapshot_rows(archive, WEEK, archive.searches(WEEK))
    assert set(rows["question_key"]) == set(wanted)
    assert rows["requests"].sum() == 10
    assert rows["cost"].sum() == pytest.approx(0.1)
    assert set(rows["as_of"]) == {TODAY}


def test_an_unknown_price_is_no_zero(archive: Archive) -> None:
    with engine_of("serper", lambda *_: json_page(REPLIES["serper"])) as (engine, _):
        search_missing(archive, engine, WEEK, WEEK, questions(1), TODAY)
    assert snapshot_rows(archive, WEEK, archive.searches(WEEK))["cost"].to_list() == [None]


def test_a_wrong_key_stops_at_once(archive: Archive) -> None:
    with (
        engine_of("serpapi", lambda *_: Page(status=401), at_once=2) as (engine, server),
        pytest.raises(UserError, match=r"serpapi was stopped: .*HTTP 401: the key is wrong"),
    ):
        search_missing(archive, engine, WEEK, WEEK, questions(200), TODAY)
    assert len(server.requests) < 20


def test_a_dead_server_is_given_up(archive: Archive) -> None:
    with (
        engine_of("serpapi", lambda *_: Page(status=500), tries=1) as (engine, server),
        pytest.raises(UserError, match="serpapi was stopped: .*HTTP 500"),
    ):
        search_missing(archive, engine, WEEK, WEEK, questions(200), TODAY)
    assert len(server.requests) < 40


def test_the_quota_of_the_month_is_kept(archive: Archive) -> None:
    with engine_of("serpapi", lambda *_: json_page(SERPAPI), quota=5) as (engine, server):
        search_missing(archive, engine, WEEK, WEEK, questions(3), TODAY)
        wanted = questions(10)
        with pytest.raises(
            UserError, match="up to 7 requests are needed, and 2 of the month's quota of 5"
        ):
            search_missing(archive, engine, WEEK, WEEK, wanted, TODAY)
    assert len(server.requests) == 3


def test_the_quota_counts_queries_and_pages(archive: Archive) -> None:
    options = {"quota": 20, "results": 30, "query": "decomposed"}
    with (
        engine_of("serpapi", lambda *_: json_page(SERPAPI), **options) as (engine, server),
        pytest.raises(UserError, match="up to 24 requests are needed, and 20 of the month's quota"),
    ):
        search_missing(archive, engine, WEEK, WEEK, questions(4), TODAY)
    assert server.requests == []


def test_a_follow_up_is_searched_once_a_week(archive: Archive) -> None:
    with engine_of("serpapi", lambda *_: json_page(SERPAPI)) as (engine, server):
        first = search_now(archive, engine, "question 1?", TODAY)
        assert search_now(archive, engine, "question 1?", TODAY) == first
        search_missing(archive, engine, WEEK, WEEK, questions(2), TODAY)
    assert [got.params["q"] for got in server.requests] == ["question 1?", "question 0?"]


def test_engines_file_is_read_with_clear_errors(tmp_path: Path) -> None:
    assert set(read_engines(Settings().engines_toml)) == set(ADAPTERS)
    for text, told in {
        "[x]\ntype = 'bing'": r"\[x\]: type: Input should be 'serpapi'",
        "[x]\ntype = 'brave'\nresults = 0": "results: Input should be greater",
        "[corpus]\ntype = 'brave'": "corpus is built in",
        "[x": "not valid TOML",
    }.items():
        with pytest.raises(UserError, match=told):
            read_engines(text)
    with pytest.raises(UserError, match="no search engine 'x': known are wikipedia"):
        make_engine("x", Settings(home=tmp_path))


def test_a_missing_key_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERPAPI_API_KEY", raising=False)
    with pytest.raises(UserError, match="SERPAPI_API_KEY is not set"):
        make_engine("serpapi", Settings(home=tmp_path))


KILLED = """
import sys
from datetime import date
from pathlib import Path
from fresh_assets.search.engines import ADAPTERS
from fresh_assets.search.live import EngineConfig, LiveEngine
from fresh_assets.search.snapshot import search_missing
from fresh_assets.warehouse.archive import Archive
url, file = sys.argv[1:]
config = EngineConfig(type="serpapi", url=url, at_once=4)
engine = LiveEngine("serpapi", config, ADAPTERS["serpapi"], "sk-planted", allow_private=False)
questions = {f"k{i}": f"question {i}?" for i in range(60)}
day = date(2026, 2, 9)
search_missing(Archive(Path(file)), engine, day, day, questions, day)
"""


def test_a_killed_snapshot_repeats_only_what_was_in_flight(archive: Archive) -> None:
    processes: list[subprocess.Popen[bytes]] = []

    def script(_: Got, number: int) -> Page:
        if number == 30:
            processes[0].kill()
        return json_page(SERPAPI, seconds=0.02)

    with web_server(script) as server:
        command = [sys.executable, "-c", KILLED, f"{server.url}/search", str(archive.file)]
        for expected in (-signal.SIGKILL, 0):
            processes.append(subprocess.Popen(command))
            assert processes[-1].wait(60) == expected
        asked = [got.params["q"] for got in server.requests]
    assert len(set(asked)) == 60
    assert len(asked) <= 60 + 2 * 4
    assert {s.question_key for s in archive.searches(WEEK)} == set(questions(60))
    with sqlite3.connect(archive.file) as db:
        assert db.execute(
            "SELECT count(*) FROM queries JOIN searches USING (week, engine, query)"
        ).fetchone() == (60,)


def test_pages_repeated_in_a_payload_are_read_once() -> None:
    engine = make_parser("serpapi", Settings())
    twice = json.dumps([SERPAPI, SERPAPI]).encode()
    assert engine.parse(twice) == parsed("serpapi")
    first = parsed("serpapi")[0]
    assert replace(first) == first
