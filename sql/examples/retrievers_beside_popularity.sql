-- What do retrievers find beyond the most popular names: steps at 15, tables at 10?
SELECT
    catalog,
    what,
    split,
    retriever,
    requests,
    recall,
    full_cover,
    over_popularity,
    over_popularity_low > 0 AS is_better
FROM mart.retriever_recall
WHERE NOT with_common AND k = if(what = 'steps', 15, 10)
ORDER BY catalog ASC, what ASC, split ASC, recall DESC;
