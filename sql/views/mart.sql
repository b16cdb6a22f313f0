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

CREATE OR REPLACE VIEW mart.paper_table AS
SELECT
    week,
    version,
    judge,
    mode,
    system,
    max(asked) FILTER (WHERE slice = 'overall') AS asked,
    max(judged) FILTER (WHERE slice = 'overall') AS judged,
    max(refused) FILTER (WHERE slice = 'overall') AS refused,
    max(accuracy) FILTER (WHERE slice = 'overall') AS overall,
    max(accuracy) FILTER (WHERE slice = 'valid premise') AS valid_premise,
    max(accuracy) FILTER (WHERE slice = 'fast-changing') AS fast_changing,
    max(accuracy) FILTER (WHERE slice = 'slow-changing') AS slow_changing,
    max(accuracy) FILTER (WHERE slice = 'never-changing') AS never_changing,
    max(accuracy) FILTER (WHERE slice = 'before 2022') AS before_2022,
    max(accuracy) FILTER (WHERE slice = 'since 2022') AS since_2022,
    max(accuracy) FILTER (WHERE slice = 'one-hop') AS one_hop,
    max(accuracy) FILTER (WHERE slice = 'multi-hop') AS multi_hop,
    max(accuracy) FILTER (WHERE slice = 'false premise') AS false_premise,
    max(accuracy) FILTER (WHERE slice = 'false premise before 2022') AS false_premise_before_2022
FROM mart.accuracy
GROUP BY week, version, judge, mode, system;
COMMENT ON VIEW mart.paper_table IS 'Accuracy in the layout of the papers'' tables, one row a system, judge and mode; counts, intervals and bounds of every cell are in mart.accuracy.';

CREATE OR REPLACE VIEW mart.repeats AS
WITH samples AS (
    SELECT
        *,
        regexp_replace(system, '/repeat-[0-9]+$', '') AS of_system
    FROM mart.accuracy
    WHERE slice = 'overall'
),

ratings AS (
    SELECT
        week,
        regexp_replace(system, '/repeat-[0-9]+$', '') AS of_system,
        judge,
        mode,
        question_key,
        count(DISTINCT rating) > 1 AS varies
    FROM eval.ratings
    WHERE rating <> 'unrated'
    GROUP BY ALL
),

questions AS (
    SELECT
        week,
        of_system,
        judge,
        mode,
        avg(varies::INTEGER) AS share_varying
    FROM ratings
    GROUP BY ALL
)

SELECT
    samples.week,
    samples.judge,
    samples.mode,
    samples.of_system AS system,
    count(*) AS samples,
    avg(samples.accuracy) AS mean_accuracy,
    stddev_samp(samples.accuracy) AS sd_accuracy,
    any_value(questions.share_varying) AS share_varying
FROM samples
LEFT JOIN questions
    ON
        samples.week = questions.week AND samples.of_system = questions.of_system
        AND samples.judge = questions.judge AND samples.mode = questions.mode
GROUP BY samples.week, samples.judge, samples.mode, samples.of_system
HAVING count(*) > 1;
COMMENT ON VIEW mart.repeats IS 'Variance within a system that is sampled several times (`repeats` in systems.toml): standard deviation of its accuracy, share of questions rated now so, now so.';
