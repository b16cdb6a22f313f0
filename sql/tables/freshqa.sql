CREATE SCHEMA IF NOT EXISTS freshqa;

CREATE TABLE freshqa.version_index (
    position INTEGER NOT NULL PRIMARY KEY CHECK (position >= 0),
    version DATE,
    label VARCHAR NOT NULL,
    sheet_id VARCHAR,
    resource_key VARCHAR,
    next_update DATE,
    note VARCHAR,
    problem VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    CHECK ((version IS NULL) = (problem IS NOT NULL))
);
COMMENT ON TABLE freshqa.version_index IS 'Upstream list of versions, newest first, every entry kept.';
COMMENT ON COLUMN freshqa.version_index.position IS 'Place in the list, from 0.';
COMMENT ON COLUMN freshqa.version_index.version IS 'Date of the version; NULL where the entry could not be read.';
COMMENT ON COLUMN freshqa.version_index.label IS 'Label as written upstream.';
COMMENT ON COLUMN freshqa.version_index.sheet_id IS 'Google Sheets id.';
COMMENT ON COLUMN freshqa.version_index.resource_key IS 'Key that the link needs, where it has one.';
COMMENT ON COLUMN freshqa.version_index.next_update IS 'Announced date of the next version (newest entry only).';
COMMENT ON COLUMN freshqa.version_index.note IS 'What was irregular and how it was resolved.';
COMMENT ON COLUMN freshqa.version_index.problem IS 'Why the entry is no version; NULL where it is one.';
COMMENT ON COLUMN freshqa.version_index.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.version_index.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.revisions (
    version DATE NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    sequence INTEGER NOT NULL UNIQUE CHECK (sequence >= 1),
    origin VARCHAR NOT NULL CHECK (origin IN ('demo', 'import')),
    file_name VARCHAR NOT NULL,
    byte_hash VARCHAR NOT NULL,
    row_hash VARCHAR NOT NULL,
    row_count INTEGER NOT NULL CHECK (row_count > 0),
    finding_count INTEGER NOT NULL CHECK (finding_count >= 0),
    damage_accepted BOOLEAN NOT NULL,
    imported_at TIMESTAMP NOT NULL,
    PRIMARY KEY (version, revision)
);
COMMENT ON TABLE freshqa.revisions IS 'One row an import; a version edited in place gets a further revision, all are kept.';
COMMENT ON COLUMN freshqa.revisions.version IS 'Date of the version.';
COMMENT ON COLUMN freshqa.revisions.revision IS 'Number within the version, from 1; the highest is current.';
COMMENT ON COLUMN freshqa.revisions.sequence IS 'Order of imports over all versions; question keys are given in this order.';
COMMENT ON COLUMN freshqa.revisions.origin IS 'demo: the bundled fictional world; import: a file given by a person.';
COMMENT ON COLUMN freshqa.revisions.file_name IS 'Name of the imported file.';
COMMENT ON COLUMN freshqa.revisions.byte_hash IS 'SHA-256 of the file; its bytes are in the archive under it.';
COMMENT ON COLUMN freshqa.revisions.row_hash IS 'SHA-256 of the canonical rows; the same content in another format has the same hash.';
COMMENT ON COLUMN freshqa.revisions.row_count IS 'Questions in the file.';
COMMENT ON COLUMN freshqa.revisions.finding_count IS 'Irregular cells, see freshqa.findings.';
COMMENT ON COLUMN freshqa.revisions.damage_accepted IS 'Imported although content was lost, because the person said so.';
COMMENT ON COLUMN freshqa.revisions.imported_at IS 'Time of the import, UTC.';

