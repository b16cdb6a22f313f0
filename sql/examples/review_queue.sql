-- Which answers should be looked at this week, why, and what may they be now?
SELECT
    place,
    round(risk, 2) AS risk,
    question,
    answers,
    reasons,
    proposed_answer,
    pieces_with_answer || ' of ' || evidence_pieces AS evidence_with_answer,
    newest_url
FROM mart.stale_answers
WHERE week = (SELECT max(week) FROM mart.stale_answers)
ORDER BY place
LIMIT 20;
