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
    state VARCHAR NOT NULL CHECK (
        state IN ('answered', 'refused', 'truncated', 'empty', 'error', 'deferred')
    ),
    answer VARCHAR,
    reason VARCHAR,
    engine VARCHAR,
    evidence_ranks INTEGER[] NOT NULL,
    evidence_dropped INTEGER,
    follow_ups VARCHAR[],
    model VARCHAR,
    prompt_hash VARCHAR,
    finish_reason VARCHAR,
    input_tokens BIGINT,
    cached_tokens BIGINT,
    output_tokens BIGINT,
    cost DOUBLE CHECK (cost >= 0),
    seconds DOUBLE,
    tries INTEGER,
    from_cache BOOLEAN,
    citations VARCHAR[],
    system_hash VARCHAR NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, system, question_key),
    CHECK ((state IN ('answered', 'refused', 'truncated')) = (answer IS NOT NULL)),
    CHECK ((state = 'answered') = (reason IS NULL))
);
COMMENT ON TABLE eval.answers IS 'One response of a system to a question in a week.';
COMMENT ON COLUMN eval.answers.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.answers.system IS 'System under test: model, method and options.';
COMMENT ON COLUMN eval.answers.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.answers.version IS 'Version whose wording was asked.';
COMMENT ON COLUMN eval.answers.method IS 'How the system is asked.';
COMMENT ON COLUMN eval.answers.state IS 'answered; refused: declined to answer; truncated: cut by the output budget; empty: nothing to say; error: could not be asked; deferred: not asked yet.';
COMMENT ON COLUMN eval.answers.answer IS 'The response; NULL where there is none.';
COMMENT ON COLUMN eval.answers.reason IS 'Rule of the refusal, or why there is no whole response; NULL when answered.';
COMMENT ON COLUMN eval.answers.engine IS 'Search engine of the evidence used; NULL without search.';
COMMENT ON COLUMN eval.answers.evidence_ranks IS 'Ranks of the search.evidence rows used, in the order of the prompt.';
COMMENT ON COLUMN eval.answers.evidence_dropped IS 'Pieces of evidence that did not fit the prompt.';
COMMENT ON COLUMN eval.answers.follow_ups IS 'Follow-up questions or sub-queries the system asked.';
COMMENT ON COLUMN eval.answers.model IS 'Model as the server reported it.';
COMMENT ON COLUMN eval.answers.prompt_hash IS 'Hash of the last request; the call cache holds it whole.';
COMMENT ON COLUMN eval.answers.finish_reason IS 'Why the model stopped.';
COMMENT ON COLUMN eval.answers.input_tokens IS 'Input tokens of all calls for this answer.';
COMMENT ON COLUMN eval.answers.cached_tokens IS 'Input tokens that the provider had cached; part of input_tokens.';
COMMENT ON COLUMN eval.answers.output_tokens IS 'Output tokens of all calls for this answer.';
COMMENT ON COLUMN eval.answers.cost IS 'US dollars; NULL if the price is unknown or nothing was called.';
COMMENT ON COLUMN eval.answers.seconds IS 'Time of the last call, retries included.';
COMMENT ON COLUMN eval.answers.tries IS 'Tries of the last call.';
COMMENT ON COLUMN eval.answers.from_cache IS 'The last call was served from the call cache.';
COMMENT ON COLUMN eval.answers.citations IS 'Web pages that the model itself cited.';
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
    is_current BOOLEAN NOT NULL,
    answer_hash VARCHAR NOT NULL,
    truth_hash VARCHAR NOT NULL,
    judge_hash VARCHAR NOT NULL,
    model VARCHAR,
    raw_text VARCHAR,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cost DOUBLE CHECK (cost >= 0),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (
        week, system, question_key, judge, mode, judge_hash, truth_hash, answer_hash
    )
);
COMMENT ON TABLE eval.judgements IS 'Rating of an answer by judge and mode. Rating again keeps the old rows, no longer current.';
COMMENT ON COLUMN eval.judgements.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.judgements.system IS 'System under test.';
COMMENT ON COLUMN eval.judgements.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.judgements.judge IS 'Who rated; lexical is the offline stand-in for a model judge.';
COMMENT ON COLUMN eval.judgements.mode IS 'relaxed or strict.';
COMMENT ON COLUMN eval.judgements.rating IS 'correct, incorrect, or unrated: the judge could not decide or had nothing to rate.';
COMMENT ON COLUMN eval.judgements.comment IS 'Why.';
COMMENT ON COLUMN eval.judgements.is_current IS 'Rates the present answer against the present ground truth with the present judge.';
COMMENT ON COLUMN eval.judgements.answer_hash IS 'Hash of the answer that was rated.';
COMMENT ON COLUMN eval.judgements.truth_hash IS 'Hash of the question and the acceptable answers it was rated against.';
COMMENT ON COLUMN eval.judgements.judge_hash IS 'Hash of the judge: its rules, or its model, prompt and options.';
COMMENT ON COLUMN eval.judgements.model IS 'Model as the server reported it; NULL for the lexical judge.';
COMMENT ON COLUMN eval.judgements.raw_text IS 'What the model wrote; NULL for the lexical judge.';
COMMENT ON COLUMN eval.judgements.input_tokens IS 'Input tokens of all calls for this rating.';
COMMENT ON COLUMN eval.judgements.output_tokens IS 'Output tokens of all calls for this rating.';
COMMENT ON COLUMN eval.judgements.cost IS 'US dollars; NULL if the price is unknown or nothing was called.';
COMMENT ON COLUMN eval.judgements.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN eval.judgements.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE eval.judges (
    judge VARCHAR NOT NULL PRIMARY KEY,
    options VARCHAR NOT NULL,
    judge_hash VARCHAR NOT NULL
);
COMMENT ON TABLE eval.judges IS 'Judges as configured; the lexical judge is always there.';
COMMENT ON COLUMN eval.judges.judge IS 'Name of the judge.';
COMMENT ON COLUMN eval.judges.options IS 'Its options, as JSON.';
COMMENT ON COLUMN eval.judges.judge_hash IS 'Hash of model, prompts and options.';

