"""What a document brings besides its vectors: the bits of its tokens, and the words on most of its pages."""

from dataclasses import replace

import duckdb
import pytest

from storage.codec import decode_graph, encode_graph
from storage.corpus.reconciling import NO_CHANGE
from storage.corpus.snapshot import open_for_reading
from storage.graph.checks import GraphError
from storage.graph.tables import TOKENS, TableName
from tests.storage.worlds import corpus_in, graph, publish, writing

BITS = (b"\x01\x02", b"", b"\xff\xfe\x07\x08", b"\x00\x00", b"", b"\x10\x11")
REPORT = replace(graph("report"), tokens=BITS, words=(("nike", 0.75), ("revenue", 0.5)))
LETTER = replace(graph("letter"), words=(("revenue", 0.25),))


@pytest.fixture
def place(tmp_path):
    with writing(corpus_in(tmp_path)) as corpus:
        publish(corpus, REPORT, LETTER)
        corpus.index()
    return corpus.location


def tokens_of(document, place):
    with open_for_reading(place) as snapshot:
        positions = snapshot.view.adjacency.positions_of([node.id for node in document.nodes])
        return tuple(snapshot.view.columns.take(positions, [TOKENS])[TOKENS].tolist())


def shares(place, *words):
    with open_for_reading(place) as snapshot:
        return snapshot.words.shares(words)


def test_a_graph_comes_back_from_its_artifacts_with_tokens_and_words_and_without_where_it_has_none():
    again = decode_graph(*encode_graph(REPORT))
    assert (again.tokens, again.words) == (BITS, REPORT.words)
    plain = decode_graph(*encode_graph(graph("report")))
    assert (plain.tokens, plain.words) == (None, ())


def test_what_was_published_is_read_and_goes_with_the_document(place):
    assert tokens_of(REPORT, place) == BITS and tokens_of(LETTER, place) == (None,) * 6
    assert shares(place, "nike", "revenue", "wind") == {
        "nike": {REPORT.document_id: 0.75},
        "revenue": {REPORT.document_id: 0.5, LETTER.document_id: 0.25},
    }
    with writing(place) as corpus:
        publish(corpus, replace(REPORT, tokens=None, words=(("report", 1.0),)))
    assert tokens_of(REPORT, place) == (None,) * 6
    assert shares(place, "nike", "report") == {"report": {REPORT.document_id: 1.0}}
    with writing(place) as corpus:
        corpus.publish(removed=[REPORT.document_id])
    assert shares(place, "report", "revenue") == {"revenue": {LETTER.document_id: 0.25}}


def test_a_corpus_from_before_has_neither_and_takes_them_with_what_comes(place):
    with writing(place) as corpus:
        corpus.graph_store.tables[TableName.NODES].drop_columns([TOKENS])
        corpus._commit(NO_CHANGE, corpus.graph_store.versions())
    with duckdb.connect(str(place.catalog)) as connection:
        connection.execute("DROP TABLE document_words")
    with open_for_reading(place) as snapshot:
        assert not snapshot.view.has_tokens
    with writing(place) as corpus:
        publish(corpus, LETTER)
    assert shares(place, "nike", "revenue") == {"revenue": {LETTER.document_id: 0.25}}
    with open_for_reading(place) as snapshot:
        assert snapshot.words.documents == {LETTER.document_id}
    assert tokens_of(REPORT, place) == (None,) * 6


def test_a_document_whose_tokens_are_not_of_its_nodes_is_not_stored(tmp_path):
    with writing(corpus_in(tmp_path)) as corpus, pytest.raises(GraphError, match="tokens of 5 nodes instead of 6; embed"):
        publish(corpus, replace(REPORT, tokens=BITS[1:]))
