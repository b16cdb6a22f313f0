CREATE SCHEMA IF NOT EXISTS workflow;

CREATE TABLE workflow.requests (
    catalog VARCHAR NOT NULL,
    request_id VARCHAR NOT NULL CHECK (length(request_id) > 0),
    split VARCHAR NOT NULL CHECK (length(split) > 0),
    request VARCHAR NOT NULL CHECK (length(request) > 0),
    steps VARCHAR[] NOT NULL,
    tables VARCHAR[] NOT NULL,
    workflow VARCHAR,
    file_name VARCHAR NOT NULL,
    byte_hash VARCHAR NOT NULL,
    PRIMARY KEY (catalog, request_id)
);
COMMENT ON TABLE workflow.requests IS 'What people ask for, with the workflow that is right.';
COMMENT ON COLUMN workflow.requests.catalog IS 'The catalog the workflow may name entries of.';
COMMENT ON COLUMN workflow.requests.request_id IS 'Key of the request.';
COMMENT ON COLUMN workflow.requests.split IS 'train and dev may be learnt from; test and ood_* are only asked.';
COMMENT ON COLUMN workflow.requests.request IS 'The words of the request.';
COMMENT ON COLUMN workflow.requests.steps IS 'Names of the steps of the gold workflow.';
COMMENT ON COLUMN workflow.requests.tables IS 'Names of its tables; none is common.';
COMMENT ON COLUMN workflow.requests.workflow IS 'The gold workflow as JSON (trigger, components), where it is known.';
COMMENT ON COLUMN workflow.requests.file_name IS 'Name of the imported file.';
COMMENT ON COLUMN workflow.requests.byte_hash IS 'SHA-256 of the imported file.';
