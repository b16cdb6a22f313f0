"""The golden set: what people rated is judged anew every week, and a judge that drifts is told."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import polars as pl

from fresh_assets.judging.golden import read_golden
from fresh_assets.warehouse.slices import write_slice
from fresh_assets_tests.conftest import settings_of
from fresh_assets_tests.openai_server import Reply, openai_server
from fresh_assets_tests.scoring.test_slices import SYSTEM, WEEK, week_by_hand

JUDGE = '[endpoints.e]\nurl = "{}"\n[judges.j]\nendpoint = "e"\nmodel = "m"\nmodes = ["relaxed"]\n'


def test_a_judge_that_drifts_is_told(tmp_path: Path) -> None:
    verdict = ["correct"]

    def reply(_: dict[str, Any], __: int) -> Reply:
        return Reply(f"comment: looked at it\nevaluation: {verdict[0]}")

    with openai_server(reply) as server:
        platform = week_by_hand(settings_of(tmp_path, JUDGE.format(server.url)))
        with platform.warehouse.reader() as con:
            rows = con.execute(
                "SELECT system, question_key, answer_hash FROM eval.judgements "
                "WHERE system = ? AND mode = 'relaxed' ORDER BY ALL LIMIT 3", [SYSTEM],
            ).pl()  # fmt: skip
        said = [("ana", ["correct"] * 3), ("tom", ["correct", "correct", "incorrect"])]
        people = pl.concat(
            rows.with_columns(
                rater=pl.lit(name), rating=pl.Series(ratings), mode=pl.lit("relaxed"),
                comment=pl.lit(None, pl.String), file_name=pl.lit("f"),
            )
            for name, ratings in said
        )  # fmt: skip
        write_slice(platform.warehouse, "eval.human_ratings", {"week": str(WEEK)}, people)
        first = platform._run(["eval/golden_ratings"], str(WEEK), lambda _: None)
        asked = len(server.requests)
        verdict[0] = "incorrect"
        later = str(WEEK + timedelta(weeks=1))
        second = platform._run(["eval/golden_ratings"], later, lambda _: None)
        assert asked == 2, "the answer on which people differ is not golden"
        assert len(server.requests) == 4, "last week's replies are not served again"

    assert first.warnings == ()
    (warning,) = second.warnings
    assert "j, relaxed: 100.0% of 2 ratings changed (as people say: 100% before, 0% now)" in warning
    with platform.warehouse.reader() as con:
        found = con.sql(
            "SELECT judge, count(*), count(*) FILTER (WHERE rating = people_say) "
            f"FROM eval.golden_ratings WHERE week = '{later}' GROUP BY judge ORDER BY judge"
        ).fetchall()
        assert read_golden(con, WEEK - timedelta(weeks=1)).is_empty()
    assert found == [("j", 2, 0), ("lexical", 2, 2)]
