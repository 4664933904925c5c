-- The results of all evaluations, version 1: the questions, the corpus, the code, and everything that was measured.

-- One row.
CREATE TABLE store (
    schema_version INTEGER NOT NULL
);

-- `started` is in ISO 8601; `settings` and `models` are JSON.
CREATE TABLE evaluations (
    run_id VARCHAR PRIMARY KEY,
    what VARCHAR NOT NULL,
    started VARCHAR NOT NULL,
    benchmark VARCHAR NOT NULL,
    benchmark_hash VARCHAR NOT NULL,
    corpus VARCHAR NOT NULL,
    snapshot BIGINT NOT NULL,
    scope VARCHAR NOT NULL,
    code VARCHAR NOT NULL,
    settings VARCHAR NOT NULL,
    models VARCHAR NOT NULL,
    notes VARCHAR[] NOT NULL
);

-- Means over questions with their 95 % intervals, which say nothing where `documents` is 1.
-- `position` keeps the order in which they are shown.
CREATE TABLE figures (
    run_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    arm VARCHAR NOT NULL,
    "group" VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    value DOUBLE NOT NULL,
    low DOUBLE NOT NULL,
    high DOUBLE NOT NULL,
    questions INTEGER NOT NULL,
    documents INTEGER NOT NULL
);

-- What each question was worth, by metric; `document` groups what stands or falls together.
CREATE TABLE scored (
    run_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    arm VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    document VARCHAR NOT NULL,
    "values" MAP(VARCHAR, DOUBLE) NOT NULL
);
