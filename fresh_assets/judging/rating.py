"""Rate a frame of answers with the lexical judge."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from fresh_assets.judging.lexical import HASH, MODES, NAME, Rating, Truth, rate
from fresh_assets.warehouse.archive import sha256

RATING_SCHEMA = {
    "question_key": pl.String,
    "judge": pl.String,
    "mode": pl.String,
    "rating": pl.String,
    "comment": pl.String,
    "truth_hash": pl.String,
    "judge_hash": pl.String,
}


def rate_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Content rows of eval.judgements: one an answer and mode.

    `answers`: question_key, question, answers (list), false_premise, state, answer, reason.
    """
    rows = (row for answer in answers.iter_rows(named=True) for row in _rows(answer))
    return pl.DataFrame(list(rows), schema=RATING_SCHEMA, orient="row")


def _rows(answer: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    truth = Truth(answer["question"], answer["answers"], answer["false_premise"])
    truth_hash = sha256(repr((truth.question, list(truth.answers), truth.false_premise)).encode())[
        :16
    ]
    for mode in MODES:
        rating = (
            Rating("unrated", f"not asked: {answer['reason']}")
            if answer["state"] in {"error", "deferred"}
            else rate(answer["answer"] or "", truth, mode)
        )
        yield answer["question_key"], NAME, mode, rating.rating, rating.comment, truth_hash, HASH
