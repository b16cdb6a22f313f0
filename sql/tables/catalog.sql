CREATE SCHEMA IF NOT EXISTS catalog;

CREATE TABLE catalog.steps (
    catalog VARCHAR NOT NULL,
    name VARCHAR NOT NULL CHECK (length(name) > 0),
    kind VARCHAR NOT NULL CHECK (kind IN ('trigger', 'action', 'logic', 'subflow')),
    title VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    app VARCHAR NOT NULL,
    inputs VARCHAR[] NOT NULL,
    takes_table BOOLEAN NOT NULL,
    is_common BOOLEAN NOT NULL,
    file_name VARCHAR NOT NULL,
    byte_hash VARCHAR NOT NULL,
    PRIMARY KEY (catalog, name)
);
COMMENT ON TABLE catalog.steps IS 'Steps that a workflow may name, by catalog: one dated version of a deployment.';
COMMENT ON COLUMN catalog.steps.catalog IS 'Deployment and date, e.g. it-2026-01-05.';
COMMENT ON COLUMN catalog.steps.name IS 'Technical name of the step.';
COMMENT ON COLUMN catalog.steps.kind IS 'trigger, action, logic or subflow.';
COMMENT ON COLUMN catalog.steps.title IS 'Title for people.';
COMMENT ON COLUMN catalog.steps.description IS 'What it does; may be empty.';
COMMENT ON COLUMN catalog.steps.app IS 'Parent app; empty where there is none.';
COMMENT ON COLUMN catalog.steps.inputs IS 'Names of its inputs.';
COMMENT ON COLUMN catalog.steps.takes_table IS 'It needs the name of a table.';
COMMENT ON COLUMN catalog.steps.is_common IS 'So frequent that it is left out of the suggestions.';
COMMENT ON COLUMN catalog.steps.file_name IS 'Name of the imported file.';
COMMENT ON COLUMN catalog.steps.byte_hash IS 'SHA-256 of the imported file.';

CREATE TABLE catalog.tables (
    catalog VARCHAR NOT NULL,
    name VARCHAR NOT NULL CHECK (length(name) > 0),
    title VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    app VARCHAR NOT NULL,
    inputs VARCHAR[] NOT NULL,
    file_name VARCHAR NOT NULL,
    byte_hash VARCHAR NOT NULL,
    PRIMARY KEY (catalog, name)
);
COMMENT ON TABLE catalog.tables IS 'Database tables that a workflow may name, by catalog.';
COMMENT ON COLUMN catalog.tables.catalog IS 'Deployment and date, e.g. it-2026-01-05.';
COMMENT ON COLUMN catalog.tables.name IS 'Technical name of the table.';
COMMENT ON COLUMN catalog.tables.title IS 'Label for people.';
COMMENT ON COLUMN catalog.tables.description IS 'What it holds; may be empty.';
COMMENT ON COLUMN catalog.tables.app IS 'Product or database it belongs to; empty where there is none.';
COMMENT ON COLUMN catalog.tables.inputs IS 'Its columns, as far as known.';
COMMENT ON COLUMN catalog.tables.file_name IS 'Name of the imported file.';
COMMENT ON COLUMN catalog.tables.byte_hash IS 'SHA-256 of the imported file.';

CREATE TABLE catalog.changes (
    catalog VARCHAR NOT NULL,
    previous_catalog VARCHAR NOT NULL,
    what VARCHAR NOT NULL CHECK (what IN ('steps', 'tables')),
    name VARCHAR NOT NULL,
    change VARCHAR NOT NULL CHECK (change IN ('added', 'removed', 'renamed', 'text')),
    previous_name VARCHAR,
    score DOUBLE CHECK (score BETWEEN 0 AND 100),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (catalog, what, name),
    CHECK ((change = 'renamed') = (previous_name IS NOT NULL AND score IS NOT NULL)),
    CHECK (previous_catalog < catalog)
);
COMMENT ON TABLE catalog.changes IS 'What differs between a catalog and the one before it of the same deployment.';
COMMENT ON COLUMN catalog.changes.catalog IS 'The later catalog.';
COMMENT ON COLUMN catalog.changes.previous_catalog IS 'The catalog before it.';
COMMENT ON COLUMN catalog.changes.what IS 'steps or tables.';
COMMENT ON COLUMN catalog.changes.name IS 'Name of the entry; of a removed one the name it had.';
COMMENT ON COLUMN catalog.changes.change IS 'added; removed; renamed: another name for what says nearly the same; text: title, description, app or kind changed.';
COMMENT ON COLUMN catalog.changes.previous_name IS 'What a renamed entry was called.';
COMMENT ON COLUMN catalog.changes.score IS 'Similarity of a renamed entry to what it was (0 to 100).';
COMMENT ON COLUMN catalog.changes.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN catalog.changes.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE catalog.indexes (
    catalog VARCHAR NOT NULL,
    what VARCHAR NOT NULL CHECK (what IN ('steps', 'tables')),
    encoder VARCHAR NOT NULL,
    encoder_hash VARCHAR NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension > 0),
    entries INTEGER NOT NULL CHECK (entries > 0),
    encoded INTEGER NOT NULL CHECK (encoded >= 0),
    metric VARCHAR NOT NULL,
    kind VARCHAR NOT NULL CHECK (kind IN ('exact', 'graph')),
    recall DOUBLE NOT NULL CHECK (recall BETWEEN 0 AND 1),
    entries_hash VARCHAR NOT NULL,
    file_hash VARCHAR NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (catalog, what)
);
COMMENT ON TABLE catalog.indexes IS 'FAISS indexes of the steps and tables that may be suggested; the files lie below the home.';
COMMENT ON COLUMN catalog.indexes.catalog IS 'The catalog.';
COMMENT ON COLUMN catalog.indexes.what IS 'steps or tables.';
COMMENT ON COLUMN catalog.indexes.encoder IS 'Name of the encoder.';
COMMENT ON COLUMN catalog.indexes.encoder_hash IS 'Hash of its weights; an index serves only the encoder it was made with.';
COMMENT ON COLUMN catalog.indexes.dimension IS 'Length of a vector.';
COMMENT ON COLUMN catalog.indexes.entries IS 'Entries in the index: triggers and common steps are left out.';
COMMENT ON COLUMN catalog.indexes.encoded IS 'Of them, texts that had to be encoded; the others were in the cache.';
COMMENT ON COLUMN catalog.indexes.metric IS 'How two vectors are compared.';
COMMENT ON COLUMN catalog.indexes.kind IS 'exact, or graph for a large catalog.';
COMMENT ON COLUMN catalog.indexes.recall IS 'Recall at 15 against exact search.';
COMMENT ON COLUMN catalog.indexes.entries_hash IS 'Hash of names and vectors.';
COMMENT ON COLUMN catalog.indexes.file_hash IS 'SHA-256 of the FAISS file.';
COMMENT ON COLUMN catalog.indexes.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN catalog.indexes.code_version IS 'Code version of the asset that wrote the row.';
