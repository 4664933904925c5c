from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storage.records import Edge, EdgeKind, EmbedderIdentity, SourceFile, identify
from tests.storage.worlds import graph, record

PARTS = st.lists(st.text() | st.integers(), max_size=4)


@given(PARTS, PARTS)
def test_only_equal_parts_have_equal_ids(first, second):
    same = [str(part) for part in first] == [str(part) for part in second]
    assert (identify(*first) == identify(*second)) == same


def test_a_name_that_is_not_utf8_has_an_id():
    assert identify("\udcff") != identify("?")


def test_an_edge_is_known_by_its_ends_and_kind():
    edge = Edge("a", "b", "d", "e", EdgeKind.NEXT, 0.5)
    assert edge.id == replace(edge, weight=0.7, relation="x").id
    assert edge.id != replace(edge, kind=EdgeKind.WINDOW).id
    assert edge.id != replace(edge, source="b", target="a").id


def test_a_document_is_known_by_the_file_name_of_its_first_path():
    report = graph("report")
    assert record(report, "/x/b.pdf", "/a.pdf").name == "b.pdf"
    assert replace(record(report), paths=()).name == report.document_id[:12]


def test_a_file_is_known_by_its_address_where_it_has_one():
    file = SourceFile("/copies/a.pdf", "d", 1)
    assert (file.known_as, replace(file, address="s3://b/a.pdf").known_as) == ("/copies/a.pdf", "s3://b/a.pdf")


def test_embedders_that_differ_have_different_keys():
    assert EmbedderIdentity("a", "fp32", 8).key != EmbedderIdentity("a", "bf16", 8).key