CREATE TABLE freshqa.findings (
    version DATE NOT NULL,
    revision INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    file_row INTEGER,
    column_name VARCHAR,
    kind VARCHAR NOT NULL,
    action VARCHAR NOT NULL CHECK (action IN ('repaired', 'kept', 'damaged')),
    cell_text VARCHAR,
    PRIMARY KEY (version, revision, ordinal)
);
COMMENT ON TABLE freshqa.findings IS 'Irregular cells of an import and what was done with them.';
COMMENT ON COLUMN freshqa.findings.version IS 'Date of the version.';
COMMENT ON COLUMN freshqa.findings.revision IS 'Revision of the version.';
COMMENT ON COLUMN freshqa.findings.ordinal IS 'Number of the finding within the import, from 0.';
COMMENT ON COLUMN freshqa.findings.file_row IS 'Row of the file, from 1 as a spreadsheet counts; NULL: the whole file.';
COMMENT ON COLUMN freshqa.findings.column_name IS 'Column; NULL: the whole row or file.';
COMMENT ON COLUMN freshqa.findings.kind IS 'What is irregular, e.g. outer space, answer hole, Excel-rewritten answer.';
COMMENT ON COLUMN freshqa.findings.action IS 'repaired: nothing lost; kept: as upstream has it; damaged: content was lost before the import.';
COMMENT ON COLUMN freshqa.findings.cell_text IS 'The cell as found.';

