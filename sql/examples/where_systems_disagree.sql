-- Which questions does one system get right and another wrong? (relaxed mode, newest week)
SELECT
    questions.question,
    better.system AS right_system,
    worse.system AS wrong_system,
    wrong_answers.answer AS wrong_answer,
    questions.answers AS ground_truth
FROM eval.judgements AS better
INNER JOIN eval.judgements AS worse USING (week, question_key, judge, mode)
INNER JOIN eval.answers AS wrong_answers
    ON
        worse.week = wrong_answers.week
        AND worse.system = wrong_answers.system
        AND worse.question_key = wrong_answers.question_key
INNER JOIN freshqa.ground_truth AS questions
    ON
        wrong_answers.week = questions.week
        AND wrong_answers.question_key = questions.question_key
WHERE
    better.week = (SELECT max(week) FROM eval.judgements)
    AND better.mode = 'relaxed'
    AND better.is_current
    AND worse.is_current
    AND better.rating = 'correct'
    AND worse.rating = 'incorrect'
ORDER BY questions.id, right_system, wrong_system;
