-- Where does a number come from? Every question behind one cell of mart.accuracy, with the ground
-- truth, the answer, the evidence it used, the rating and the hash of the archived payload.
SELECT
    questions.question,
    questions.answers AS ground_truth,
    answers.answer,
    judgements.rating,
    judgements.comment,
    evidence.date AS evidence_date,
    evidence.url,
    results.payload_hash
FROM eval.judgements AS judgements
INNER JOIN eval.answers AS answers USING (week, system, question_key)
INNER JOIN freshqa.ground_truth AS questions USING (week, question_key)
LEFT JOIN search.evidence AS evidence
    ON
        answers.week = evidence.week
        AND answers.question_key = evidence.question_key
        AND list_contains(answers.evidence_ranks, evidence.rank)
LEFT JOIN search.results AS results
    ON
        evidence.week = results.week
        AND evidence.engine = results.engine
        AND evidence.question_key = results.question_key
WHERE
    judgements.week = (SELECT max(week) FROM mart.accuracy)
    AND judgements.system = 'search-answer'
    AND judgements.mode = 'relaxed'
    AND judgements.is_current
    AND questions.split = 'TEST'
    AND NOT questions.false_premise
    AND questions.fact_type = 'fast-changing'
ORDER BY questions.id;
