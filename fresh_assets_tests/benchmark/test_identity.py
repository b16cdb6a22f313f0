"""Question keys over versions: exact text, rewording, replacement, coexistence."""

from datetime import date
from pathlib import Path

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from fresh_assets.benchmark.identity import link_questions, normalise, question_hash
from fresh_assets.benchmark.version_file import parse_version

CEO_1 = "Who is the CEO of the company Twitter?"
CEO_2 = "Who is the current CEO of the company Twitter?"
OTHER = "How many moons does Saturn have?"


def version(sequence: int, *texts: str, day: int | None = None, **fields: object) -> pl.DataFrame:
    rows = {"split": "TEST", "false_premise": False, **fields}
    return pl.DataFrame({"question": texts}).with_columns(
        pl.col("question")
        .map_elements(question_hash, return_dtype=pl.String)
        .alias("question_hash"),
        sequence=pl.lit(sequence),
        version=pl.lit(date(2024, 1, day or sequence)),
        **{name: pl.lit(value) for name, value in rows.items()},
    )


def links(*versions: pl.DataFrame) -> dict[str, tuple[str, str]]:
    columns = ["sequence", "version", "question_hash", "question", "split", "false_premise"]
    frame = link_questions(pl.concat(v.select(columns) for v in versions))
    return {
        q: (key, method)
        for q, key, method in frame.select("question", "question_key", "method").rows()
    }


def test_case_quotes_spaces_and_final_marks_do_not_count() -> None:
    assert normalise("What’s  “new” – today? ") == normalise('what\'s "new" - TODAY')
    assert question_hash(CEO_1) != question_hash(CEO_2)


@given(st.text(min_size=1))
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


def test_unchanged_text_keeps_its_key() -> None:
    found = links(version(1, CEO_1, OTHER), version(2, OTHER, CEO_1))
    assert len({key for key, _ in found.values()}) == 2
    assert {method for _, method in found.values()} == {"new"}


def test_rewording_carries_the_key_on() -> None:
    found = links(version(1, CEO_1, OTHER), version(2, CEO_2, OTHER))
    assert found[CEO_2] == (found[CEO_1][0], "reworded")


def test_import_order_does_not_change_known_keys() -> None:
    found = links(version(1, CEO_2, OTHER, day=20), version(2, CEO_1, OTHER, day=10))
    assert found[CEO_1] == (found[CEO_2][0], "reworded")
    assert found[CEO_2][0] == question_hash(CEO_2)


def test_other_split_or_premise_is_another_question() -> None:
    split = links(version(1, CEO_1), version(2, CEO_2, split="DEV"))
    premise = links(version(1, CEO_1), version(2, CEO_2, false_premise=True))
    for found in (split, premise):
        assert found[CEO_2] == (question_hash(CEO_2), "new")


def test_replacement_is_a_new_question() -> None:
    found = links(version(1, CEO_1), version(2, OTHER))
    assert found[OTHER] == (question_hash(OTHER), "new")


def test_wordings_that_stand_side_by_side_are_two_questions() -> None:
    found = links(version(1, CEO_1), version(2, CEO_2), version(3, CEO_1, CEO_2))
    assert found[CEO_1][0] != found[CEO_2][0]


def test_a_correction_of_the_same_version_may_reword() -> None:
    found = links(version(1, CEO_1, day=1), version(2, CEO_2, day=1))
    assert found[CEO_2] == (found[CEO_1][0], "reworded")


def test_one_old_wording_is_taken_once() -> None:
    third = "Who is now the CEO of the company Twitter?"
    found = links(version(1, CEO_1), version(2, CEO_2, third))
    assert len({key for key, _ in found.values()}) == 2


def test_a_wording_that_comes_back_has_its_old_key() -> None:
    found = links(version(1, CEO_1, OTHER), version(2, OTHER), version(3, CEO_1, OTHER))
    assert found[CEO_1][0] == question_hash(CEO_1)


def test_real_versions_keep_their_split_over_rewordings(real: Path) -> None:
    frames = []
    for sequence, file in enumerate(sorted((real / "normalized").glob("*.csv"))):
        questions = parse_version(file.read_bytes(), file.name).questions
        day = date.fromisoformat(file.stem[-10:])
        frames.append(questions.with_columns(sequence=pl.lit(sequence), version=pl.lit(day)))
    found = link_questions(pl.concat(frames))
    assert found["question_key"].n_unique() < len(found)
    reworded = found.filter(pl.col("method") == "reworded")
    assert reworded["score"].min() >= 68
    worst = reworded.sort("score").row(0, named=True)
    assert worst["question"].startswith(
        "Which natural wonder in the United States is part of the New 7"
    )
    per_version = (
        pl.concat(frames)
        .join(found, on="question_hash")
        .group_by("version")
        .agg(pl.len(), pl.col("question_key").n_unique().alias("keys"))
    )
    assert per_version["len"].to_list() == per_version["keys"].to_list() == [600] * 8
