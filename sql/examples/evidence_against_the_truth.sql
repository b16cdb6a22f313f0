-- Which acceptable answers does none of this week's evidence hold? They may have gone stale.
SELECT
    questions.id,
    questions.question,
    questions.answers,
    max(evidence.date) AS newest_evidence,
    count(*) AS results
FROM freshqa.ground_truth AS questions
INNER JOIN search.evidence AS evidence USING (week, question_key)
WHERE
    evidence.week = (SELECT max(week) FROM search.evidence)
    AND NOT questions.false_premise
GROUP BY questions.id, questions.question, questions.answers
HAVING
    NOT bool_or(
        list_bool_or(
            list_transform(
                questions.answers,
                LAMBDA answer: contains(
                    lower(concat_ws(' ', evidence.title, evidence.snippet, evidence.highlight)),
                    lower(answer)
                )
            )
        )
    )
ORDER BY questions.id;