CREATE TABLE eval.systems (
    system VARCHAR NOT NULL PRIMARY KEY,
    method VARCHAR NOT NULL,
    options VARCHAR NOT NULL,
    system_hash VARCHAR NOT NULL,
    knowledge_cutoff DATE
);
COMMENT ON TABLE eval.systems IS 'Systems under test as configured.';
COMMENT ON COLUMN eval.systems.system IS 'Name of the system.';
COMMENT ON COLUMN eval.systems.method IS 'How it is asked.';
COMMENT ON COLUMN eval.systems.options IS 'Its options, as JSON.';
COMMENT ON COLUMN eval.systems.system_hash IS 'Hash of the configuration; stored with every answer.';
COMMENT ON COLUMN eval.systems.knowledge_cutoff IS 'Last day the model knows of, as configured.';

CREATE TABLE eval.human_ratings (
    week DATE NOT NULL,
    rater VARCHAR NOT NULL,
    system VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    mode VARCHAR NOT NULL CHECK (mode IN ('relaxed', 'strict')),
    rating VARCHAR NOT NULL CHECK (rating IN ('correct', 'incorrect')),
    comment VARCHAR,
    answer_hash VARCHAR NOT NULL,
    file_name VARCHAR NOT NULL,
    PRIMARY KEY (week, rater, system, question_key, mode)
);
COMMENT ON TABLE eval.human_ratings IS 'What people said of answers, blind to the system; see `fresh-assets rating-sheet`.';
COMMENT ON COLUMN eval.human_ratings.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN eval.human_ratings.rater IS 'Who rated.';
COMMENT ON COLUMN eval.human_ratings.system IS 'System whose answer it is.';
COMMENT ON COLUMN eval.human_ratings.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.human_ratings.mode IS 'relaxed or strict.';
COMMENT ON COLUMN eval.human_ratings.rating IS 'correct or incorrect.';
COMMENT ON COLUMN eval.human_ratings.comment IS 'Why, in the words of the rater.';
COMMENT ON COLUMN eval.human_ratings.answer_hash IS 'Hash of the answer that was rated; a later answer is not covered.';
COMMENT ON COLUMN eval.human_ratings.file_name IS 'File it came in.';

CREATE TABLE eval.golden_ratings (
    week DATE NOT NULL,
    judge VARCHAR NOT NULL,
    mode VARCHAR NOT NULL CHECK (mode IN ('relaxed', 'strict')),
    rated_week DATE NOT NULL,
    system VARCHAR NOT NULL,
    question_key VARCHAR NOT NULL,
    people_say VARCHAR NOT NULL CHECK (people_say IN ('correct', 'incorrect')),
    rating VARCHAR NOT NULL CHECK (rating IN ('correct', 'incorrect', 'unrated')),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, judge, mode, rated_week, system, question_key),
    CHECK (rated_week <= week)
);
COMMENT ON TABLE eval.golden_ratings IS 'Answers that people rated alike, judged again every week: the same answers, so only the judge can change.';
COMMENT ON COLUMN eval.golden_ratings.week IS 'Monday of the week in which the judge was asked (UTC).';
COMMENT ON COLUMN eval.golden_ratings.judge IS 'Who rated.';
COMMENT ON COLUMN eval.golden_ratings.mode IS 'relaxed or strict.';
COMMENT ON COLUMN eval.golden_ratings.rated_week IS 'Week of the answer.';
COMMENT ON COLUMN eval.golden_ratings.system IS 'System that gave the answer.';
COMMENT ON COLUMN eval.golden_ratings.question_key IS 'Identity of the question.';
COMMENT ON COLUMN eval.golden_ratings.people_say IS 'Rating by people.';
COMMENT ON COLUMN eval.golden_ratings.rating IS 'Rating by the judge this week.';
COMMENT ON COLUMN eval.golden_ratings.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN eval.golden_ratings.code_version IS 'Code version of the asset that wrote the row.';
