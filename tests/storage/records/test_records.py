from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Edge, EdgeKind, SourceFile, identify

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
