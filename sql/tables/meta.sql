CREATE SCHEMA IF NOT EXISTS meta;

CREATE TABLE meta.slices (
    table_name VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    row_count BIGINT NOT NULL CHECK (row_count >= 0),
    content_hash VARCHAR NOT NULL,
    inputs_hash VARCHAR,
    code_version VARCHAR,
    run_id VARCHAR,
    written_at TIMESTAMP NOT NULL,
    PRIMARY KEY (table_name, slice)
);
COMMENT ON TABLE meta.slices IS 'One row a written slice of a table: what made it and from what.';
COMMENT ON COLUMN meta.slices.table_name IS 'Table, with its schema.';
COMMENT ON COLUMN meta.slices.slice IS 'Partition key (version, week, week|system), empty for a whole table.';
COMMENT ON COLUMN meta.slices.row_count IS 'Rows in the slice.';
COMMENT ON COLUMN meta.slices.content_hash IS 'Hash of the rows, without provenance columns; equal content has an equal hash.';
COMMENT ON COLUMN meta.slices.inputs_hash IS 'Hash of the slices, settings and code that made it; NULL for imports.';
COMMENT ON COLUMN meta.slices.code_version IS 'Code version of the asset that wrote it.';
COMMENT ON COLUMN meta.slices.run_id IS 'Dagster run that wrote it; NULL for imports.';
COMMENT ON COLUMN meta.slices.written_at IS 'Time of the write, UTC.';

CREATE TABLE meta.schema_version (
    version INTEGER NOT NULL PRIMARY KEY,
    declaration_hash VARCHAR NOT NULL,
    applied_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE meta.schema_version IS 'The schema this file has: one row, kept by the migrations.';
COMMENT ON COLUMN meta.schema_version.version IS 'Number of the last numbered migration applied.';
COMMENT ON COLUMN meta.schema_version.declaration_hash IS 'Hash of the declared tables and views.';
COMMENT ON COLUMN meta.schema_version.applied_at IS 'Time of the last change of the schema, UTC.';
