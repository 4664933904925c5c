-- The catalog of a corpus, version 3. One file for the writer, an immutable copy of it for readers with each publish.

-- One row. `lance_versions` (JSON) pins a version of each LanceDB table. `second_embedder` (JSON) is the identity of the second,
-- where there is one, `embedded_texts` what of a node was embedded.
CREATE TABLE corpus (
    schema_version INTEGER NOT NULL,
    embedder_name VARCHAR NOT NULL,
    embedder_precision VARCHAR NOT NULL,
    embedder_dimension INTEGER NOT NULL,
    snapshot BIGINT NOT NULL,
    lance_versions VARCHAR NOT NULL,
    second_embedder VARCHAR,
    embedded_texts VARCHAR NOT NULL
);

CREATE TABLE documents (
    id VARCHAR PRIMARY KEY,
    version VARCHAR NOT NULL,
    size_bytes BIGINT NOT NULL,
    media_type VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    pages INTEGER NOT NULL,
    nodes INTEGER NOT NULL,
    attempt VARCHAR NOT NULL,
    notes VARCHAR[] NOT NULL,
    table_rows INTEGER NOT NULL
);

-- Paths are bytes: a file name need not be UTF-8.
CREATE TABLE document_paths (
    document_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    path BLOB NOT NULL,
    PRIMARY KEY (document_id, position)
);

-- `summary` is a model's, empty where none wrote one.
CREATE TABLE sections (
    id VARCHAR NOT NULL,
    document_id VARCHAR NOT NULL,
    version VARCHAR NOT NULL,
    ordinal INTEGER NOT NULL,
    title VARCHAR NOT NULL,
    level INTEGER NOT NULL,
    parent_id VARCHAR,
    first_page INTEGER NOT NULL,
    last_page INTEGER NOT NULL,
    summary VARCHAR DEFAULT ''
);

-- Counts, so that `status` needs neither LanceDB nor a scan.
CREATE TABLE node_counts (
    document_id VARCHAR NOT NULL,
    modality VARCHAR NOT NULL,
    count BIGINT NOT NULL
);

CREATE TABLE edge_counts (
    source_document VARCHAR NOT NULL,
    target_document VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    count BIGINT NOT NULL
);

-- The pictures and page images that the published graph shows; they outlive every snapshot that names them.
CREATE TABLE document_artifacts (
    document_id VARCHAR NOT NULL,
    artifact VARCHAR NOT NULL
);
