-- How well does every system answer, slice by slice, in the newest week? (strict mode)
SELECT
    system,
    slice,
    asked,
    judged,
    round(accuracy, 3) AS accuracy,
    round(ci_low, 3) AS ci_low,
    round(ci_high, 3) AS ci_high,
    round(bound_low, 3) AS if_unrated_were_wrong,
    round(bound_high, 3) AS if_unrated_were_right
FROM mart.accuracy
WHERE week = (SELECT max(week) FROM mart.accuracy) AND mode = 'strict'
ORDER BY system ASC, asked DESC, slice ASC;
