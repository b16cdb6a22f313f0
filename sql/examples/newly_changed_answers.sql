-- Which ground truths did the newest version replace, and since when had the old ones held?
SELECT
    changes.version,
    history.question,
    history.valid_from,
    history.valid_to,
    changes.before,
    changes.after
FROM freshqa.changes AS changes
INNER JOIN freshqa.answer_history AS history
    ON changes.question_key = history.question_key AND changes.version = history.valid_to
WHERE
    changes.version = (SELECT max(version) FROM freshqa.changes)
    AND changes.field = 'answers'
    AND changes.detail = 'replaced'
ORDER BY history.valid_from;