CREATE TABLE freshqa.questions (
    version DATE NOT NULL,
    revision INTEGER NOT NULL,
    id INTEGER NOT NULL CHECK (id >= 0),
    split VARCHAR NOT NULL CHECK (split IN ('TEST', 'DEV')),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    question_hash VARCHAR NOT NULL,
    effective_year VARCHAR NOT NULL,
    next_review VARCHAR NOT NULL,
    review_date DATE,
    false_premise BOOLEAN NOT NULL,
    num_hops VARCHAR NOT NULL CHECK (num_hops IN ('one-hop', 'multi-hop')),
    fact_type VARCHAR NOT NULL CHECK (
        fact_type IN ('fast-changing', 'slow-changing', 'never-changing')
    ),
    sources VARCHAR[] NOT NULL,
    answers VARCHAR[] NOT NULL CHECK (len(answers) > 0),
    note VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (version, revision, id)
);
COMMENT ON TABLE freshqa.questions IS 'Questions and ground truth of every revision of every version.';
COMMENT ON COLUMN freshqa.questions.version IS 'Date of the version.';
COMMENT ON COLUMN freshqa.questions.revision IS 'Revision of the version; freshqa.current_questions shows the newest.';
COMMENT ON COLUMN freshqa.questions.id IS 'Row number upstream: for display only, it moves between versions.';
COMMENT ON COLUMN freshqa.questions.split IS 'TEST (scored) or DEV.';
COMMENT ON COLUMN freshqa.questions.question IS 'The question.';
COMMENT ON COLUMN freshqa.questions.question_hash IS 'Hash of the normalised question text; joins freshqa.question_links.';
COMMENT ON COLUMN freshqa.questions.effective_year IS 'Year the answer took effect, or ''before 2022''.';
COMMENT ON COLUMN freshqa.questions.next_review IS 'When upstream looks at the answer again, as written (N/A is text).';
COMMENT ON COLUMN freshqa.questions.review_date IS 'next_review as a date, where it is one.';
COMMENT ON COLUMN freshqa.questions.false_premise IS 'The question assumes something untrue.';
COMMENT ON COLUMN freshqa.questions.num_hops IS 'one-hop or multi-hop.';
COMMENT ON COLUMN freshqa.questions.fact_type IS 'fast-, slow- or never-changing; filled for false premises too.';
COMMENT ON COLUMN freshqa.questions.sources IS 'URLs of the ground truth; empty for N/A.';
COMMENT ON COLUMN freshqa.questions.answers IS 'Acceptable answers in upstream order.';
COMMENT ON COLUMN freshqa.questions.note IS 'Note of the maintainers.';
COMMENT ON COLUMN freshqa.questions.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.questions.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.question_links (
    question_hash VARCHAR NOT NULL PRIMARY KEY,
    question_key VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    method VARCHAR NOT NULL CHECK (method IN ('new', 'reworded')),
    score DOUBLE CHECK (score BETWEEN 0 AND 100),
    linked_from VARCHAR,
    first_version DATE NOT NULL,
    run_id VARCHAR,
    code_version VARCHAR
);
COMMENT ON TABLE freshqa.question_links IS 'Identity: the question key of every wording. An unchanged text keeps its key by exact match.';
COMMENT ON COLUMN freshqa.question_links.question_hash IS 'Hash of the normalised text of this wording.';
COMMENT ON COLUMN freshqa.question_links.question_key IS 'Identity of the question over versions and rewordings.';
COMMENT ON COLUMN freshqa.question_links.question IS 'The wording.';
COMMENT ON COLUMN freshqa.question_links.split IS 'TEST or DEV.';
COMMENT ON COLUMN freshqa.question_links.method IS 'new: its own question; reworded: matched to an earlier wording.';
COMMENT ON COLUMN freshqa.question_links.score IS 'Similarity to the earlier wording, 0 to 100; NULL when new.';
COMMENT ON COLUMN freshqa.question_links.linked_from IS 'question_hash of the earlier wording.';
COMMENT ON COLUMN freshqa.question_links.first_version IS 'Version through which the wording became known (in order of import).';
COMMENT ON COLUMN freshqa.question_links.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.question_links.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.changes (
    version DATE NOT NULL,
    previous_version DATE NOT NULL,
    question_key VARCHAR NOT NULL,
    field VARCHAR NOT NULL,
    detail VARCHAR,
    before VARCHAR,
    after VARCHAR,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (version, question_key, field),
    CHECK (before IS DISTINCT FROM after)
);
COMMENT ON TABLE freshqa.changes IS 'Field-level difference of each version to the version before it.';
COMMENT ON COLUMN freshqa.changes.version IS 'The later version.';
COMMENT ON COLUMN freshqa.changes.previous_version IS 'The version dated next before it.';
COMMENT ON COLUMN freshqa.changes.question_key IS 'Identity of the question.';
COMMENT ON COLUMN freshqa.changes.field IS 'Column of freshqa.questions; presence: the question was added or removed.';
COMMENT ON COLUMN freshqa.changes.detail IS 'presence: added, removed. question: reworded. answers: aliases (first answer kept), first answer, replaced (nothing in common).';
COMMENT ON COLUMN freshqa.changes.before IS 'Earlier value as text; lists as JSON; NULL when added.';
COMMENT ON COLUMN freshqa.changes.after IS 'Later value as text; lists as JSON; NULL when removed.';
COMMENT ON COLUMN freshqa.changes.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.changes.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.volatility (
    question_key VARCHAR NOT NULL PRIMARY KEY,
    version DATE NOT NULL,
    kind VARCHAR NOT NULL,
    days_seen INTEGER NOT NULL CHECK (days_seen >= 0),
    changes_seen INTEGER NOT NULL CHECK (changes_seen >= 0),
    last_change DATE,
    changes_per_year DOUBLE NOT NULL CHECK (changes_per_year > 0),
    expected_change DATE,
    run_id VARCHAR,
    code_version VARCHAR
);
COMMENT ON TABLE freshqa.volatility IS 'How often the ground truth of each question changed over all versions, and when it may change next.';
COMMENT ON COLUMN freshqa.volatility.question_key IS 'Identity of the question.';
COMMENT ON COLUMN freshqa.volatility.version IS 'Newest version that has the question.';
COMMENT ON COLUMN freshqa.volatility.kind IS 'Fact type, or false premise.';
COMMENT ON COLUMN freshqa.volatility.days_seen IS 'Days from the first to the newest version that has it.';
COMMENT ON COLUMN freshqa.volatility.changes_seen IS 'Changes of its first answer in that time (aliases alone do not count).';
COMMENT ON COLUMN freshqa.volatility.last_change IS 'Version of the last change; NULL where none was seen.';
COMMENT ON COLUMN freshqa.volatility.changes_per_year IS 'Hierarchical rate: its own changes, drawn towards those of its kind by 90 days of watching.';
COMMENT ON COLUMN freshqa.volatility.expected_change IS 'Day by which a change is as likely as not at that rate; NULL if beyond 50 years.';
COMMENT ON COLUMN freshqa.volatility.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.volatility.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.decisions (
    sequence INTEGER NOT NULL PRIMARY KEY CHECK (sequence >= 1),
    question_key VARCHAR NOT NULL,
    week DATE NOT NULL,
    decision VARCHAR NOT NULL CHECK (decision IN ('keep', 'correct', 'reword', 'retire')),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    answers VARCHAR[] NOT NULL CHECK (len(answers) BETWEEN 1 AND 10),
    reviewed_question VARCHAR NOT NULL,
    reviewed_answers VARCHAR[] NOT NULL,
    reason VARCHAR NOT NULL CHECK (length(reason) > 0),
    source VARCHAR,
    reviewer VARCHAR NOT NULL CHECK (length(reviewer) > 0),
    decided_at TIMESTAMP NOT NULL,
    CHECK (decision <> 'correct' OR source IS NOT NULL)
);
COMMENT ON TABLE freshqa.decisions IS 'What people decided about ground truths; see `fresh-assets review`. A later decision replaces an earlier one, all are kept.';
COMMENT ON COLUMN freshqa.decisions.sequence IS 'Order of the decisions, from 1.';
COMMENT ON COLUMN freshqa.decisions.question_key IS 'Identity of the question.';
COMMENT ON COLUMN freshqa.decisions.week IS 'Monday of the week that was reviewed; it holds from that week on.';
COMMENT ON COLUMN freshqa.decisions.decision IS 'keep: still true; correct: other answers; reword: another wording; retire: ask no more.';
COMMENT ON COLUMN freshqa.decisions.question IS 'The wording from now on.';
COMMENT ON COLUMN freshqa.decisions.answers IS 'The acceptable answers from now on.';
COMMENT ON COLUMN freshqa.decisions.reviewed_question IS 'The wording upstream had; the decision ends when upstream changes it.';
COMMENT ON COLUMN freshqa.decisions.reviewed_answers IS 'The answers upstream had; the decision ends when upstream changes them.';
COMMENT ON COLUMN freshqa.decisions.reason IS 'Why, in the words of the reviewer.';
COMMENT ON COLUMN freshqa.decisions.source IS 'Where it can be read.';
COMMENT ON COLUMN freshqa.decisions.reviewer IS 'Who decided.';
COMMENT ON COLUMN freshqa.decisions.decided_at IS 'Time of the decision, UTC.';

