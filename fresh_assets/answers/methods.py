"""Methods without a model: from questions and evidence to answers, a row for every question."""

import polars as pl

from fresh_assets.answers.asking import ANSWER_SCHEMA
from fresh_assets.errors import UserError


def search_answer(questions: pl.DataFrame, evidence: pl.DataFrame) -> pl.DataFrame:
    """The paper's search baseline (arXiv 2310.03214): the answer box, else the top snippet.

    `questions`: question_key. `evidence`: rows of search.evidence of one engine and week. A
    question without any evidence is an error, since the search brought nothing to answer from.
    """
    text = pl.coalesce(
        pl.when(pl.col("kind") == "answer_box").then("highlight"), "snippet", "title"
    )
    best = (
        evidence.filter(pl.col("kind").is_in(["answer_box", "organic"]))
        .with_columns(text.alias("answer"), (pl.col("kind") != "answer_box").alias("is_second"))
        .filter(pl.col("answer").is_not_null())
        .sort("is_second", "rank")
        .unique("question_key", keep="first", maintain_order=True)
        .select("question_key", "answer", "engine", pl.concat_list("rank").alias("evidence_ranks"))
    )
    searched = evidence.select("question_key", has_evidence=pl.lit(value=True)).unique(
        "question_key"
    )
    rows = questions.select("question_key").join(best, on="question_key", how="left")
    rows = rows.join(searched, on="question_key", how="left", maintain_order="left")
    state = (
        pl.when(pl.col("answer").is_not_null())
        .then(pl.lit("answered"))
        .when("has_evidence")
        .then(pl.lit("empty"))
        .otherwise(pl.lit("error"))
    )
    reason = (
        pl.when(pl.col("answer").is_null() & pl.col("has_evidence"))
        .then(pl.lit("neither answer box nor result text"))
        .when(pl.col("answer").is_null())
        .then(pl.lit("the search brought no evidence"))
    )
    return _as_answers(rows.with_columns(state=state, reason=reason))


def recorded(questions: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Answers imported from a file; a question the file lacks is an error, a blank one is empty.

    `questions`: question_key. `answers`: question_key, answer.
    """
    rows = questions.select("question_key").join(
        answers, on="question_key", how="left", maintain_order="left"
    )
    blank = pl.col("answer").str.strip_chars() == ""
    missing = pl.col("answer").is_null()
    state = pl.when(missing).then(pl.lit("error")).when(blank).then(pl.lit("empty"))
    reason = (
        pl.when(missing).then(pl.lit("not in the imported file")).when(blank).then(pl.lit("blank"))
    )
    return _as_answers(
        rows.with_columns(
            state=state.otherwise(pl.lit("answered")),
            reason=reason,
            answer=pl.when(~blank).then("answer"),
            engine=pl.lit(None, dtype=pl.String),
            evidence_ranks=pl.lit([], dtype=pl.List(pl.Int32)),
        )
    )


def evidence_of(evidence: pl.DataFrame, engine: str | None, system: str) -> pl.DataFrame:
    """The week's evidence of `engine`; of the only engine where none is named."""
    engines = sorted(evidence["engine"].unique())
    if engine is None and len(engines) > 1:
        raise UserError(
            f"the week has evidence of {', '.join(engines)}: "
            f"set `engine` for {system} in systems.toml"
        )
    if engine is not None and engines and engine not in engines:
        raise UserError(
            f"the week has no evidence of {engine!r} ({system} in systems.toml), only of "
            f"{', '.join(engines)}"
        )
    return evidence if engine is None else evidence.filter(pl.col("engine") == engine)


def _as_answers(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with every column of an answer; NULL where a method has nothing to say."""
    ranks = pl.col("evidence_ranks").fill_null([]).cast(pl.List(pl.Int32))
    missing = {name: kind for name, kind in ANSWER_SCHEMA.items() if name not in rows.columns}
    empty = [pl.lit(None, dtype=kind).alias(name) for name, kind in missing.items()]
    return rows.with_columns(ranks, *empty).select(*ANSWER_SCHEMA)
