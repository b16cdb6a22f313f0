CREATE OR REPLACE VIEW mart.leaderboard AS
WITH spent AS (
    SELECT
        week,
        system,
        sum(cost) AS cost,
        count(*) FILTER (WHERE state = 'error') AS errors
    FROM eval.answers
    GROUP BY week, system
)

SELECT
    a.week,
    a.judge,
    a.mode,
    a.system,
    a.accuracy,
    a.ci_low,
    a.ci_high,
    a.judged,
    a.asked,
    spent.errors,
    spent.cost,
    rank() OVER (PARTITION BY a.week, a.judge, a.mode ORDER BY a.accuracy DESC NULLS LAST) AS place
FROM mart.accuracy AS a
LEFT JOIN spent ON a.week = spent.week AND a.system = spent.system
WHERE a.slice = 'overall';
COMMENT ON VIEW mart.leaderboard IS 'Systems of every week by accuracy on all TEST questions, with cost; whether a difference is real is in mart.comparisons.';

CREATE OR REPLACE VIEW mart.week_changes AS
SELECT
    week,
    previous_week,
    system,
    judge,
    mode,
    cause,
    count(*) FILTER (WHERE rating = 'correct') AS became_correct,
    count(*) FILTER (WHERE previous_rating = 'correct') AS no_longer_correct,
    count(*) AS changed
FROM eval.rating_changes
GROUP BY ALL;
COMMENT ON VIEW mart.week_changes IS 'Why ratings differ from the last week of the same system: how many for each cause.';
