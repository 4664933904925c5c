"""Records as bytes, and what they are known by."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.codec import CodecError, canonical_json, decode_graph, encode_graph, from_json, to_json
from storage.records.documents import (
    Block,
    DocumentRecord,
    Edge,
    EdgeKind,
    NodeKind,
    ParsedDocument,
    ParsedPage,
    SourceFile,
    identify,
)
from storage.text import NAME_LENGTH, shorten, storable, without_sign_in
from tests.storage.worlds import graph, record


def test_a_text_is_cut_only_where_it_is_too_long():
    assert shorten("a" * NAME_LENGTH) == "a" * NAME_LENGTH
    assert len(shorten("a" * 10_000)) == NAME_LENGTH and shorten("a" * 10_000).endswith("…")
    assert shorten("abc", 2) == "a…" and shorten("ab", 2) == "ab"


def test_bytes_that_are_no_utf8_are_written_as_escapes():
    assert storable("caf\udce9.pdf") == "caf\\udce9.pdf" and storable("café.pdf") == "café.pdf"


def test_no_address_is_shown_with_its_password():
    for signed in ("me:secret", "me:sec/ret", "me:sec@ret", "secret"):
        assert without_sign_in(f"cannot reach 'http://{signed}@host:9000/b', again") == "cannot reach 'http://host:9000/b', again"
    assert without_sign_in("http://host/b is not at home") == "http://host/b is not at home"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SHARE = st.floats(0, 1)
BLOCKS = st.builds(
    Block,
    kind=st.sampled_from(NodeKind),
    text=TEXT,
    box=st.tuples(SHARE, SHARE, SHARE, SHARE),
    level=st.none() | st.integers(1, 9),
    html=st.none() | TEXT,
    caption=TEXT,
    caption_box=st.none() | st.tuples(SHARE, SHARE, SHARE, SHARE),
    footnote=TEXT,
    picture=st.none(),
    picture_text=TEXT,
    continues=st.booleans(),
)
PAGES = st.builds(ParsedPage, blocks=st.lists(BLOCKS, max_size=3).map(tuple), label=st.none() | TEXT, note=TEXT, image=st.none())
DOCUMENTS = st.builds(ParsedDocument, document_id=TEXT, media_type=TEXT, title=TEXT, pages=st.lists(PAGES, max_size=2).map(tuple))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS)
def test_a_parsed_document_comes_back_as_it_went(document):
    try:
        data = to_json(document)
    except CodecError as error:
        assert "not writable" in str(error)
    else:
        assert from_json(ParsedDocument, data) == document
        assert to_json(from_json(ParsedDocument, data)) == data


def test_a_graph_comes_back_as_it_went():
    before = graph("report")
    after = decode_graph(*encode_graph(before))
    assert (after.nodes, after.pages, after.rows, after.edges, after.sections) == (
        before.nodes,
        before.pages,
        before.rows,
        before.edges,
        before.sections,
    )
    for name in ("initial_vectors", "vectors", "page_vectors"):
        assert np.array_equal(getattr(after, name), getattr(before, name))


def test_equal_graphs_have_equal_bytes():
    assert encode_graph(graph("report")) == encode_graph(graph("report"))


@pytest.mark.parametrize("damage", [b"", b"[]", b'{"id": 3}', b"\xff", b"null"])
def test_bytes_that_are_no_record_are_refused(damage):
    with pytest.raises(CodecError, match="do not hold a DocumentRecord"):
        from_json(DocumentRecord, damage)


def test_what_json_cannot_hold_is_refused():
    for value in (float("nan"), "\ud800"):
        with pytest.raises(CodecError, match="not writable"):
            canonical_json({"a": value})
    for title in ("\ud800", 7):
        with pytest.raises(CodecError, match="not writable"):
            to_json(replace(record(graph("report")), title=title))


PARTS = st.lists(st.text() | st.integers(), max_size=4)


@given(PARTS, PARTS)
def test_only_equal_parts_have_equal_ids(first, second):
    same = [str(part) for part in first] == [str(part) for part in second]
    assert (identify(*first) == identify(*second)) == same


def test_an_edge_is_known_by_its_ends_and_kind():
    edge = Edge("a", "b", "d", "e", EdgeKind.NEXT, 0.5)
    assert edge.id == replace(edge, weight=0.7, relation="x").id
    assert edge.id != replace(edge, kind=EdgeKind.WINDOW).id
    assert edge.id != replace(edge, source="b", target="a").id


def test_a_file_is_known_by_its_address_where_it_has_one():
    file = SourceFile("/copies/a.pdf", "d", 1)
    assert (file.known_as, replace(file, address="s3://b/a.pdf").known_as) == ("/copies/a.pdf", "s3://b/a.pdf")
