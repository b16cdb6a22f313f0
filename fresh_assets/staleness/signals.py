"""What the evidence of a week and the systems say about a ground truth, beside its history."""

from datetime import date

import duckdb
import polars as pl

LONGEST_PROPOSAL = 80

_SIGNALS = """
WITH questions AS (
    SELECT question_key, question, answers, valid_from,
        list_distinct(list_filter(
            string_split_regex(lower(strip_accents(question)), '[^a-z0-9]+'), w -> length(w) > 3
        )) AS words
    FROM freshqa.ground_truth WHERE week = $week
),
pieces AS (
    SELECT e.*, lower(strip_accents(concat_ws(' ', title, snippet, highlight))) AS text,
        len(list_filter(
            q.answers, lambda a: contains(text, lower(strip_accents(trim(a, ' .'))))
        )) > 0 AS holds_answer,
        len(list_filter(q.words, w -> contains(text, w))) AS words_held
    FROM search.evidence AS e JOIN questions AS q USING (question_key) WHERE week = $week
),
on_topic AS (
    FROM pieces QUALIFY words_held >= 0.9 * max(words_held) OVER (PARTITION BY question_key)
),
newest AS (
    SELECT question_key, max_by(holds_answer, (date, url)) AS newest_holds_answer,
        bool_or(holds_answer) AS topic_holds_answer, max(date) AS newest_on_topic
    FROM on_topic GROUP BY question_key
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
    box_says, box_holds_answer, box_changed, drift, newest_evidence, newest_url,
    newest_holds_answer, topic_holds_answer, newest_on_topic > valid_from AS is_newer,
    coalesce(systems_rated, 0) AS systems_rated,
    coalesce(systems_incorrect, 0) AS systems_incorrect,
    coalesce(proposed, CASE WHEN NOT box_holds_answer THEN box_says END) AS proposed_answer
FROM questions
LEFT JOIN seen USING (question_key) LEFT JOIN newest USING (question_key)
LEFT JOIN boxes USING (question_key)
LEFT JOIN votes USING (question_key) LEFT JOIN proposed USING (question_key)
LEFT JOIN moved USING (question_key)
ORDER BY question_key
"""


def read_signals(con: duckdb.DuckDBPyConnection, week: date) -> pl.DataFrame:
    """One row a question of freshqa.ground_truth, in the order of the key.

    `proposed_answer`: a short answer that two systems rated incorrect gave alike and the evidence
    holds, else what an answer box without the ground truth says.
    """
    return con.execute(_SIGNALS, {"week": week, "longest": LONGEST_PROPOSAL}).pl()
