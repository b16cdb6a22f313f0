-- Sports results, top stories and AI overviews become kinds of evidence of their own.
CREATE TABLE search.evidence_1 (
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
INSERT INTO search.evidence_1 BY NAME SELECT * FROM search.evidence;
DROP TABLE search.evidence;
ALTER TABLE search.evidence_1 RENAME TO evidence;
