CREATE SCHEMA IF NOT EXISTS retriever;

CREATE TABLE retriever.pairs (
    catalog VARCHAR NOT NULL,
    request_id VARCHAR NOT NULL,
    what VARCHAR NOT NULL CHECK (what IN ('steps', 'tables')),
    place INTEGER NOT NULL CHECK (place >= 0),
    request VARCHAR NOT NULL,
    name VARCHAR,
    entry VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (catalog, request_id, what, place),
    CHECK ((name IS NULL) = (entry IS NULL)),
    CHECK ((name IS NULL) = (place = 0))
);
COMMENT ON TABLE retriever.pairs IS 'Pairs of a training request and an entry that belongs to it; one row without an entry where none does.';
COMMENT ON COLUMN retriever.pairs.catalog IS 'The catalog of the entry.';
COMMENT ON COLUMN retriever.pairs.request_id IS 'Key of the request.';
COMMENT ON COLUMN retriever.pairs.what IS 'steps or tables.';
COMMENT ON COLUMN retriever.pairs.place IS 'Place of the entry among those of the request, from 1; 0 where there is none.';
COMMENT ON COLUMN retriever.pairs.request IS 'The words of the request.';
COMMENT ON COLUMN retriever.pairs.name IS 'Name of the entry; empty where none that may be suggested belongs to the request.';
COMMENT ON COLUMN retriever.pairs.entry IS 'The text of the entry that is encoded.';
COMMENT ON COLUMN retriever.pairs.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN retriever.pairs.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE retriever.encoder (
    epoch INTEGER NOT NULL CHECK (epoch > 0),
    loss DOUBLE NOT NULL,
    dev_recall DOUBLE NOT NULL CHECK (dev_recall BETWEEN 0 AND 1),
    seconds DOUBLE NOT NULL CHECK (seconds >= 0),
    is_best BOOLEAN NOT NULL,
    base VARCHAR NOT NULL,
    base_hash VARCHAR NOT NULL,
    encoder_hash VARCHAR NOT NULL,
    data_hash VARCHAR NOT NULL,
    pairs INTEGER NOT NULL CHECK (pairs > 0),
    recipe VARCHAR NOT NULL CHECK (json_valid(recipe)),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (epoch)
);
COMMENT ON TABLE retriever.encoder IS 'Curves of the fine-tuned encoder in use; its weights and its model card lie in the home, folder encoder.';
COMMENT ON COLUMN retriever.encoder.epoch IS 'Number of the epoch, from 1.';
COMMENT ON COLUMN retriever.encoder.loss IS 'Mean loss of the epoch.';
COMMENT ON COLUMN retriever.encoder.dev_recall IS 'Recall on dev after it, mean over steps (at 15) and tables (at 10).';
COMMENT ON COLUMN retriever.encoder.seconds IS 'How long the epoch took.';
COMMENT ON COLUMN retriever.encoder.is_best IS 'The epoch whose weights are kept.';
COMMENT ON COLUMN retriever.encoder.base IS 'Encoder that was fine-tuned.';
COMMENT ON COLUMN retriever.encoder.base_hash IS 'Hash of its weights.';
COMMENT ON COLUMN retriever.encoder.encoder_hash IS 'Hash of the fine-tuned weights.';
COMMENT ON COLUMN retriever.encoder.data_hash IS 'Content hash of the pairs that it was trained on.';
COMMENT ON COLUMN retriever.encoder.pairs IS 'How many pairs there are.';
COMMENT ON COLUMN retriever.encoder.recipe IS 'How it was trained, as JSON.';
COMMENT ON COLUMN retriever.encoder.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN retriever.encoder.code_version IS 'Code version of the asset that wrote the row.';
