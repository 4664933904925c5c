import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Section
from tasks.algorithms.questions.places import named_places
from tasks.algorithms.questions.resolved import NodeMark, PageMark, resolve_places

# Two documents: in "a" the printed numbers begin on its second page, in "b" none is printed.
PAGES = [PageMark("a", number, label) for number, label in [(1, None), (2, "1"), (3, "2"), (4, "iii")]]
PAGES += [PageMark("b", number, None) for number in (1, 2)]
SECTIONS = [
    Section("s1", "a", "v", 0, "1 Market", 1, None, 1, 2),
    Section("s2", "a", "v", 1, "1.1 Prices", 2, "s1", 2, 2),
    Section("s3", "a", "v", 2, "Market Outlook", 1, None, 3, 4),
]
NODES = [
    NodeMark("a1", "a", 1, "", "s1"),
    NodeMark("a2", "a", 2, "Figure 1", "s2"),
    NodeMark("a3", "a", 3, "Table 1-1", "s3"),
    NodeMark("b1", "b", 1, "Chart 2", None),
    NodeMark("b2", "b", 2, "Figure 2", None),
]


def resolve(question, *, pages=PAGES, sections=SECTIONS, nodes=NODES):
    return resolve_places(named_places(question), pages=pages, sections=sections, nodes=nodes, beside_printed=0.25)


def test_a_number_means_the_printed_page_before_the_counted_one():
    found = resolve("page 2")
    assert found.pages == {("a", 3): 1.0, ("a", 2): 0.25, ("b", 2): 1.0}
    assert found.nodes == {"a2": 0.25, "a3": 1.0, "b2": 1.0}
    assert found.unknown == ()


def test_a_roman_label_is_found():
    assert resolve("page iii").pages == {("a", 4): 1.0}


def test_pages_are_counted_from_either_end_of_each_document():
    assert resolve("the last page").pages == {("a", 4): 1.0, ("b", 2): 1.0}
    assert resolve("the third page").pages == {("a", 3): 1.0}


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("pages 2-3", {("a", 3): 1.0, ("a", 2): 0.25, ("b", 2): 1.0}),
        ("from page 1 to page 2", {("a", 2): 1.0, ("a", 3): 1.0, ("a", 1): 0.25, ("b", 1): 1.0, ("b", 2): 1.0}),
        ("from page 3 to the last page", {("a", 3): 1.0, ("a", 4): 1.0}),
        ("the last two slides", {("a", 3): 1.0, ("a", 4): 1.0, ("b", 1): 1.0, ("b", 2): 1.0}),
        ("the first 40 pages", {("a", page): 1.0 for page in range(1, 5)} | {("b", 1): 1.0, ("b", 2): 1.0}),
        ("from the second page to the last page", {("a", page): 1.0 for page in (2, 3, 4)} | {("b", 2): 1.0}),
    ],
)
def test_a_range_means_all_of_its_pages(question, pages):
    found = resolve(question)
    assert found.pages == pages and found.unknown == ()


@given(st.integers(1, 6), st.integers(1, 6))
def test_a_range_of_counted_pages_is_what_its_pages_are_one_by_one(first, last):
    marks = [PageMark("b", number, None) for number in range(1, 5)]
    asked = resolve(f"pages {first}-{last}", pages=marks, sections=[], nodes=[])
    if first < last:
        assert asked.pages == {("b", page): 1.0 for page in range(first, min(last, 4) + 1)}
        assert bool(asked.unknown) is (first > 4)


PIECES = (
    "the page pages slide p. first second last two three 3 10 0 -1 IV - , and to from between through final section Market 1 in"
)


@given(st.lists(st.sampled_from(PIECES.split()), max_size=12))
def test_whatever_is_named_lies_in_the_documents_or_is_unknown(words):
    found = resolve(" ".join(words))
    assert found.pages.keys() <= {(page.document_id, page.number) for page in PAGES}
    assert found.nodes.keys() <= {node.id for node in NODES} and all(str(place) for place in found.unknown)


def test_a_section_of_which_a_page_is_named_means_this_page():
    found = resolve('page 2 of the "Outlook" part')
    assert found.nodes == {"a3": 1.0, "a2": 0.25, "b2": 1.0}
    assert resolve('page 1 and the "Outlook" part').pages[("a", 4)] == 1.0


@pytest.mark.parametrize(
    ("question", "nodes"),
    [
        ("Figure 1", {"a2": 1.0}),
        ("Table 1-1", {"a3": 1.0}),
        ("chart 1", {"a2": 1.0}),
        ("chart 2", {"b1": 1.0}),
        ("diagram 2", {"b2": 1.0}),
    ],
)
def test_a_label_means_its_node_and_a_chart_may_be_called_a_figure(question, nodes):
    found = resolve(question)
    assert found.nodes == nodes
    assert len(found.pages) == 1


def test_a_section_means_its_pages_and_what_stands_under_it():
    found = resolve("section 1")
    assert found.pages == {("a", 1): 1.0, ("a", 2): 1.0}
    assert found.nodes == {"a1": 1.0, "a2": 1.0}


def test_a_section_may_be_named_by_a_part_of_its_title():
    assert resolve('the "Outlook" part').nodes == {"a3": 1.0}


def test_the_strongest_meaning_counts():
    found = resolve("Figure 1 in section 1 on page 1")
    assert found.nodes == {"a1": 1.0, "a2": 1.0, "b1": 1.0}


def test_places_that_no_document_has_are_reported_but_titles_are_guesses():
    found = resolve('page 99, Figure 9, section 7, the 40th page, and the "Weather" part')
    assert found.pages == {} == found.nodes
    assert [str(place) for place in found.unknown] == ["page 99", "page 40", "figure 9", "section 7"]
    assert [str(place) for place in resolve("pages 98 to 99").unknown] == ["pages 98 to 99"]


def test_without_documents_nothing_is_meant():
    found = resolve("page 2, Figure 1, section 1, the last page", pages=[], sections=[], nodes=[])
    assert (found.pages, found.nodes, len(found.unknown)) == ({}, {}, 4)
