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
