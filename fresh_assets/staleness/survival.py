"""How long a ground truth lives: Kaplan-Meier curves by kind of question."""

import duckdb
import polars as pl

_LIVES = """
WITH marked AS (
    SELECT question_key, version,
        CASE WHEN false_premise THEN 'false premise' ELSE fact_type END AS kind,
        answers[1] IS DISTINCT FROM lag(answers[1]) OVER of_question AS is_new
    FROM freshqa.current_questions
    WINDOW of_question AS (PARTITION BY question_key ORDER BY version)
),
numbered AS (
    SELECT *, count(*) FILTER (WHERE is_new) OVER (
        PARTITION BY question_key ORDER BY version
    ) AS number
    FROM marked
),
lives AS (
    SELECT question_key, number, min(version) AS born, max(version) AS last_seen,
        arg_max(kind, version) AS kind
    FROM numbered GROUP BY question_key, number
),
ended AS (
    SELECT *, lead(born) OVER (PARTITION BY question_key ORDER BY number) AS died FROM lives
)
SELECT kind, (coalesce(died, last_seen) - born)::INTEGER AS days, died IS NOT NULL AS has_changed
FROM ended WHERE coalesce(died, last_seen) > born
"""
SURVIVAL_SCHEMA = {
    "kind": pl.String, "days": pl.Int32, "at_risk": pl.Int32, "changed": pl.Int32,
    "survival": pl.Float64, "ci_low": pl.Float64, "ci_high": pl.Float64,
}  # fmt: skip


def survival_curves(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Content rows of freshqa.survival: share of first answers still true so many days after they
    were first seen, with a 95 % interval (Greenwood). Answers not seen to change are censored."""
    lives = con.sql(_LIVES).pl()
    curves = [_curve(kind, of_kind) for (kind,), of_kind in lives.group_by("kind")]
    return pl.concat([pl.DataFrame(schema=SURVIVAL_SCHEMA), *curves]).sort("kind", "days")


def _curve(kind: object, lives: pl.DataFrame) -> pl.DataFrame:
    from statsmodels.duration.survfunc import SurvfuncRight  # noqa: PLC0415  (1 s to import)

    found = SurvfuncRight(lives["days"].to_numpy(), lives["has_changed"].to_numpy().astype(int))
    curve = pl.DataFrame(
        {
            "kind": [str(kind)] * len(found.surv_times), "days": found.surv_times,
            "at_risk": found.n_risk, "changed": found.n_events, "survival": found.surv_prob,
            "margin": 1.96 * found.surv_prob_se,
        }
    ).with_columns(pl.col("margin").fill_nan(0))  # fmt: skip
    bounded = curve.with_columns(
        survival=pl.col("survival").clip(0, 1),
        ci_low=(pl.col("survival") - pl.col("margin")).clip(0, 1),
        ci_high=(pl.col("survival") + pl.col("margin")).clip(0, 1),
    )
    return bounded.select(pl.col(name).cast(kind) for name, kind in SURVIVAL_SCHEMA.items())
