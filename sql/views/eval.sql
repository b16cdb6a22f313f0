CREATE OR REPLACE VIEW eval.ratings AS
SELECT
    week,
    system,
    question_key,
    judge,
    mode,
    rating
FROM eval.judgements
WHERE is_current
UNION ALL
SELECT
    week,
    system,
    question_key,
    'human:' || rater AS judge,
    mode,
    rating
FROM eval.human_ratings AS people
WHERE
    EXISTS (
        SELECT 1 FROM eval.judgements AS judged
        WHERE
            judged.week = people.week
            AND judged.system = people.system
            AND judged.question_key = people.question_key
            AND judged.answer_hash = people.answer_hash
            AND judged.is_current
    );
COMMENT ON VIEW eval.ratings IS 'What judges and people (human:NAME) say of the present answers; a person counts only for the answer that was seen.';

CREATE OR REPLACE VIEW eval.majority AS
WITH votes AS (
    SELECT
        week,
        system,
        question_key,
        mode,
        count(*) AS judges,
        count(*) FILTER (WHERE rating = 'correct') AS correct,
        count(*) FILTER (WHERE rating = 'incorrect') AS incorrect
    FROM eval.judgements
    WHERE is_current AND judge <> 'lexical'
    GROUP BY week, system, question_key, mode
)

SELECT
    *,
    CASE
        WHEN correct > judges / 2 THEN 'correct'
        WHEN incorrect > judges / 2 THEN 'incorrect'
        ELSE 'unrated'
    END AS rating,
    correct > 0 AND incorrect > 0 AS is_disputed
FROM votes;
COMMENT ON VIEW eval.majority IS 'What most model judges say of an answer, and whether they disagree.';

CREATE OR REPLACE VIEW eval.rating_changes AS
WITH shown AS (
    SELECT
        answers.week,
        answers.system,
        answers.question_key,
        hash(list(concat_ws('|', e.url, e.title, e.snippet, e.highlight) ORDER BY e.rank))
            AS evidence
    FROM eval.answers AS answers
    INNER JOIN search.evidence AS e
        ON
            answers.week = e.week AND answers.engine = e.engine
            AND answers.question_key = e.question_key
            AND list_contains(answers.evidence_ranks, e.rank)
    GROUP BY answers.week, answers.system, answers.question_key
),

rated AS (
    SELECT
        *,
        concat_ws('|', system_hash, eval.answers.model) AS asked
    FROM eval.judgements
    INNER JOIN eval.answers USING (week, system, question_key)
    LEFT JOIN shown USING (week, system, question_key)
    WHERE is_current
),

lagged AS (
    SELECT
        *,
        lag(week) OVER earlier AS previous_week,
        lag(rating) OVER earlier AS previous_rating,
        lag(truth_hash) OVER earlier AS previous_truth,
        lag(judge_hash) OVER earlier AS previous_judge,
        lag(asked) OVER earlier AS previous_asked,
        lag(evidence) OVER earlier AS previous_evidence,
        lag(answer_hash) OVER earlier AS previous_answer
    FROM rated
    WINDOW earlier AS (PARTITION BY system, question_key, judge, mode ORDER BY week)
)

SELECT
    week,
    system,
    question_key,
    judge,
    mode,
    rating,
    previous_week,
    previous_rating,
    truth_hash <> previous_truth AS ground_truth_changed,
    judge_hash <> previous_judge AS judge_changed,
    asked <> previous_asked AS model_changed,
    coalesce(evidence <> previous_evidence, evidence IS NOT NULL OR previous_evidence IS NOT NULL)
        AS evidence_changed,
    answer_hash <> previous_answer AS answer_changed,
    CASE
        WHEN truth_hash <> previous_truth THEN 'ground truth changed'
        WHEN judge_hash <> previous_judge THEN 'judge changed'
        WHEN asked <> previous_asked THEN 'model changed'
        WHEN evidence_changed THEN 'evidence changed'
        WHEN answer_hash <> previous_answer THEN 'answer changed'
        ELSE 'rating varies'
    END AS cause
FROM lagged
WHERE rating <> previous_rating;
COMMENT ON VIEW eval.rating_changes IS 'Answers rated otherwise than in the last week of the same system, with everything that changed; cause is the first of it.';
