-- `lines` has the lines of all runs as they were written; one that cannot be read is NULL. Each begins with its number and its kind.
CREATE VIEW entries AS SELECT run_id, TRY_CAST((head).sequence AS BIGINT) AS sequence, (head).kind AS kind, line FROM (
    SELECT *, CASE WHEN regexp_matches(line, '^\{"sequence": \d+, "kind": "(run|plan|step|call|answer|end)"')
        THEN regexp_extract(line, '^\{"sequence": (\d+), "kind": "(\w+)"', ['sequence', 'kind']) END AS head
    FROM lines
);

CREATE VIEW runs AS SELECT
    run_id,
    max_by(line->>'$.code_version', sequence) FILTER (WHERE kind = 'run') AS code_version,
    max_by(line->'$.parameters', sequence) FILTER (WHERE kind = 'run') AS parameters,
    max_by(line->'$.settings', sequence) FILTER (WHERE kind = 'run') AS settings,
    -- A run that is tried again begins once more after its last end.
    CASE WHEN max_by(kind, sequence) FILTER (WHERE kind IN ('run', 'end')) = 'end'
        THEN max_by(line->>'$.outcome', sequence) FILTER (WHERE kind = 'end') END AS outcome,
    max_by(CAST(line->>'$.snapshot' AS BIGINT), sequence) FILTER (WHERE kind = 'end') AS snapshot,
    count(*) FILTER (WHERE kind IS NULL) AS unreadable_lines
FROM entries WHERE kind IN ('run', 'end') OR kind IS NULL GROUP BY run_id;

CREATE VIEW steps AS SELECT run_id, sequence, unnest(from_json(line, '{
    "step": "VARCHAR", "version": "VARCHAR", "key": "VARCHAR", "subject": "VARCHAR", "started": "VARCHAR", "seconds": "DOUBLE",
    "attempts": "BIGINT", "cache_hit": "BOOLEAN", "outputs": "JSON", "error": "VARCHAR"}'))
FROM entries WHERE kind = 'step';

CREATE VIEW model_calls AS SELECT run_id, sequence, unnest(from_json(line, '{
    "purpose": "VARCHAR", "subject": "VARCHAR", "answer_id": "VARCHAR", "item": "VARCHAR", "model": "VARCHAR",
    "prompt_hash": "VARCHAR", "key": "VARCHAR", "input_tokens": "BIGINT", "output_tokens": "BIGINT", "cost": "DOUBLE",
    "seconds": "DOUBLE", "attempts": "BIGINT", "outcome": "VARCHAR", "error": "VARCHAR"}'))
FROM entries WHERE kind = 'call';

-- What a newer version calls otherwise is empty.
CREATE VIEW answers AS SELECT * REPLACE (
    coalesce(asked, '') AS asked, coalesce(question, '') AS question,
    coalesce(citations, []) AS citations, coalesce(paths, []) AS paths, coalesce(evidence_pages, []) AS evidence_pages,
    coalesce(status, '') AS status)
FROM (SELECT run_id, sequence, unnest(from_json(line, '{
    "answer_id": "VARCHAR", "asked": "VARCHAR", "question": "VARCHAR", "answer": "VARCHAR", "answer_by": "VARCHAR",
    "status": "VARCHAR", "why": "VARCHAR", "reader": "VARCHAR", "snapshot": "BIGINT", "models": "JSON",
    "citations": [{"document": {"id": "VARCHAR", "name": "VARCHAR"}, "page": "BIGINT"}],
    "paths": [{"pages": [{"document": {"id": "VARCHAR", "name": "VARCHAR"}, "page": "BIGINT"}]}],
    "evidence_pages": [{"document": {"id": "VARCHAR", "name": "VARCHAR"}, "page": "BIGINT"}]}')), line
FROM entries WHERE kind = 'answer');

-- The pages that answers cite, and those that were read for them; `top-k` has no paths, what it read is its evidence.
CREATE VIEW used_pages AS SELECT run_id, sequence, answer_id, asked, question, status, (used).cited AS cited,
    (used).place.document.id AS document_id, (used).place.document.name AS document_name, (used).place.page AS page
FROM (SELECT *, unnest([{'cited': true, 'place': place} for place in citations]
    || [{'cited': false, 'place': place} for place in flatten([path.pages for path in paths]) || evidence_pages]) AS used
FROM answers);
