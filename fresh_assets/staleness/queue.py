"""The review queue of a week: risk from the history, signals from evidence and ratings."""

from datetime import date, timedelta

import duckdb
import polars as pl

from fresh_assets.staleness.history import observed, read_history
from fresh_assets.staleness.risk import RiskModel, fit, reasons

LONGEST_PROPOSAL = 80

_SIGNALS = """
WITH questions AS (
    SELECT question_key, question, answers FROM freshqa.current_questions
    WHERE version = $version
),
pieces AS (
    SELECT e.*, lower(strip_accents(concat_ws(' ', title, snippet, highlight))) AS text,
        len(list_filter(
            q.answers, lambda a: contains(text, lower(strip_accents(trim(a, ' .'))))
        )) > 0 AS holds_answer
    FROM search.evidence AS e JOIN questions AS q USING (question_key) WHERE week = $week
),
seen AS (
    SELECT question_key, count(*)::INTEGER AS evidence_pieces,
        count(*) FILTER (WHERE holds_answer)::INTEGER AS pieces_with_answer,
        max(date) AS newest_evidence, max_by(url, (date, url)) AS newest_url
    FROM pieces GROUP BY ALL
),
boxes AS (
    SELECT question_key,
        min_by(coalesce(highlight, snippet), (rank, engine)) AS box_says,
        min_by(holds_answer, (rank, engine)) AS box_holds_answer
    FROM pieces WHERE kind IN ('answer_box', 'knowledge_graph') GROUP BY ALL
),
rated AS (
    SELECT question_key, system, a.answer, bool_or(rating = 'incorrect') AS is_incorrect
    FROM eval.judgements AS j JOIN eval.answers AS a USING (week, system, question_key)
    WHERE week = $week AND mode = 'relaxed' AND is_current AND rating <> 'unrated'
    GROUP BY ALL
),
votes AS (
    SELECT question_key, count(*)::INTEGER AS systems_rated,
        count(*) FILTER (WHERE is_incorrect)::INTEGER AS systems_incorrect
    FROM rated GROUP BY ALL
),
alike AS (
    SELECT question_key, lower(strip_accents(trim(answer, ' .'))) AS said,
        any_value(answer) AS answer, count(*) AS systems
    FROM rated WHERE is_incorrect AND length(answer) <= $longest GROUP BY ALL
),
proposed AS (
    SELECT question_key, max_by(answer, systems) AS proposed
    FROM alike
    WHERE systems >= 2 AND EXISTS (
        FROM pieces WHERE pieces.question_key = alike.question_key AND contains(text, said)
    )
    GROUP BY ALL
),
moved AS (
    SELECT question_key, bool_or(box_changed) AS box_changed, max(drift) AS drift
    FROM search.drift WHERE week = $week GROUP BY ALL
)
SELECT question_key, question,
    coalesce(evidence_pieces, 0) AS evidence_pieces,
    coalesce(pieces_with_answer, 0) AS pieces_with_answer,
    box_says, box_changed, drift, newest_evidence, newest_url,
    coalesce(systems_rated, 0) AS systems_rated,
    coalesce(systems_incorrect, 0) AS systems_incorrect,
    coalesce(proposed, CASE WHEN NOT box_holds_answer THEN box_says END) AS proposed_answer
FROM questions
LEFT JOIN seen USING (question_key) LEFT JOIN boxes USING (question_key)
LEFT JOIN votes USING (question_key) LEFT JOIN proposed USING (question_key)
LEFT JOIN moved USING (question_key)
"""


def learn(history: pl.DataFrame, version: date) -> RiskModel | None:
    """The model of what was known at `version`; None while too little has changed."""
    known = observed(history).filter(pl.col("next_version") <= version)
    return fit(known) if len(known) else None


def review_queue(con: duckdb.DuckDBPyConnection, week: date, version: date) -> pl.DataFrame:
    """Content rows of mart.stale_answers for `week`, evaluated against `version`."""
    history = read_history(con)
    model = learn(history, version)
    ahead = max(1, (week + timedelta(days=6) - version).days)
    rows = history.filter(pl.col("version") == version).with_columns(days_ahead=ahead)
    told = list(reasons(model, rows)) if model else [[] for _ in range(len(rows))]
    risk = model.risk(rows) if model else [None] * len(rows)
    scored = rows.select("version", "question_key", "answers", "kind", "next_review").with_columns(
        risk=pl.Series(risk, dtype=pl.Float64),
        reasons=pl.Series(told, dtype=pl.List(pl.String)),
        is_overdue=(rows["days_to_review"] <= ahead).fill_null(value=False),
    )
    chosen = {"week": week, "version": version, "longest": LONGEST_PROPOSAL}
    signals = con.execute(_SIGNALS, chosen).pl()
    queue = scored.join(signals, on="question_key", how="left").sort(
        "risk", "is_overdue", "question_key", descending=[True, True, False], nulls_last=True
    )
    return queue.with_row_index("place", 1).with_columns(pl.col("place").cast(pl.Int32))
