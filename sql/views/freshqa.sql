CREATE OR REPLACE VIEW freshqa.current_questions AS
SELECT
    questions.*,
    links.question_key
FROM freshqa.questions AS questions
LEFT JOIN freshqa.question_links AS links USING (question_hash)
QUALIFY questions.revision = max(questions.revision) OVER (PARTITION BY questions.version);
COMMENT ON VIEW freshqa.current_questions IS 'Questions of the newest revision of every version, with their question key.';

CREATE OR REPLACE VIEW freshqa.answer_history AS
WITH marked AS (
    SELECT
        question_key,
        version,
        question,
        answers,
        coalesce(
            answers <> lag(answers) OVER (PARTITION BY question_key ORDER BY version), TRUE
        ) AS is_change
    FROM freshqa.current_questions
),

numbered AS (
    SELECT
        *,
        count(*) FILTER (WHERE is_change) OVER (
            PARTITION BY question_key ORDER BY version
        ) AS interval_number
    FROM marked
),

intervals AS (
    SELECT
        question_key,
        interval_number,
        any_value(answers) AS answers,
        arg_max(question, version) AS question,
        min(version) AS valid_from,
        max(version) AS last_seen
    FROM numbered
    GROUP BY question_key, interval_number
)

SELECT
    question_key,
    question,
    answers,
    valid_from,
    last_seen,
    lead(valid_from) OVER (PARTITION BY question_key ORDER BY interval_number) AS valid_to
FROM intervals;
COMMENT ON VIEW freshqa.answer_history IS 'Validity interval of every ground truth: from valid_from up to, without, valid_to (NULL: still valid or retired after last_seen).';

CREATE OR REPLACE VIEW freshqa.change_counts AS
SELECT
    previous_version,
    version,
    count(*) FILTER (WHERE field = 'presence' AND detail = 'added') AS added,
    count(*) FILTER (WHERE field = 'presence' AND detail = 'removed') AS removed,
    count(*) FILTER (WHERE field = 'question') AS reworded,
    count(*) FILTER (WHERE field = 'id') AS ids_moved,
    count(*) FILTER (WHERE field = 'answers') AS answers_changed,
    count(*) FILTER (WHERE field = 'answers' AND detail <> 'aliases') AS first_answers_changed,
    count(*) FILTER (WHERE field = 'answers' AND detail = 'replaced') AS answers_replaced,
    count(*) FILTER (WHERE field = 'effective_year') AS effective_years_changed,
    count(*) FILTER (WHERE field = 'next_review') AS next_reviews_changed,
    count(*) FILTER (WHERE field = 'false_premise') AS premises_flipped,
    count(*) FILTER (WHERE field = 'sources') AS sources_changed
FROM freshqa.changes
GROUP BY previous_version, version;
COMMENT ON VIEW freshqa.change_counts IS 'How many questions changed in what way between neighbouring versions.';