CREATE TABLE freshqa.ground_truth (
    week DATE NOT NULL,
    question_key VARCHAR NOT NULL,
    version DATE NOT NULL,
    id INTEGER NOT NULL CHECK (id >= 0),
    split VARCHAR NOT NULL CHECK (split IN ('TEST', 'DEV')),
    question VARCHAR NOT NULL CHECK (length(question) > 0),
    effective_year VARCHAR NOT NULL,
    next_review VARCHAR NOT NULL,
    review_date DATE,
    false_premise BOOLEAN NOT NULL,
    num_hops VARCHAR NOT NULL CHECK (num_hops IN ('one-hop', 'multi-hop')),
    fact_type VARCHAR NOT NULL CHECK (
        fact_type IN ('fast-changing', 'slow-changing', 'never-changing')
    ),
    answers VARCHAR[] NOT NULL CHECK (len(answers) > 0),
    valid_from DATE NOT NULL,
    decision INTEGER,
    reviewed_week DATE,
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (week, question_key),
    CHECK (decision IS NULL OR reviewed_week <= week)
);
COMMENT ON TABLE freshqa.ground_truth IS 'What is asked and held true in a week: the questions of its version with the decisions of people over them, without retired ones.';
COMMENT ON COLUMN freshqa.ground_truth.week IS 'Monday of the week (UTC).';
COMMENT ON COLUMN freshqa.ground_truth.question_key IS 'Identity of the question.';
COMMENT ON COLUMN freshqa.ground_truth.version IS 'Version the week is evaluated against.';
COMMENT ON COLUMN freshqa.ground_truth.id IS 'Row number upstream in that version, for display only.';
COMMENT ON COLUMN freshqa.ground_truth.split IS 'TEST or DEV.';
COMMENT ON COLUMN freshqa.ground_truth.question IS 'The wording that is asked.';
COMMENT ON COLUMN freshqa.ground_truth.effective_year IS 'Year since which the answer holds, or before 2022.';
COMMENT ON COLUMN freshqa.ground_truth.next_review IS 'Review class or date as written upstream.';
COMMENT ON COLUMN freshqa.ground_truth.review_date IS 'Date of the next review; NULL where upstream gives only a class.';
COMMENT ON COLUMN freshqa.ground_truth.false_premise IS 'The question takes something untrue for granted.';
COMMENT ON COLUMN freshqa.ground_truth.num_hops IS 'one-hop or multi-hop.';
COMMENT ON COLUMN freshqa.ground_truth.fact_type IS 'How fast the answer changes.';
COMMENT ON COLUMN freshqa.ground_truth.answers IS 'Acceptable answers, the first is the preferred one.';
COMMENT ON COLUMN freshqa.ground_truth.valid_from IS 'First version that had this first answer, or the week in which it was corrected.';
COMMENT ON COLUMN freshqa.ground_truth.decision IS 'Sequence of the decision in force; NULL: as upstream.';
COMMENT ON COLUMN freshqa.ground_truth.reviewed_week IS 'Week of the decision in force.';
COMMENT ON COLUMN freshqa.ground_truth.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.ground_truth.code_version IS 'Code version of the asset that wrote the row.';

