CREATE OR REPLACE VIEW catalog.catalogs AS
SELECT
    catalog,
    count(*) FILTER (WHERE what = 'steps') AS steps,
    count(*) FILTER (WHERE what = 'tables') AS tables
FROM (
    SELECT
        catalog,
        'steps' AS what
    FROM catalog.steps
    UNION ALL
    SELECT
        catalog,
        'tables' AS what
    FROM catalog.tables
) AS entries
GROUP BY catalog;
COMMENT ON VIEW catalog.catalogs IS 'Imported catalogs and how many steps and tables they have.';
