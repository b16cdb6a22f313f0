"""The weekly refresh end to end: what it does, what it leaves alone, what stops it."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import dagster as dg
import pytest

from fresh_assets.answers.imports import Columns
from fresh_assets.benchmark.imports import Source
from fresh_assets.demo.files import REFERENCES, Demo
from fresh_assets.errors import UserError
from fresh_assets.judging.people import RatedAnswers
from fresh_assets.refresh import Platform, RefreshError
from fresh_assets.warehouse.publish import open_latest
from fresh_assets_tests.conftest import DEMO_WEEK, demo_platform, settings_of
from fresh_assets_tests.openai_server import Reply, openai_server


def quiet(_: str) -> None:
    pass


def ran(platform: Platform, week: date = DEMO_WEEK) -> list[str]:
    return [
        f"{step.assets[0]} {step.partition or ''}".strip()
        for step in platform.refresh(week, [], quiet)
    ]


def test_every_table_is_filled_and_published(refreshed: Platform) -> None:
    with open_latest(refreshed.settings.published) as con:
        counts = con.execute("SELECT row_counts FROM _snapshot").fetchall()[0][0]
        versions, weeks = con.execute("SELECT versions, weeks FROM _snapshot").fetchall()[0]
    assert {table for table, rows in counts.items() if rows == 0} == {
        "catalog.changes",
        "catalog.indexes",
        "catalog.steps",
        "catalog.tables",
        "eval.golden_ratings",
        "eval.human_ratings",
        "freshqa.decisions",
        "freshqa.findings",
        "mart.corrected_accuracy",
        "mart.judge_agreement",
        "mart.retriever_recall",
        "retriever.encoder",
        "retriever.pairs",
        "search.drift",
        "workflow.requests",
    }
    assert len(versions) == 6
    assert weeks == [DEMO_WEEK]


def test_rows_say_what_made_them(refreshed: Platform) -> None:
    runs = {run.run_id for run in refreshed.instance.get_runs()}
    with refreshed.warehouse.reader() as con:
        for table in ("freshqa.questions", "search.evidence", "eval.judgements", "mart.accuracy"):
            made = con.execute(f"SELECT DISTINCT run_id, code_version FROM {table}").fetchall()
            assert {run for run, _ in made} <= runs
            assert all(version for _, version in made)


def test_events_carry_rows_and_columns(refreshed: Platform) -> None:
    event = refreshed.instance.get_latest_materialization_event(dg.AssetKey(["mart", "accuracy"]))
    assert event
    assert event.asset_materialization
    metadata = event.asset_materialization.metadata
    assert metadata["dagster/partition_row_count"].value == 78
    assert isinstance(metadata["dagster/column_schema"], dg.TableSchemaMetadataValue)


def test_a_second_refresh_does_nothing(refreshed: Platform) -> None:
    assert ran(refreshed) == []


@pytest.fixture
def platform(tmp_path: Path, demo: Demo) -> Platform:
    return demo_platform(tmp_path, demo, REFERENCES[:1])


def test_only_what_changed_is_done_again(platform: Platform, demo: Demo) -> None:
    assert ran(platform) == [
        "search/results 2026-02-09",
        "eval/answers search-answer|2026-02-09",
        "eval/answers demo/all-knowing|2026-02-09",
        "mart/accuracy 2026-02-09",
        "publish/analyst_snapshot",
    ]
    answers = platform.settings.home / "demo" / "answers" / REFERENCES[1] / "2026-02-09.csv"
    platform.import_answers(answers.read_bytes(), "a.csv", DEMO_WEEK, REFERENCES[1])
    assert ran(platform) == [
        "eval/answers demo/frozen-2025-09|2026-02-09",
        "mart/accuracy 2026-02-09",
        "publish/analyst_snapshot",
    ]
    file = platform.settings.home / "demo" / "versions" / "2026-02-09.csv"
    corrected = file.read_bytes().replace(b"is still the mayor", b"remains the mayor")
    assert corrected != file.read_bytes()
    platform.import_version(corrected, Source(DEMO_WEEK, "v2.csv", "demo"))
    done = ran(platform)
    assert done[:3] == [
        "freshqa/questions 2026-02-09",
        "freshqa/question_links",
        "freshqa/changes 2026-02-09",
    ]
    assert "eval/answers demo/all-knowing|2026-02-09" in done
    assert not any("2026-01" in step for step in done)
    assert ran(platform) == []


def test_a_revised_version_in_the_middle_renews_both_its_neighbours(platform: Platform) -> None:
    platform.refresh_benchmark(quiet)
    file = platform.settings.home / "demo" / "versions" / "2026-01-19.csv"
    corrected = file.read_bytes().replace(b"is still the mayor", b"remains the mayor")
    platform.import_version(corrected, Source(date(2026, 1, 19), "v2.csv", "demo"))
    done = [f"{s.assets[0]} {s.partition or ''}".strip() for s in platform.refresh_benchmark(quiet)]
    assert done == [
        "freshqa/questions 2026-01-19",
        "freshqa/question_links",
        "freshqa/changes 2026-01-19",
        "freshqa/changes 2026-01-26",
        "freshqa/volatility",
    ]


def test_any_week_of_the_corpus_can_be_evaluated(platform: Platform) -> None:
    platform.refresh(date(2026, 1, 12), ["search-answer"], quiet)
    with platform.warehouse.reader() as con:
        rows = con.execute("SELECT DISTINCT week, version FROM mart.accuracy").fetchall()
        newest = con.execute("SELECT max(date) FROM search.evidence").fetchall()[0][0]
    assert rows == [(date(2026, 1, 12), date(2026, 1, 12))]
    assert newest <= date(2026, 1, 12)


def test_a_second_refresh_asks_no_model_again(tmp_path: Path, demo: Demo) -> None:
    platform = demo_platform(tmp_path, demo, ())
    system = '[endpoints.e]\nurl = "{}"\n[systems.m]\nmethod = "closed_book"\nendpoint = "e"\nmodel = "m"\n'
    with openai_server(lambda *_: Reply("Nobody knows.")) as server:
        asking = Platform(settings_of(tmp_path, system.format(server.url)))
        asking.refresh(DEMO_WEEK, ["m"], quiet)
        assert len(server.requests) == 60
        assert asking.refresh(DEMO_WEEK, ["m"], quiet) == []
        asking.forget_answers(DEMO_WEEK, "m")
        assert asking.refresh(DEMO_WEEK, ["m"], quiet) != []
        assert len(server.requests) == 60
    platform.instance.dispose()


def test_unknown_system_and_week_are_named(platform: Platform) -> None:
    with pytest.raises(
        UserError, match="no system 'gpt-9' in week 2026-02-09: known are search-answer"
    ):
        platform.refresh(DEMO_WEEK, ["gpt-9"], quiet)
    with pytest.raises(UserError, match="is not a Monday"):
        platform.refresh(date(2026, 2, 10), [], quiet)


def test_without_results_the_week_fails_with_what_to_do(tmp_path: Path, demo: Demo) -> None:
    platform = demo_platform(tmp_path, demo, ())
    (tmp_path / "corpus.jsonl").unlink()
    with pytest.raises(RefreshError, match="wikipedia cannot search it: import them"):
        platform.refresh(DEMO_WEEK, [], quiet)
    corpus = Platform(settings_of(tmp_path, engine="corpus"))
    with pytest.raises(RefreshError, match=r"no corpus at .*corpus.jsonl: put documents there"):
        corpus.refresh(DEMO_WEEK, [], quiet)


def test_an_incomplete_snapshot_blocks_everything_after_it(platform: Platform) -> None:
    platform.refresh_benchmark(quiet)
    with platform.warehouse.reader() as con:
        key, query = con.execute(
            "SELECT question_key, question FROM freshqa.current_questions WHERE version = ? LIMIT 1",
            [DEMO_WEEK],
        ).fetchall()[0]
    platform.archive.put_searches(
        DEMO_WEEK, "recorded", DEMO_WEEK, [(key, query, DEMO_WEEK, b"{}")]
    )
    with pytest.raises(RefreshError, match="check complete: 59 of 60 questions were not searched"):
        platform.refresh(DEMO_WEEK, [], quiet)
    with platform.warehouse.reader() as con:
        assert con.execute("SELECT count(*) FROM search.evidence").fetchall() == [(0,)]
    assert not platform.settings.published.exists()


def test_a_mostly_unrated_week_is_not_published(tmp_path: Path, demo: Demo) -> None:
    strict = demo_platform(tmp_path, demo, ())
    answers = tmp_path / "few.csv"
    first = demo.wording(demo.questions[0], DEMO_WEEK)
    answers.write_text(f'question,answer\n"{first}",Ana\n')
    strict.import_answers(answers.read_bytes(), "few.csv", DEMO_WEEK, "few")
    with pytest.raises(
        RefreshError, match=r"check unrated_share: 9\d.\d% of 120 ratings are unrated"
    ):
        strict.refresh(DEMO_WEEK, ["few"], quiet)
    with pytest.raises(RefreshError, match="unrated_share"):
        strict.refresh(DEMO_WEEK, ["few"], quiet)
    assert not strict.settings.published.exists()
    lenient = Platform(settings_of(tmp_path, max_unrated=1))
    lenient.refresh(DEMO_WEEK, ["few"], quiet)
    with lenient.warehouse.reader() as con:
        row = con.execute(
            "SELECT asked, answered, judged, unrated, bound_low, bound_high FROM mart.accuracy "
            "WHERE slice = 'overall' AND mode = 'relaxed'"
        ).fetchall()[0]
    assert row[0] == row[2] + row[3]
    assert row[5] - row[4] == pytest.approx(row[3] / row[0])


def test_a_failing_system_does_not_hold_up_the_others_and_can_be_forgotten(
    tmp_path: Path, demo: Demo
) -> None:
    platform = demo_platform(tmp_path, demo, ())
    first = demo.wording(demo.questions[0], DEMO_WEEK)
    few = f'question,answer\n"{first}",Ana\n'.encode()
    for name in ("aa", "zz"):
        platform.import_answers(few, "few.csv", DEMO_WEEK, name)
    with pytest.raises(RefreshError, match="aa.*zz.*nothing was published"):
        platform.refresh(DEMO_WEEK, [], quiet)
    with platform.warehouse.reader() as con:
        systems = con.execute("SELECT DISTINCT system FROM mart.accuracy ORDER BY 1").fetchall()
    assert ("search-answer",) in systems
    for name in ("aa", "zz"):
        assert platform.forget_answers(DEMO_WEEK, name) == len(demo.questions)
    platform.refresh(DEMO_WEEK, [], quiet)
    with open_latest(platform.settings.published) as con:
        left = con.execute("SELECT DISTINCT system FROM mart.accuracy").fetchall()
    assert left == [("search-answer",)]


def test_answers_of_a_configured_system_are_refused(platform: Platform) -> None:
    with pytest.raises(UserError, match="choose another name"):
        platform.import_answers(b"question,answer\n", "a.csv", DEMO_WEEK, "search-answer")


def saved(query: str, title: str = "t") -> bytes:
    return json.dumps(
        {"search_parameters": {"q": query}, "organic_results": [{"title": title}]}
    ).encode()


def test_other_results_take_the_place_of_a_snapshot_only_when_told(
    platform: Platform, demo: Demo
) -> None:
    query, week = demo.wording(demo.questions[0], DEMO_WEEK), DEMO_WEEK

    def take(content: bytes, *, replace: bool = False) -> int:
        return platform.import_snapshot(content, "s.json", week, week, None, replace=replace)

    assert take(saved(query)) == 1
    assert take(saved(query)) == 0
    with pytest.raises(UserError, match="holds 1 other results .*--replace"):
        take(saved(query, "other"))
    assert take(saved(query, "other"), replace=True) == 1
    (search,) = platform.archive.searches(week)
    assert b"other" in platform.archive.get(search.payload_hash)


def test_a_replaced_snapshot_is_evaluated_again(platform: Platform, demo: Demo) -> None:
    week = DEMO_WEEK
    queries = [demo.wording(q, week) for q in demo.questions]

    def take(title: str) -> None:
        content = b"[" + b",".join(saved(query, title) for query in queries) + b"]"
        platform.import_snapshot(content, "s.json", week, week, None, replace=True)
        platform.refresh(week, ["search-answer"], quiet)

    for title in ("first", "second"):
        take(title)
        with platform.warehouse.reader() as con:
            given = con.execute("SELECT DISTINCT answer FROM eval.answers").fetchall()
        assert given == [(title,)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lambda q: b"[" + saved(q) + b"," + saved(q) + b"]",
            "record 2: the question is there twice",
        ),
        (lambda q: saved(q).replace(b'[{"title": "t"}]', b"5"), "record 1: not a search response"),
        (lambda q: saved(q).replace(b'{"title": "t"}', b'"t"'), "record 1: not a search response"),
        (lambda _: saved("What else?"), r"'What else\?' is no question"),
    ],
)
def test_saved_results_that_cannot_be_read_are_refused_at_once(
    platform: Platform, demo: Demo, content: Callable[[str], bytes], message: str
) -> None:
    query = demo.wording(demo.questions[0], DEMO_WEEK)
    with pytest.raises(UserError, match=message):
        platform.import_snapshot(content(query), "s.json", DEMO_WEEK, DEMO_WEEK, None)
    assert platform.archive.searches(DEMO_WEEK) == []


def test_real_week(tmp_path: Path, real: Path) -> None:
    """The main job on real input: a version, its saved searches, the paper's search baseline."""
    platform = Platform(settings_of(tmp_path))
    version = date(2024, 3, 11)
    file = real / "versions" / "2024-03-11.csv"
    platform.import_version(file.read_bytes(), Source(version, file.name))
    searches = real / "search" / "serpapi_evidence_600_2024-03-13.json"
    new = platform.import_snapshot(
        searches.read_bytes(), searches.name, version, version, date(2024, 3, 13)
    )
    assert new == 600
    rated = real / "ratings" / "varun_freshprompt_gpt35_eval.xlsx"
    content, system = rated.read_bytes(), "gpt-3.5/freshprompt"
    assert platform.import_answers(content, rated.name, version, system) == 500
    platform.refresh(version, [], quiet)
    theirs = RatedAnswers(system, version, version, "relaxed", Columns("accuracy"))
    assert platform.import_rated_answers(content, rated.name, "gpt", theirs) == 500
    platform.refresh(version, [], quiet)
    with open_latest(platform.settings.published) as con:
        asked = dict(
            con.execute("SELECT slice, asked FROM mart.accuracy WHERE mode = 'strict'").fetchall()
        )
        correct = con.execute(
            "SELECT correct FROM mart.accuracy WHERE mode = 'relaxed' AND slice = 'overall' "
            "AND system = 'search-answer'"
        ).fetchall()[0][0]
        table = con.execute(
            "SELECT judge, asked, judged, overall, false_premise_before_2022 FROM mart.paper_table "
            "WHERE mode = 'relaxed' AND system = ? ORDER BY judge", [system],
        ).fetchall()  # fmt: skip
        people = con.sql(
            "SELECT slice, asked, judged FROM mart.accuracy WHERE judge = 'human:gpt'"
        ).fetchall()
    assert [row[:2] for row in table] == [("human:gpt", 500), ("lexical", 500)]
    assert table[0][3] == pytest.approx(317 / 500), "as many as the file calls correct"
    assert abs(table[0][3] - table[1][3]) < 0.1
    assert {name: n for name, n, _ in people} == asked
    assert all(n == judged for name, n, judged in people if name != "dev")
    assert asked == {
        "overall": 500, "valid premise": 376, "fast-changing": 127, "slow-changing": 125,
        "never-changing": 124, "before 2022": 140, "since 2022": 236, "one-hop": 280,
        "multi-hop": 96, "false premise": 124, "false premise before 2022": 90, "stable core": 500,
        "dev": 100,
    }  # fmt: skip
    assert 150 < correct < 350
