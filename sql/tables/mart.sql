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

CREATE TABLE mart.comparisons (
    week DATE NOT NULL,
    judge VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    system_a VARCHAR NOT NULL,
    system_b VARCHAR NOT NULL,
    version DATE NOT NULL,
    judged INTEGER NOT NULL CHECK (judged > 0),
    only_a INTEGER NOT NULL CHECK (only_a >= 0),
    only_b INTEGER NOT NULL CHECK (only_b >= 0),
    accuracy_a DOUBLE NOT NULL CHECK (accuracy_a BETWEEN 0 AND 1),
    accuracy_b DOUBLE NOT NULL CHECK (accuracy_b BETWEEN 0 AND 1),
    difference DOUBLE NOT NULL CHECK (difference BETWEEN -1 AND 1),
    ci_low DOUBLE NOT NULL,
    ci_high DOUBLE NOT NULL,
    p_value DOUBLE NOT NULL CHECK (p_value BETWEEN 0 AND 1),
    p_holm DOUBLE NOT NULL CHECK (p_holm BETWEEN 0 AND 1),
    detectable DOUBLE,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, judge, mode, slice, system_a, system_b),
    CHECK (system_a < system_b AND only_a + only_b <= judged AND p_value <= p_holm)
);
COMMENT ON TABLE mart.comparisons IS 'Pairs of systems on the questions that both had rated: is the difference real?';
COMMENT ON COLUMN mart.comparisons.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.comparisons.judge IS 'Who rated.';
COMMENT ON COLUMN mart.comparisons.mode IS 'relaxed or strict.';
COMMENT ON COLUMN mart.comparisons.slice IS 'Subset of the questions, as in mart.accuracy.';
COMMENT ON COLUMN mart.comparisons.system_a IS 'The first system by name.';
COMMENT ON COLUMN mart.comparisons.system_b IS 'The second system by name.';
COMMENT ON COLUMN mart.comparisons.version IS 'Version the week was evaluated against.';
COMMENT ON COLUMN mart.comparisons.judged IS 'Questions on which both were rated correct or incorrect.';
COMMENT ON COLUMN mart.comparisons.only_a IS 'Of them, correct by the first system only.';
COMMENT ON COLUMN mart.comparisons.only_b IS 'Of them, correct by the second system only.';
COMMENT ON COLUMN mart.comparisons.accuracy_a IS 'Accuracy of the first on these questions.';
COMMENT ON COLUMN mart.comparisons.accuracy_b IS 'Accuracy of the second on these questions.';
COMMENT ON COLUMN mart.comparisons.difference IS 'accuracy_a - accuracy_b.';
COMMENT ON COLUMN mart.comparisons.ci_low IS 'Lower end of the 95 % interval of the difference (paired bootstrap, 5,000 samples).';
COMMENT ON COLUMN mart.comparisons.ci_high IS 'Upper end of the 95 % interval of the difference.';
COMMENT ON COLUMN mart.comparisons.p_value IS 'McNemar test: exact below 25 disagreements, else chi-squared with continuity correction.';
COMMENT ON COLUMN mart.comparisons.p_holm IS 'p_value corrected over all pairs and slices of this week, judge and mode (Holm).';
COMMENT ON COLUMN mart.comparisons.detectable IS 'Smallest difference that so many questions, disagreeing as often, show with 80 % power at 5 %; NULL where they never disagree.';
COMMENT ON COLUMN mart.comparisons.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.comparisons.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE mart.stale_answers (
    week DATE NOT NULL,
    question_key VARCHAR NOT NULL,
    version DATE NOT NULL,
    place INTEGER NOT NULL CHECK (place >= 1),
    question VARCHAR NOT NULL,
    answers VARCHAR[] NOT NULL,
    kind VARCHAR NOT NULL,
    next_review VARCHAR NOT NULL,
    risk DOUBLE CHECK (risk BETWEEN 0 AND 1),
    is_overdue BOOLEAN NOT NULL,
    reasons VARCHAR[] NOT NULL,
    evidence_pieces INTEGER NOT NULL,
    pieces_with_answer INTEGER NOT NULL,
    box_says VARCHAR,
    box_changed BOOLEAN,
    drift DOUBLE CHECK (drift BETWEEN 0 AND 1),
    newest_evidence DATE,
    newest_url VARCHAR,
    systems_rated INTEGER NOT NULL,
    systems_incorrect INTEGER NOT NULL,
    proposed_answer VARCHAR,
    reviewed_week DATE,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, question_key),
    CHECK (pieces_with_answer <= evidence_pieces AND systems_incorrect <= systems_rated)
);
COMMENT ON TABLE mart.stale_answers IS 'The review queue: every question of the week by the risk that its ground truth has changed, with the signals.';
COMMENT ON COLUMN mart.stale_answers.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.stale_answers.question_key IS 'Identity of the question.';
COMMENT ON COLUMN mart.stale_answers.version IS 'Version the week is evaluated against.';
COMMENT ON COLUMN mart.stale_answers.place IS 'Place in the queue, from 1: by risk, then overdue reviews.';
COMMENT ON COLUMN mart.stale_answers.question IS 'The question.';
COMMENT ON COLUMN mart.stale_answers.answers IS 'Its ground truth.';
COMMENT ON COLUMN mart.stale_answers.kind IS 'Fact type, or false premise.';
COMMENT ON COLUMN mart.stale_answers.next_review IS 'When upstream looks at it again, as written.';
COMMENT ON COLUMN mart.stale_answers.risk IS 'Probability that the first answer has changed by the end of the week; NULL while too few answers have changed to learn from.';
COMMENT ON COLUMN mart.stale_answers.is_overdue IS 'The review date lies before the end of the week.';
COMMENT ON COLUMN mart.stale_answers.reasons IS 'What raises the risk most, in words.';
COMMENT ON COLUMN mart.stale_answers.evidence_pieces IS 'Pieces of evidence of the week.';
COMMENT ON COLUMN mart.stale_answers.pieces_with_answer IS 'Of them, pieces that hold an acceptable answer word for word.';
COMMENT ON COLUMN mart.stale_answers.box_says IS 'What the first answer box, else knowledge graph, says.';
COMMENT ON COLUMN mart.stale_answers.box_changed IS 'It says something else than in the snapshot before; NULL without one.';
COMMENT ON COLUMN mart.stale_answers.drift IS 'Share of pages that are not in both snapshots; NULL without one before.';
COMMENT ON COLUMN mart.stale_answers.newest_evidence IS 'Date of the newest dated piece.';
COMMENT ON COLUMN mart.stale_answers.newest_url IS 'Address of that piece.';
COMMENT ON COLUMN mart.stale_answers.systems_rated IS 'Systems rated in relaxed mode.';
COMMENT ON COLUMN mart.stale_answers.systems_incorrect IS 'Of them, systems rated incorrect.';
COMMENT ON COLUMN mart.stale_answers.proposed_answer IS 'Short answer that most systems rated incorrect gave alike and the evidence holds, else what an answer box without the ground truth says.';
COMMENT ON COLUMN mart.stale_answers.reviewed_week IS 'Week of the last review that still holds; NULL without one.';
COMMENT ON COLUMN mart.stale_answers.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.stale_answers.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE mart.staleness_model (
    week DATE NOT NULL,
    part VARCHAR NOT NULL CHECK (part IN ('changes a day', 'history', 'signals')),
    feature VARCHAR NOT NULL,
    mean DOUBLE NOT NULL,
    scale DOUBLE NOT NULL CHECK (scale > 0),
    coefficient DOUBLE NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, part, feature)
);
COMMENT ON TABLE mart.staleness_model IS 'The model behind the risk of a week, whole; empty while too few answers have changed.';
COMMENT ON COLUMN mart.staleness_model.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.staleness_model.part IS 'changes a day: rate of a kind of question, in coefficient; history: regression on what the versions say; signals: regression on its log odds and the signals of the week.';
COMMENT ON COLUMN mart.staleness_model.feature IS 'Kind, feature, or intercept.';
COMMENT ON COLUMN mart.staleness_model.mean IS 'Mean it is centred by.';
COMMENT ON COLUMN mart.staleness_model.scale IS 'Standard deviation it is divided by.';
COMMENT ON COLUMN mart.staleness_model.coefficient IS 'What one standard deviation adds to the log odds of a change.';
COMMENT ON COLUMN mart.staleness_model.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.staleness_model.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE mart.judge_agreement (
    week DATE NOT NULL,
    rater_a VARCHAR NOT NULL,
    rater_b VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    rated INTEGER NOT NULL CHECK (rated > 0),
    both_correct INTEGER NOT NULL,
    only_a INTEGER NOT NULL,
    only_b INTEGER NOT NULL,
    both_incorrect INTEGER NOT NULL,
    agreement DOUBLE NOT NULL CHECK (agreement BETWEEN 0 AND 1),
    kappa DOUBLE CHECK (kappa BETWEEN -1 AND 1),
    kappa_low DOUBLE,
    kappa_high DOUBLE,
    alpha DOUBLE,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, rater_a, rater_b, mode, slice),
    CHECK (rater_a < rater_b AND both_correct + only_a + only_b + both_incorrect = rated)
);
COMMENT ON TABLE mart.judge_agreement IS 'Pairs of judges and people on the answers both rated: how far they agree.';
COMMENT ON COLUMN mart.judge_agreement.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.judge_agreement.rater_a IS 'The first by name; people are named human:NAME.';
COMMENT ON COLUMN mart.judge_agreement.rater_b IS 'The second by name.';
COMMENT ON COLUMN mart.judge_agreement.mode IS 'relaxed or strict.';
COMMENT ON COLUMN mart.judge_agreement.slice IS 'Subset of the questions, as in mart.accuracy.';
COMMENT ON COLUMN mart.judge_agreement.rated IS 'Answers that both rated correct or incorrect.';
COMMENT ON COLUMN mart.judge_agreement.both_correct IS 'Both said correct.';
COMMENT ON COLUMN mart.judge_agreement.only_a IS 'Only the first said correct.';
COMMENT ON COLUMN mart.judge_agreement.only_b IS 'Only the second said correct.';
COMMENT ON COLUMN mart.judge_agreement.both_incorrect IS 'Both said incorrect.';
COMMENT ON COLUMN mart.judge_agreement.agreement IS 'Share on which they agree.';
COMMENT ON COLUMN mart.judge_agreement.kappa IS 'Cohen''s kappa; NULL where one of them never varies.';
COMMENT ON COLUMN mart.judge_agreement.kappa_low IS 'Lower end of its 95 % interval.';
COMMENT ON COLUMN mart.judge_agreement.kappa_high IS 'Upper end of its 95 % interval.';
COMMENT ON COLUMN mart.judge_agreement.alpha IS 'Krippendorff''s alpha (nominal); NULL where nothing varies.';
COMMENT ON COLUMN mart.judge_agreement.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.judge_agreement.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE mart.corrected_accuracy (
    week DATE NOT NULL,
    system VARCHAR NOT NULL,
    judge VARCHAR NOT NULL,
    mode VARCHAR NOT NULL,
    judged INTEGER NOT NULL CHECK (judged > 0),
    accuracy DOUBLE NOT NULL CHECK (accuracy BETWEEN 0 AND 1),
    people_rated INTEGER NOT NULL CHECK (people_rated > 0),
    sensitivity DOUBLE NOT NULL CHECK (sensitivity BETWEEN 0 AND 1),
    specificity DOUBLE NOT NULL CHECK (specificity BETWEEN 0 AND 1),
    corrected DOUBLE NOT NULL CHECK (corrected BETWEEN 0 AND 1),
    corrected_low DOUBLE NOT NULL,
    corrected_high DOUBLE NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, system, judge, mode),
    CHECK (corrected_low <= corrected_high)
);
COMMENT ON TABLE mart.corrected_accuracy IS 'Accuracy on all TEST questions, corrected for the errors of the judge that people found in a sample.';
COMMENT ON COLUMN mart.corrected_accuracy.week IS 'Monday of the evaluation week (UTC).';
COMMENT ON COLUMN mart.corrected_accuracy.system IS 'System under test.';
COMMENT ON COLUMN mart.corrected_accuracy.judge IS 'Judge that is corrected.';
COMMENT ON COLUMN mart.corrected_accuracy.mode IS 'relaxed or strict.';
COMMENT ON COLUMN mart.corrected_accuracy.judged IS 'Answers of the system that the judge rated.';
COMMENT ON COLUMN mart.corrected_accuracy.accuracy IS 'Accuracy as the judge sees it.';
COMMENT ON COLUMN mart.corrected_accuracy.people_rated IS 'Ratings by people of answers, of all systems of the week, that the judge rated too.';
COMMENT ON COLUMN mart.corrected_accuracy.sensitivity IS 'Share of what people call correct that the judge calls correct.';
COMMENT ON COLUMN mart.corrected_accuracy.specificity IS 'Share of what people call incorrect that the judge calls incorrect.';
COMMENT ON COLUMN mart.corrected_accuracy.corrected IS '(accuracy + specificity - 1) / (sensitivity + specificity - 1), within 0 and 1 (Rogan and Gladen 1978).';
COMMENT ON COLUMN mart.corrected_accuracy.corrected_low IS 'Lower end of its 95 % interval (bootstrap over both samples).';
COMMENT ON COLUMN mart.corrected_accuracy.corrected_high IS 'Upper end of its 95 % interval.';
COMMENT ON COLUMN mart.corrected_accuracy.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.corrected_accuracy.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE mart.retriever_recall (
    catalog VARCHAR NOT NULL,
    what VARCHAR NOT NULL CHECK (what IN ('steps', 'tables')),
    with_common BOOLEAN NOT NULL,
    split VARCHAR NOT NULL,
    retriever VARCHAR NOT NULL,
    k INTEGER NOT NULL CHECK (k > 0),
    requests INTEGER NOT NULL CHECK (requests > 0),
    recall DOUBLE NOT NULL CHECK (recall BETWEEN 0 AND 1),
    recall_low DOUBLE NOT NULL,
    recall_high DOUBLE NOT NULL,
    full_cover DOUBLE NOT NULL CHECK (full_cover BETWEEN 0 AND 1),
    mrr DOUBLE NOT NULL CHECK (mrr BETWEEN 0 AND 1),
    over_popularity DOUBLE NOT NULL,
    over_popularity_low DOUBLE NOT NULL,
    over_popularity_high DOUBLE NOT NULL,
    encoder VARCHAR NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (catalog, what, with_common, split, retriever, k),
    CHECK (recall_low <= recall_high AND full_cover <= recall + 1e-9)
);
COMMENT ON TABLE mart.retriever_recall IS 'How many of the entries that a workflow needs are suggested, by split and retriever; the paper reports k = 15 for steps and 10 for tables.';
COMMENT ON COLUMN mart.retriever_recall.catalog IS 'The catalog that is suggested from.';
COMMENT ON COLUMN mart.retriever_recall.what IS 'steps or tables.';
COMMENT ON COLUMN mart.retriever_recall.with_common IS 'Common steps are asked for too and may be suggested; the paper leaves them out.';
COMMENT ON COLUMN mart.retriever_recall.split IS 'Split of the requests; train and dev were learnt from and are not here.';
COMMENT ON COLUMN mart.retriever_recall.retriever IS 'popularity, bm25, dense, dense_per_step, neighbours, app or hybrid.';
COMMENT ON COLUMN mart.retriever_recall.k IS 'Number of suggestions.';
COMMENT ON COLUMN mart.retriever_recall.requests IS 'Requests that need at least one entry.';
COMMENT ON COLUMN mart.retriever_recall.recall IS 'Mean share of the needed entries among the first k.';
COMMENT ON COLUMN mart.retriever_recall.recall_low IS 'Low end of its 95 % interval (bootstrap over requests).';
COMMENT ON COLUMN mart.retriever_recall.recall_high IS 'High end of it.';
COMMENT ON COLUMN mart.retriever_recall.full_cover IS 'Share of requests whose entries are all among the first k.';
COMMENT ON COLUMN mart.retriever_recall.mrr IS 'Mean reciprocal rank of the first needed entry.';
COMMENT ON COLUMN mart.retriever_recall.over_popularity IS 'Recall less that of popularity on the same requests.';
COMMENT ON COLUMN mart.retriever_recall.over_popularity_low IS 'Low end of its 95 % interval (paired).';
COMMENT ON COLUMN mart.retriever_recall.over_popularity_high IS 'High end of it.';
COMMENT ON COLUMN mart.retriever_recall.encoder IS 'Name of the encoder.';
COMMENT ON COLUMN mart.retriever_recall.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN mart.retriever_recall.code_version IS 'Code version of the asset that wrote the row.';
