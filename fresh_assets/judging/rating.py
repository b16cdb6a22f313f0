"""Rate a frame of answers: with the lexical judge and with every configured model judge."""

import asyncio
import os
import secrets
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl

from fresh_assets.answers.answering import connect, make_pool
from fresh_assets.answers.systems import Judge, Systems
from fresh_assets.judging import fresheval, lexical
from fresh_assets.judging.lexical import Rating, Truth
from fresh_assets.llm.pool import Pool, stream
from fresh_assets.llm.request import Outcome, Parameters, Request
from fresh_assets.settings import Settings
from fresh_assets.warehouse.archive import sha256

RATING_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "question_key": pl.String,
    "judge": pl.String,
    "mode": pl.String,
    "rating": pl.String,
    "comment": pl.String,
    "is_current": pl.Boolean,
    "answer_hash": pl.String,
    "truth_hash": pl.String,
    "judge_hash": pl.String,
    "model": pl.String,
    "raw_text": pl.String,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "cost": pl.Float64,
}
IDENTITY = ["question_key", "judge", "mode", "answer_hash", "truth_hash", "judge_hash"]
Answer = Mapping[str, Any]
"""question_key, question, answers (list), false_premise, state, answer, reason."""


def rate_answers(answers: pl.DataFrame) -> pl.DataFrame:
    """Ratings of the lexical judge, one row an answer and mode (columns of RATING_SCHEMA)."""
    rows = [
        _row(answer, lexical.NAME, mode, lexical.HASH, rating)
        for answer in answers.iter_rows(named=True)
        for mode in lexical.MODES
        for rating in [_unasked(answer) or _lexical(answer, mode)]
    ]
    return pl.DataFrame(rows, schema=RATING_SCHEMA)


def rate_with_model(
    answers: pl.DataFrame, judge: Judge, systems: Systems, settings: Settings, today: date
) -> pl.DataFrame:
    """Ratings of a model judge, one row an answer and mode (columns of RATING_SCHEMA).

    A reply without a verdict is asked for again; what stays without one is unrated.
    """
    asked = [(answer, mode) for answer in answers.iter_rows(named=True) for mode in judge.modes]
    with connect(judge, systems, settings) as endpoint:
        name = endpoint.name or endpoint.url
        key = judge_key(settings.judge_key_file)

        async def rate_all() -> list[dict[str, Any]]:
            async with make_pool(judge, endpoint, settings) as pool:

                async def rate(item: tuple[Answer, str]) -> dict[str, Any]:
                    return await _rate(item[0], item[1], judge, name, pool, today, key)

                return [row async for row in stream(asked, rate, endpoint.most_at_once)]

        rows = asyncio.run(rate_all())
    return pl.DataFrame(rows, schema=RATING_SCHEMA).sort("question_key", "mode")


def with_history(current: pl.DataFrame, earlier: pl.DataFrame) -> pl.DataFrame:
    """Current ratings, and those of `earlier` that they do not repeat, no longer current."""
    old = earlier.select(*RATING_SCHEMA).join(current, on=IDENTITY, how="anti")
    return pl.concat([current, old.with_columns(is_current=pl.lit(value=False))])


def judge_hash(judge: Judge, mode: str) -> str:
    """Hash of the judge's configuration and of the prompt of a mode."""
    return sha256(f"{judge.hash}|{mode}|{fresheval.prompt_hash(mode)}".encode())[:16]


def judge_key(file: Path) -> bytes:
    """The home's secret for the marks around responses; made on first use."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        temporary.write_bytes(secrets.token_bytes(32))
        temporary.chmod(0o600)
        temporary.replace(file)
    return file.read_bytes()


def judge_request(
    response: str, truth: Truth, mode: str, judge: Judge, endpoint: str, today: date, key: bytes
) -> Request:
    """The request that rates a response."""
    parameters = Parameters(
        temperature=None if judge.reasoning else judge.temperature,
        max_tokens=judge.max_tokens,
        limit_name="max_completion_tokens" if judge.reasoning else "max_tokens",
        seed=judge.seed,
        response_format=fresheval.SCHEMA if judge.structured else None,
    )
    prompt = fresheval.messages(response, truth, mode, today, key)
    return Request(endpoint, judge.model, prompt, parameters, judge.repeat)


async def _rate(
    answer: Answer, mode: str, judge: Judge, endpoint: str, pool: Pool, today: date, key: bytes
) -> dict[str, Any]:
    hash_ = judge_hash(judge, mode)
    if unasked := _unasked(answer):
        return _row(answer, judge.name, mode, hash_, unasked)
    if not (answer["answer"] or "").strip():
        return _row(answer, judge.name, mode, hash_, Rating("incorrect", "no response"))
    request = judge_request(answer["answer"], _truth(answer), mode, judge, endpoint, today, key)
    outcome = await pool.complete(request, lambda text: fresheval.parse(text) is not None)
    verdict = fresheval.parse(outcome.text) if outcome.state == "ok" else None
    rating = (
        Rating(verdict.rating, verdict.comment)
        if verdict
        else Rating("unrated", f"no verdict: {outcome.problem or outcome.state}")
    )
    return _row(answer, judge.name, mode, hash_, rating, outcome)


def _row(
    answer: Answer,
    judge: str,
    mode: str,
    hash_: str,
    rating: Rating,
    outcome: Outcome | None = None,
) -> dict[str, Any]:
    truth = _truth(answer)
    of_truth = repr((truth.question, list(truth.answers), truth.false_premise))
    return {
        "question_key": answer["question_key"],
        "judge": judge,
        "mode": mode,
        "rating": rating.rating,
        "comment": rating.comment,
        "is_current": True,
        "answer_hash": _hash(f"{answer['state']}|{answer['answer']}"),
        "truth_hash": _hash(of_truth),
        "judge_hash": hash_,
        "model": outcome and outcome.model,
        "raw_text": outcome and outcome.text,
        "input_tokens": outcome and outcome.usage.input,
        "output_tokens": outcome and outcome.usage.output,
        "cost": outcome and outcome.cost,
    }


def _truth(answer: Answer) -> Truth:
    answers: Sequence[str] = answer["answers"]
    return Truth(answer["question"], answers, answer["false_premise"])


def _lexical(answer: Answer, mode: str) -> Rating:
    return lexical.rate(answer["answer"] or "", _truth(answer), mode)


def _unasked(answer: Answer) -> Rating | None:
    if answer["state"] in {"error", "deferred"}:
        return Rating("unrated", f"not asked: {answer['reason']}")
    return None


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass"))[:16]
