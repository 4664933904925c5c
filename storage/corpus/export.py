"""A document's published graph as canonical JSON: equal bytes for equal documents and settings, whatever happened on the way."""

import hashlib
from dataclasses import fields
from typing import Any

from storage.codec import canonical_json
from storage.corpus.snapshot import Snapshot
from storage.records.documents import DocumentRecord, Vectors
from storage.text import storable


def export_document(snapshot: Snapshot, document_id: str) -> bytes:
    """Return the document with its pages, outline, nodes, table rows and edges; vectors as the SHA-256 of their bytes.

    No time, run, path or storage version is in it; file names are base names. Edges to other documents are those that start here.
    """
    record = next(document for document in snapshot.documents() if document.id == document_id)
    initial, last = snapshot.vectors(document_id)
    nodes = snapshot.nodes(document_id)
    places = {node.id: node.ordinal for node in nodes}
    return canonical_json(
        {
            "document": describe_document(record),
            "pages": with_hashes(plain(snapshot.pages(document_id)), "vector", snapshot.page_vectors(document_id)),
            "sections": [_without_empty_summary(section) for section in plain(snapshot.sections_of([document_id]))],
            "nodes": with_hashes(with_hashes(plain(nodes), "vector", last), "initial_vector", initial),
            "rows": plain(sorted(snapshot.rows(document_id), key=lambda row: (places[row.node_id], row.node_id, row.row, row.id))),
            "edges": plain(snapshot.edges(document_id)),
        }
    )


def _without_empty_summary(section: dict[str, Any]) -> dict[str, Any]:
    """Leave out what no model wrote: a corpus read by rules is exported as it was before sections had summaries."""
    return {name: value for name, value in section.items() if name != "summary" or value}


def describe_document(record: DocumentRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "version": record.version,
        "names": sorted({storable(path.rsplit("/", 1)[-1]) for path in record.paths}),
        "size_bytes": record.size_bytes,
        "media_type": record.media_type,
        "title": record.title,
        "state": record.state.value,
        "pages": record.pages,
        "nodes": record.nodes,
    }


def plain(records: list[Any]) -> list[dict[str, Any]]:
    return [{part.name: getattr(record, part.name) for part in fields(record)} for record in records]


def with_hashes(rows: list[dict[str, Any]], name: str, vectors: Vectors) -> list[dict[str, Any]]:
    """Return the rows with the SHA-256 of their vector's bytes (little-endian float32) under `name`."""
    hashes = [hashlib.sha256(vector.astype("<f4").tobytes()).hexdigest() for vector in vectors]
    return [row | {name: digest} for row, digest in zip(rows, hashes, strict=True)]
