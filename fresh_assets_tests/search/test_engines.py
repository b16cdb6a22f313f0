"""Engines: the corpus, and saved SerpApi responses in both forms."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fresh_assets.errors import BadInputError, UserError
from fresh_assets.search.corpus import CorpusEngine, Document, read_corpus, write_corpus
from fresh_assets.search.engine import Evidence
from fresh_assets.search.recorded import RecordedEngine, read_recorded

PAGES = [
    Document("u1", "a.example", date(2025, 1, 1), "Harbour", "Ana Bol is the mayor of Velmora."),
    Document(
        "u2", "b.example", date(2026, 1, 8), "Harbour", "Tom Ree is the new mayor of Velmora."
    ),
    Document("u3", "c.example", date(2025, 6, 1), "Bridges", "The bridge of Kest was painted."),
]


def found(engine: CorpusEngine, query: str, day: date) -> set[str | None]:
    return {e.url for e in engine.parse(engine.search(query, day))}


def test_corpus_shows_what_was_published_by_the_day() -> None:
    engine = CorpusEngine(PAGES, limit=5)
    assert found(engine, "Who is the mayor of Velmora?", date(2026, 1, 5)) == {"u1"}
    assert found(engine, "Who is the mayor of Velmora?", date(2026, 1, 12)) == {"u1", "u2"}
    assert found(engine, "Who is the mayor of Velmora?", date(2020, 1, 1)) == set()
    assert found(engine, "zzz", date(2026, 1, 12)) == set()


def test_corpus_payload_is_the_same_every_time() -> None:
    first, second = (CorpusEngine(PAGES, 5).search("mayor", date(2026, 1, 12)) for _ in range(2))
    assert first == second


def test_long_pages_are_cut_around_the_words_of_the_query() -> None:
    text = " ".join(["filler"] * 200 + ["the", "mayor", "is", "Ana"] + ["filler"] * 200)
    engine = CorpusEngine([Document("u", "s", date(2025, 1, 1), "t", text)], 1)
    (evidence,) = engine.parse(engine.search("mayor Ana", date(2026, 1, 1)))
    assert "mayor is Ana" in (evidence.snippet or "")
    assert len((evidence.snippet or "").split()) == 60


def test_corpus_file_round_trip_and_errors(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    with pytest.raises(UserError, match="no corpus"):
        read_corpus(file)
    write_corpus(PAGES, file)
    assert read_corpus(file) == PAGES
    file.write_text('{"url": "u"}\n')
    with pytest.raises(BadInputError, match=r"corpus.jsonl, line 1: not a document"):
        read_corpus(file)


def evidence_of(response: dict[str, Any]) -> list[Evidence]:
    return RecordedEngine().parse(json.dumps(response).encode())


def test_sections_come_in_order_and_nothing_readable_is_lost() -> None:
    response = {
        "related_questions": [{"question": "Why?", "snippet": "So.", "link": "https://www.r.example/x"}],
        "organic_results": [
            {
                "title": "T", "link": "https://www.o.example/p", "date": "2 days ago", "snippet": "S",
                "snippet_highlighted_words": ["a", "b"],
                "rich_snippet": {"top": {"extensions": ["4.5 stars"]}, "bottom": {"extensions": ["$3"]}},
                "list": ["one", "two"],
                "contents": {"table": [["Year", "2024"], ["Cost", 5]]},
            }
        ],
        "questions_and_answers": [{"question": "Q?", "answer": "A.", "link": "https://q.example"}],
        "knowledge_graph": {
            "title": "Ana Bol", "type": "Mayor", "born": "1970", "kgmid": "/m/1", "image": "https://i",
            "education": [{"school": "Kest High", "link": "https://k"}],
            "source": {"link": "https://w.example/Ana"},
        },
        "answer_box": {"type": "weather_result", "temperature": "21", "unit": "Celsius", "humidity": "40%"},
    }  # fmt: skip
    box, graph, organic, asked, related = evidence_of(response)
    assert (box.kind, box.title, box.snippet) == (
        "answer_box",
        "weather_result",
        "temperature: 21\nunit: Celsius\nhumidity: 40%",
    )
    assert graph == Evidence(
        "knowledge_graph", "w.example", None, "Ana Bol\nMayor",
        "born: 1970\neducation.school: Kest High", None, "https://w.example/Ana",
    )  # fmt: skip
    assert organic == Evidence(
        "organic", "o.example", "2 days ago", "T", "S\n4.5 stars\n$3\none\ntwo\nYear, 2024\nCost, 5",
        "a | b", "https://www.o.example/p",
    )  # fmt: skip
    assert (asked.kind, asked.title, asked.snippet) == ("question_and_answer", "Q?", "A.")
    assert (related.kind, related.title, related.source) == (
        "related_question",
        "Why?",
        "r.example",
    )


@pytest.mark.parametrize(
    ("box", "highlight", "snippet"),
    [
        ({"answer": "42", "snippet": "It is 42."}, "42", "It is 42."),
        ({"type": "calculator_result", "result": "4"}, "4", None),
        ({"type": "currency_converter", "result": "1.1 USD", "currency_converter": {"from": {"price": 1}}},
         "1.1 USD", "currency_converter.from.price: 1"),
        ({"type": "population_result", "place": "Kest", "population": "9,000", "year": "2024"}, None,
         "place: Kest\npopulation: 9,000\nyear: 2024"),
        ({"type": "finance_results", "price": "$5", "stock": "KST"}, None, "price: $5\nstock: KST"),
    ],
)  # fmt: skip
def test_typed_answer_boxes_keep_their_value(
    box: dict[str, Any], highlight: str | None, snippet: str | None
) -> None:
    (evidence,) = evidence_of({"answer_box": box})
    assert (evidence.highlight, evidence.snippet) == (highlight, snippet)


def test_odd_payloads_do_not_break_the_parser() -> None:
    assert evidence_of({}) == []
    assert evidence_of({"answer_box": [], "organic_results": None}) == []
    odd = {"organic_results": [{"title": 5, "link": "http://[", "displayed_link": "10K views"}]}
    assert evidence_of(odd)[0].title == "5"


def test_reduced_responses() -> None:
    reduced = {
        "QueryID": "7",
        "answer_box": [{"name": "N", "url": "https://www.a.example/x", "snippet": "S"}],
        "organic_results": [{"name": "O", "url": "https://o.example", "snippet": "T"}, "None"],
        "related_questions": ["None"],
    }
    assert [(e.kind, e.source, e.snippet) for e in evidence_of(reduced)] == [
        ("answer_box", "a.example", "S"),
        ("organic", "o.example", "T"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not json", "not valid JSON"),
        (b"[]", "no responses in it"),
        (b"[1]", "record 1: not a response"),
        (b'[{"QueryID": "x"}]', "record 1: QueryID 'x' is no row number"),
        (b'{"error": "You are out of searches"}', "You are out of searches"),
        (b"{}", "neither search_parameters.q nor QueryID"),
        (b'{"search_parameters": "x"}', "neither search_parameters.q nor QueryID"),
        ('[{"QueryID": "²"}]'.encode(), "is no row number"),
        (b"[" * 100_000, "not valid JSON"),
    ],
)
def test_files_without_usable_responses_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(BadInputError, match="saved.json") as error:
        read_recorded(content, "saved.json")
    assert message in str(error.value)


def test_real_raw_response(real: Path) -> None:
    file = real / "search" / "raw_serpapi_2024-01-15_centurion.json"
    (search,) = read_recorded(file.read_bytes(), file.name)
    assert search.query == "When did American Express open its 20th Centurion Lounge?"
    assert search.as_of == date(2024, 1, 15)
    evidence = RecordedEngine().parse(search.payload)
    raw = json.loads(file.read_bytes())
    assert [e.kind for e in evidence] == ["organic"] * 10 + ["related_question"] * 4
    assert [e.title for e in evidence[:10]] == [
        " ".join(r["title"].split()) for r in raw["organic_results"]
    ]
    assert [e.date_text for e in evidence[:10]] == [r.get("date") for r in raw["organic_results"]]


def test_real_reduced_responses(real: Path) -> None:
    file = real / "search" / "serpapi_evidence_600_2024-03-13.json"
    searches = read_recorded(file.read_bytes(), file.name)
    engine = RecordedEngine()
    boxes = sum(engine.parse(s.payload)[0].kind == "answer_box" for s in searches)
    assert [s.question_id for s in searches] == list(range(600))
    assert boxes == 328
