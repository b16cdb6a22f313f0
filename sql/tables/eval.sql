CREATE SCHEMA IF NOT EXISTS eval;

CREATE TABLE eval.recorded_answers (
    week DATE NOT NULL,
    system VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    answer VARCHAR NOT NULL,
    file_name VARCHAR NOT NULL,
    byte_hash VARCHAR NOT NULL,
    PRIMARY KEY (week, system, question_key)
);
COMMENT ON TABLE eval.recorded_answers IS 'Answers imported from files, to be judged like any others.';
COMMENT ON COLUMN eval.recorded_answers.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.recorded_answers.system IS 'System that gave the answers.';
COMMENT ON COLUMN eval.recorded_answers.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.recorded_answers.answer IS 'The answer as recorded; may be empty.';
COMMENT ON COLUMN eval.recorded_answers.file_name IS 'Name of the imported file.';
COMMENT ON COLUMN eval.recorded_answers.byte_hash IS 'SHA-256 of the imported file.';

CREATE TABLE eval.answers (
    week DATE NOT NULL,
    system VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    version DATE NOT NULL,
    method VARCHAR NOT NULL,
    state VARCHAR NOT NULL CHECK (state IN ('answered', 'empty', 'error')),
    answer VARCHAR,
    reason VARCHAR,
    engine VARCHAR,
    evidence_ranks INTEGER[] NOT NULL,
    system_hash VARCHAR NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, system, question_key),
    CHECK ((state = 'answered') = (answer IS NOT NULL)),
    CHECK ((state = 'answered') = (reason IS NULL))
);
COMMENT ON TABLE eval.answers IS 'One response of a system to a question in a week.';
COMMENT ON COLUMN eval.answers.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.answers.system IS 'System under test: model, method and options.';
COMMENT ON COLUMN eval.answers.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.answers.version IS 'Version whose wording was asked.';
COMMENT ON COLUMN eval.answers.method IS 'How the system is asked.';
COMMENT ON COLUMN eval.answers.state IS 'answered; empty: the system had nothing to say; error: it could not be asked.';
COMMENT ON COLUMN eval.answers.answer IS 'The response; NULL unless answered.';
COMMENT ON COLUMN eval.answers.reason IS 'Why there is no response; NULL when answered.';
COMMENT ON COLUMN eval.answers.engine IS 'Search engine of the evidence used; NULL without search.';
COMMENT ON COLUMN eval.answers.evidence_ranks IS 'Ranks of the search.evidence rows used.';
COMMENT ON COLUMN eval.answers.system_hash IS 'Hash of the configuration of the system.';
COMMENT ON COLUMN eval.answers.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN eval.answers.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE eval.judgements (
    week DATE NOT NULL,
    system VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    mode VARCHAR NOT NULL CHECK (mode IN ('relaxed', 'strict')),
    rating VARCHAR NOT NULL CHECK (rating IN ('correct', 'incorrect', 'unrated')),
    comment VARCHAR NOT NULL,
    truth_hash VARCHAR NOT NULL,
    judge_hash VARCHAR NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, system, question_key, judge, mode)
);
COMMENT ON TABLE eval.judgements IS 'Rating of an answer by judge and mode.';
COMMENT ON COLUMN eval.judgements.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.judgements.system IS 'System under test.';
COMMENT ON COLUMN eval.judgements.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.judgements.judge IS 'Who rated; lexical is the offline stand-in for a model judge.';
COMMENT ON COLUMN eval.judgements.mode IS 'relaxed or strict.';
COMMENT ON COLUMN eval.judgements.rating IS 'correct, incorrect, or unrated: the judge could not decide or had nothing to rate.';
COMMENT ON COLUMN eval.judgements.comment IS 'Why.';
COMMENT ON COLUMN eval.judgements.truth_hash IS 'Hash of the acceptable answers it was rated against.';
COMMENT ON COLUMN eval.judgements.judge_hash IS 'Hash of the judge and its rules or prompt.';
COMMENT ON COLUMN eval.judgements.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN eval.judgements.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE eval.systems (
    system VARCHAR NOT NULL PRIMARY KEY,
    method VARCHAR NOT NULL,
    engine VARCHAR,
    system_hash VARCHAR NOT NULL
);
COMMENT ON TABLE eval.systems IS 'Systems under test as configured.';
COMMENT ON COLUMN eval.systems.system IS 'Name of the system.';
COMMENT ON COLUMN eval.systems.method IS 'How it is asked.';
COMMENT ON COLUMN eval.systems.engine IS 'Search engine whose evidence it reads; NULL: the only one of the week.';
COMMENT ON COLUMN eval.systems.system_hash IS 'Hash of the configuration; stored with every answer.';
