import pytest

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element, simplify
from tasks.algorithms.layout.references import find_references, read_contents, resolve_references


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as Figure 3 shows", ["figure 3"]),
        ("see Fig. 3a.", ["figure 3"]),
        ("Figures 2 and 3", ["figure 2", "figure 3"]),
        ("Tables 1-3", ["table 1", "table 2", "table 3"]),
        ("Section 4.1 and § 5", ["section 4.1", "section 5"]),
        ("(§4.1, 4.2)", ["section 4.1", "section 4.2"]),
        ("on page 12 or p. 13", ["page 12", "page 13"]),
        ("Appendix A", ["appendix A"]),
        ("Eq. (2)", ["equation 2"]),
        ("Note 5 to the statements; a note 5", ["note 5"]),
        ("Item 7A, and Part II", ["item 7A", "part II"]),
        ("Table IV and Figure A.2", ["table IV", "figure A.2"]),
        ("Tables 1-90", ["table 1", "table 90"]),
        ("a table of 3 figures, 20% of page views", []),
        ("the item 3", []),
    ],
)
def test_what_a_text_refers_to(text, found):
    assert [f"{reference.kind} {reference.number}" for reference in find_references(text)] == found


def element(serial, kind, text="", page=1, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=(0, 0, 1, 1)), **more)


def resolve(*elements, labels=None, titles=None):
    return resolve_references(elements, titles or {}, labels or {})


def text(serial, words, page=1):
    return element(serial, NodeKind.PARAGRAPH, words, page)


def test_a_reference_finds_the_figure_nearest_by_page_and_not_its_caption():
    figures = [element(page, NodeKind.FIGURE, page=page, label="Figure 1") for page in (1, 9)]
    caption = element(20, NodeKind.CAPTION, "Figure 1: A view", page=9, label="Figure 1", caption_of=9)
    assert resolve(figures[0], text(5, "see Figure 1b", page=7), figures[1], caption) == [(5, 9)]


def test_a_caption_without_its_figure_is_found_and_none_refers_to_itself():
    assert resolve(text(0, "Table 2"), element(1, NodeKind.CAPTION, "Table 2: Costs", label="Table 2")) == [(0, 1)]


def test_sections_appendices_notes_and_equations_are_found_by_number():
    shown = resolve(
        element(0, NodeKind.TITLE, "4.1 Results of Section 2"),
        element(1, NodeKind.TITLE, "A Proofs"),
        element(2, NodeKind.TITLE, "2. Debt"),
        element(3, NodeKind.FORMULA, "x = y (7)"),
        element(4, NodeKind.FORMULA, "x"),
        text(5, "Section 4.1, Appendix A, Note 2, Eq. (7), Section 99"),
    )
    assert shown == [(5, 0), (5, 1), (5, 2), (5, 3)]


def test_in_a_report_of_items_a_section_is_a_laws():
    titles = [element(0, NodeKind.TITLE, "Item 8. Statements"), element(1, NodeKind.TITLE, "13. Contingencies")]
    assert resolve(*titles, text(2, "Section 13 of the Act"), text(3, "Note 13")) == [(3, 1)]


def test_pages_are_meant_as_printed_and_only_then_as_counted():
    pages = [text(n, f"page of {n}", page=n) for n in (1, 2, 3)]
    assert resolve(*pages, text(9, "see page 3", page=3), labels={1: "3", 2: "4", 3: "5"}) == [(9, 1)]
    assert resolve(*pages, text(9, "see page 2", page=3), labels={1: "8", 2: "9", 3: None}) == [(9, 2)]


def test_a_table_of_contents_refers_to_the_sections_that_it_names_and_no_more():
    contents = "1 Start .... 3\n2 Figure 1 | 5\nUnknown 9"
    assert read_contents(contents) == ["1 Start", "2 Figure 1", "Unknown"]
    assert read_contents("Sales 4\nsome text\nmore text\n3") == []
    assert read_contents("x" * 300 + " 3\n1\n2\n3") == []
    start = element(0, NodeKind.TITLE, "1 Start")
    assert resolve(text(5, contents), start, titles={simplify("1 Start"): [0]}) == [(5, 0)]


def test_a_tables_caption_counts_as_its_words():
    table = Element(0, 1, Block(kind=NodeKind.TABLE, text="a", box=(0, 0, 1, 1), caption="as in Table 9"))
    assert resolve(table, element(1, NodeKind.TABLE, label="Table 9")) == [(0, 1)]
