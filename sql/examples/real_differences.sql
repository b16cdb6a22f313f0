-- Which systems differ for sure in the newest week, and by how much?
SELECT
    system_a,
    system_b,
    round(difference, 3) AS difference,
    round(ci_low, 3) AS ci_low,
    round(ci_high, 3) AS ci_high,
    p_holm < 0.05 AS is_real,
    round(detectable, 3) AS detectable
FROM mart.comparisons
WHERE
    week = (SELECT max(week) FROM mart.comparisons)
    AND slice = 'overall' AND mode = 'relaxed'
ORDER BY abs(difference) DESC;
