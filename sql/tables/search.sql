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
    requests INTEGER,
    cost DOUBLE,
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
COMMENT ON COLUMN search.results.requests IS 'Requests it took; 0 for imported results, a local engine, and questions that share a query with another.';
COMMENT ON COLUMN search.results.cost IS 'Dollars for these requests; NULL while the price of the engine is unknown.';
COMMENT ON COLUMN search.results.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN search.results.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE search.evidence (
    week DATE NOT NULL,
    engine VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    rank INTEGER NOT NULL CHECK (rank >= 0),
    kind VARCHAR NOT NULL CHECK (
        kind IN (
            'answer_box', 'knowledge_graph', 'sports_results', 'organic', 'top_story',
            'question_and_answer', 'related_question', 'ai_overview'
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
COMMENT ON COLUMN search.evidence.rank IS 'Place in the payload, from 0: boxes first, then organic, top stories, questions and answers, related, AI overview.';
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

CREATE TABLE search.drift (
    week DATE NOT NULL,
    engine VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    previous_week DATE NOT NULL,
    drift DOUBLE NOT NULL CHECK (drift BETWEEN 0 AND 1),
    urls INTEGER NOT NULL,
    new_urls INTEGER NOT NULL,
    gone_urls INTEGER NOT NULL,
    changed_texts INTEGER NOT NULL,
    new_highlights VARCHAR[] NOT NULL,
    box_changed BOOLEAN NOT NULL,
    box_before VARCHAR,
    box_after VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, engine, question_key),
    CHECK (previous_week < week)
);
COMMENT ON TABLE search.drift IS 'How far the evidence of each question moved since the week before that the engine searched.';
COMMENT ON COLUMN search.drift.week IS 'Monday of the later snapshot (UTC).';
COMMENT ON COLUMN search.drift.engine IS 'Search engine.';
COMMENT ON COLUMN search.drift.question_key IS 'Identity of the question.';
COMMENT ON COLUMN search.drift.previous_week IS 'Monday of the snapshot compared with.';
COMMENT ON COLUMN search.drift.drift IS 'Share of pages that are not in both weeks (1 - Jaccard of the addresses).';
COMMENT ON COLUMN search.drift.urls IS 'Pages found this week.';
COMMENT ON COLUMN search.drift.new_urls IS 'Of them, pages not found the week before.';
COMMENT ON COLUMN search.drift.gone_urls IS 'Pages of the week before that are gone.';
COMMENT ON COLUMN search.drift.changed_texts IS 'Pages of both weeks whose title, snippet or highlight changed.';
COMMENT ON COLUMN search.drift.new_highlights IS 'Highlighted words that the week before did not have.';
COMMENT ON COLUMN search.drift.box_changed IS 'The first answer box (else knowledge graph) says something else.';
COMMENT ON COLUMN search.drift.box_before IS 'What it said the week before; NULL without one.';
COMMENT ON COLUMN search.drift.box_after IS 'What it says now; NULL without one.';
COMMENT ON COLUMN search.drift.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN search.drift.code_version IS 'Code version of the asset that wrote the row.';
