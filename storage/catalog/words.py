"""The words on most pages of each document, with the share of them: a table that older catalogs lack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from storage.records.documents import DocumentGraph

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Rows = Callable[[str, list[Any]], list[tuple[Any, ...]]]


def add_table(connection: DuckDBPyConnection) -> None:
    columns = "document_id VARCHAR NOT NULL, word VARCHAR NOT NULL, share DOUBLE NOT NULL"
    connection.execute(f"CREATE TABLE IF NOT EXISTS document_words ({columns})")


def write_words(connection: DuckDBPyConnection, graph: DocumentGraph) -> None:
    """Write the words of a document, and first the empty one, for a document that says nothing is known, too."""
    words, shares = (list(column) for column in zip(("", 0.0), *graph.words, strict=True))
    connection.execute("INSERT INTO document_words SELECT ?, unnest(?), unnest(?)", [graph.document_id, words, shares])


@dataclass(frozen=True)
class DocumentWords:
    """Those of an open catalog, whose rows a query returns by `rows`."""

    rows: Rows

    @cached_property
    def documents(self) -> frozenset[str]:
        """The documents whose words are known: none that was read in before there was this table."""
        if not self.rows("SELECT 1 FROM duckdb_tables() WHERE table_name = 'document_words'", []):
            return frozenset()
        return frozenset(document for (document,) in self.rows("SELECT DISTINCT document_id FROM document_words", []))

    def shares(self, words: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the share of a document's pages that a word is on, by word and document; there are `documents`."""
        found: dict[str, dict[str, float]] = {}
        query = "SELECT word, document_id, share FROM document_words WHERE word IN (SELECT unnest(?::VARCHAR[])) ORDER BY ALL"
        for word, document, share in self.rows(query, [list(words)]):
            found.setdefault(word, {})[document] = share
        return found
