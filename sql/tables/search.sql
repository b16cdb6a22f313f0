CREATE SCHEMA IF NOT EXISTS search;

CREATE TABLE search.results (
    week DATE NOT NULL,
    engine VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    version DATE NOT NULL,
    query VARCHAR NOT NULL,
    as_of DATE NOT NULL,
    payload_hash VARCHAR NOT NULL,
    archived_at TIMESTAMP NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, engine, question_key)
);
COMMENT ON TABLE search.results IS 'The weekly snapshot: which archived payload answers which question.';
COMMENT ON COLUMN search.results.week IS 'Monday of the snapshot (UTC).';
COMMENT ON COLUMN search.results.engine IS 'Search engine.';
COMMENT ON COLUMN search.results.question_key IS 'Identity of the question.';
COMMENT ON COLUMN search.results.version IS 'Version whose questions were searched; the week is evaluated against it.';
COMMENT ON COLUMN search.results.query IS 'Query as sent.';
COMMENT ON COLUMN search.results.as_of IS 'Day the results show; relative dates are resolved against it.';
COMMENT ON COLUMN search.results.payload_hash IS 'SHA-256 of the payload in the archive, verbatim.';
COMMENT ON COLUMN search.results.archived_at IS 'Time the payload was archived, UTC.';
COMMENT ON COLUMN search.results.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN search.results.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE search.evidence (
    week DATE NOT NULL,
    engine VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    rank INTEGER NOT NULL CHECK (rank >= 0),
    kind VARCHAR NOT NULL CHECK (
        kind IN (
            'answer_box', 'knowledge_graph', 'organic', 'question_and_answer', 'related_question'
        )
    ),
    source VARCHAR,
    date DATE,
    date_precision VARCHAR CHECK (date_precision IN ('day', 'month', 'year')),
    date_text VARCHAR,
    title VARCHAR,
    snippet VARCHAR,
    highlight VARCHAR,
    url VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, engine, question_key, rank),
    CHECK ((date IS NULL) = (date_precision IS NULL))
);
COMMENT ON TABLE search.evidence IS 'Normalised search results, parsed from the archive; can be parsed again at any time.';
COMMENT ON COLUMN search.evidence.week IS 'Monday of the snapshot (UTC).';
COMMENT ON COLUMN search.evidence.engine IS 'Search engine.';
COMMENT ON COLUMN search.evidence.question_key IS 'Identity of the question.';
COMMENT ON COLUMN search.evidence.rank IS 'Place in the payload, from 0: answer box, knowledge graph, organic, questions and answers, related.';
COMMENT ON COLUMN search.evidence.kind IS 'Section of the payload.';
COMMENT ON COLUMN search.evidence.source IS 'Host of the page.';
COMMENT ON COLUMN search.evidence.date IS 'Date of the page; the first day of the period where only month or year is known.';
COMMENT ON COLUMN search.evidence.date_precision IS 'day, month or year; NULL when undated.';
COMMENT ON COLUMN search.evidence.date_text IS 'Date as the engine wrote it.';
COMMENT ON COLUMN search.evidence.title IS 'Title or related question.';
COMMENT ON COLUMN search.evidence.snippet IS 'Text excerpt.';
COMMENT ON COLUMN search.evidence.highlight IS 'Words the engine highlighted, or its direct answer.';
COMMENT ON COLUMN search.evidence.url IS 'Address of the page.';
COMMENT ON COLUMN search.evidence.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN search.evidence.code_version IS 'Code version of the asset that wrote the row.';