CREATE TABLE freshqa.survival (
    kind VARCHAR NOT NULL,
    days INTEGER NOT NULL CHECK (days > 0),
    at_risk INTEGER NOT NULL CHECK (at_risk > 0),
    changed INTEGER NOT NULL CHECK (changed >= 0),
    survival DOUBLE NOT NULL CHECK (survival BETWEEN 0 AND 1),
    ci_low DOUBLE NOT NULL CHECK (ci_low BETWEEN 0 AND 1),
    ci_high DOUBLE NOT NULL CHECK (ci_high BETWEEN 0 AND 1),
    run_id VARCHAR,
    code_version VARCHAR,
    PRIMARY KEY (kind, days),
    CHECK (changed <= at_risk AND ci_low <= survival AND survival <= ci_high)
);
COMMENT ON TABLE freshqa.survival IS 'How long ground truths live: Kaplan-Meier curves over all versions, by kind of question.';
COMMENT ON COLUMN freshqa.survival.kind IS 'Fact type, or false premise.';
COMMENT ON COLUMN freshqa.survival.days IS 'Days since the first version that had the answer.';
COMMENT ON COLUMN freshqa.survival.at_risk IS 'Answers that were watched so long.';
COMMENT ON COLUMN freshqa.survival.changed IS 'Of them, answers that had changed by then.';
COMMENT ON COLUMN freshqa.survival.survival IS 'Share of answers still the same after so many days.';
COMMENT ON COLUMN freshqa.survival.ci_low IS 'Lower end of its 95 % interval.';
COMMENT ON COLUMN freshqa.survival.ci_high IS 'Upper end of its 95 % interval.';
COMMENT ON COLUMN freshqa.survival.run_id IS 'Dagster run that wrote the row.';
COMMENT ON COLUMN freshqa.survival.code_version IS 'Code version of the asset that wrote the row.';
