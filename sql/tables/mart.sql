CREATE SCHEMA IF NOT EXISTS mart;

CREATE TABLE mart.accuracy (
    week DATE NOT NULL,
    system VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    version DATE NOT NULL,
    asked INTEGER NOT NULL CHECK (asked > 0),
    answered INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    correct INTEGER NOT NULL,
    unrated INTEGER NOT NULL,
    accuracy DOUBLE CHECK (accuracy BETWEEN 0 AND 1),
    ci_low DOUBLE CHECK (ci_low BETWEEN 0 AND 1),
    ci_high DOUBLE CHECK (ci_high BETWEEN 0 AND 1),
    bound_low DOUBLE NOT NULL CHECK (bound_low BETWEEN 0 AND 1),
    bound_high DOUBLE NOT NULL CHECK (bound_high BETWEEN 0 AND 1),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, system, judge, mode, slice),
    CHECK (0 <= correct AND correct <= judged),
    CHECK (judged + unrated = asked AND answered + refused <= asked)
);
COMMENT ON TABLE mart.accuracy IS 'Accuracy by slice. An error is a state, never a score: read it with its counts and bounds.';
COMMENT ON COLUMN mart.accuracy.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.accuracy.system IS 'System under test.';
COMMENT ON COLUMN mart.accuracy.judge IS 'Who rated.';
COMMENT ON COLUMN mart.accuracy.mode IS 'relaxed or strict.';
COMMENT ON COLUMN mart.accuracy.slice IS 'Subset of the TEST split (dev: the DEV split).';
COMMENT ON COLUMN mart.accuracy.version IS 'Version the week was evaluated against.';
COMMENT ON COLUMN mart.accuracy.asked IS 'Questions of the slice in this version: the denominator of the bounds.';
COMMENT ON COLUMN mart.accuracy.answered IS 'Questions the system gave an answer to.';
COMMENT ON COLUMN mart.accuracy.refused IS 'Questions the system declined to answer; they are rated like answers.';
COMMENT ON COLUMN mart.accuracy.judged IS 'Answers rated correct or incorrect; no response counts as incorrect.';
COMMENT ON COLUMN mart.accuracy.correct IS 'Answers rated correct.';
COMMENT ON COLUMN mart.accuracy.unrated IS 'Questions without a rating: errors and answers the judge could not decide.';
COMMENT ON COLUMN mart.accuracy.accuracy IS 'correct / judged; NULL when nothing was judged.';
COMMENT ON COLUMN mart.accuracy.ci_low IS 'Lower end of the 95 % Wilson interval of accuracy.';
COMMENT ON COLUMN mart.accuracy.ci_high IS 'Upper end of the 95 % Wilson interval of accuracy.';
COMMENT ON COLUMN mart.accuracy.bound_low IS 'Accuracy if every unrated answer were incorrect.';
COMMENT ON COLUMN mart.accuracy.bound_high IS 'Accuracy if every unrated answer were correct.';
COMMENT ON COLUMN mart.accuracy.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.accuracy.code_version IS 'Code version of the asset that wrote the row.';
