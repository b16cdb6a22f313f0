-- The model of the risk is stored whole, in parts; it is derived anew.
DROP TABLE mart.staleness_model;
DELETE FROM meta.slices
WHERE table_name = 'mart.staleness_model';
