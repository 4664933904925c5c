"""Headings, the outline that they make, and what texts refer to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind, OutlineEntry
from tasks.algorithms.layout.boxes import Element, simplify
from tasks.algorithms.layout.headings import Numbering, correct_headings, read_numbering, read_numberings, strip_continued
from tasks.algorithms.layout.outline import build_outline, find_slide_titles, index_bookmarks, rank_titles
from tasks.algorithms.layout.references import find_references, read_contents, resolve_references

TEXT = "This paragraph is long enough to stand under a heading, since it has more than fifteen words in it."


@pytest.mark.parametrize(
    ("title", "scheme", "number", "depth"),
    [
        ("4 Results", "arabic", "4", 1),
        ("4.1.2. Results", "arabic", "4.1.2", 3),
        ("IV. Method", "roman", "IV", 1),
        ("A.1 Proofs", "letter", "A.1", 2),
        ("B Proofs", "letter", "B", 1),
        ("Item 7A. Risks", "item", "7A", 1),
        ("Appendix B: Data", "appendix", "B", 1),
        ("PART II", "part", "II", 1),
    ],
)
def test_a_heading_says_its_number(title, scheme, number, depth):
    numbering = read_numbering(title)
    assert (numbering.scheme, numbering.number, numbering.depth) == (scheme, number, depth)


@pytest.mark.parametrize("title", ["Results", "2023 results", "4.5 %", "$", "A small thing"])
def test_other_titles_have_none(title):
    assert read_numbering(title) is None


def test_the_style_of_the_minority_is_no_numbering():
    assert read_numberings(["1. One", "2. Two", "1 Year"]) == [Numbering("arabic", "1", True), Numbering("arabic", "2", True), None]
    assert read_numberings(["1 One", "2 Two", "3. Three", "3.1 Four"])[2:] == [None, Numbering("arabic", "3.1", True)]


def test_continued_is_stripped_but_never_all():
    assert strip_continued("Assets (continued)") == "Assets"
    assert strip_continued("Assets, cont'd.") == "Assets,"
    assert strip_continued("Continued") == "Continued"


def part(serial, text, kind=NodeKind.PARAGRAPH, page=1, top=0.1, left=0.1):
    return Element(serial, page, Block(kind=kind, text=text, box=(left, top, 0.9, top + 0.02)))


def kinds(*elements, bookmarks=None):
    return [part.block.kind.value for part in correct_headings(elements, bookmarks or {})]


def test_what_a_bookmark_names_on_its_page_is_a_title():
    bookmarks = {"our method": frozenset({1})}
    assert kinds(part(0, TEXT), part(1, "Our method"), bookmarks=bookmarks) == ["paragraph", "title"]
    assert kinds(part(0, TEXT), part(1, "Our method", page=2), bookmarks=bookmarks) == ["paragraph", "paragraph"]


def test_a_part_or_item_is_a_title_but_not_in_a_table_of_contents_or_a_sentence():
    assert kinds(part(0, TEXT), part(1, "PART II"), part(2, TEXT))[1] == "title"
    assert kinds(part(0, TEXT), part(1, "Item 1A. Risk Factors"))[1] == "title"
    assert kinds(part(0, TEXT), part(1, "Item 1A. Risk Factors 12"))[1] == "paragraph"
    assert kinds(part(0, TEXT), part(1, "Item 1. Business"), part(2, "Item 2. Properties"))[1] == "paragraph"
    assert kinds(part(0, TEXT), part(1, "Item 2 describes properties"))[1] == "paragraph"


def test_the_first_line_of_a_page_that_looks_like_the_titles_is_one():
    title = part(0, "Known title", NodeKind.TITLE)
    assert kinds(title, part(1, "Distribution", page=2), part(2, TEXT, page=2, top=0.2))[1] == "title"
    assert kinds(title, part(1, "Distribution", page=2), part(2, "short", page=2))[1] == "paragraph"
    assert kinds(title, part(1, "Distribution:", page=2), part(2, TEXT, page=2))[1] == "paragraph"
    assert kinds(title, part(1, "Distribution", page=2), part(2, TEXT, page=2, left=0.3))[1] == "paragraph"
    assert kinds(title, part(1, "Distribution", page=2), part(2, TEXT, page=3))[1] == "paragraph"
    assert kinds(title, part(1, "Distribution", page=2), part(2, "Known title", NodeKind.TITLE, page=2))[1] == "title"
    assert kinds(part(1, "Distribution", page=2), part(2, TEXT, page=2))[0] == "paragraph"


def test_numbers_signs_and_items_are_no_titles():
    shown = kinds(part(0, "$ 25", NodeKind.TITLE), part(1, "Assets", NodeKind.TITLE), part(2, "章", NodeKind.TITLE))
    assert shown == ["paragraph", "title", "title"]
    assert kinds(part(0, "\u2022 An item", NodeKind.TITLE)) == ["paragraph"]


SIZES = dict.fromkeys(range(100), (600.0, 800.0))


def title(serial, text, height=0.015, page=1, level=2, kind=NodeKind.TITLE, top=0.1):
    width = 0.6 * height * len(text)
    return Element(serial, page, Block(kind=kind, text=text, box=(0.1, top, 0.1 + width, top + height), level=level))


def levels(*texts, bookmarks=(), first_level=2):
    titles = [
        title(n, *(text if isinstance(text, tuple) else (text,)), level=first_level if n == 0 else 2)
        for n, text in enumerate(texts)
    ]
    ranked = rank_titles(titles, index_bookmarks(bookmarks), page_sizes=SIZES)
    return [ranked[n] for n in range(len(texts))]


PARTS = ("PART I", "Item 1. Business", "Overview", "PART II", "Item 8. Statements", "1. Policies", "Leases", "2. Debt")


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("Abstract", "1 Introduction", "1.1 Why", "1.1.1 Really", "2 End", "References"), [1, 1, 2, 3, 1, 1]),
        (PARTS, [1, 2, 3, 1, 2, 3, 4, 3]),
        (("Chapter 1 Start", "1.1 One", "Chapter 2 End", "2.1 Two", "2.1.1 Three"), [1, 2, 1, 2, 3]),
        (("1 One", "A Proofs", "A.1 First", "B Data"), [1, 1, 2, 1]),
        (("I. One", "A. Part", "B. Part", "II. Two", "1 Deep"), [1, 2, 2, 1, 2]),
        (("I. Single", "A. Alone", "Other"), [1, 1, 1]),
        (("Appendix A Proofs", "A.1 First"), [1, 2]),
        (("1 One", "2 Two", "9 ways to save", "3 Three"), [1, 1, 1, 1]),
        (("Note 3 Leases", ("Big", 0.03)), [2, 1]),
        ((("Top", 0.04), ("Middle", 0.03), ("Low", 0.02), ("Middle again", 0.03)), [1, 2, 3, 2]),
        ((("Top", 0.04), ("Nearly as high", 0.0399), ("Low", 0.02)), [1, 1, 2]),
        ((("1 Numbered", 0.03), ("Small", 0.02), ("Smaller", 0.01), ("Large", 0.05)), [1, 2, 2, 1]),
    ],
)
def test_numbers_in_their_series_give_the_levels_and_letter_heights_rank_what_has_none(texts, expected):
    assert levels(*texts) == expected


def test_the_documents_own_title_stands_over_all():
    assert levels("A Survey", "1 Introduction", "1.1 Why", first_level=1) == [1, 2, 3]


def test_bookmarks_come_first():
    marks = [OutlineEntry("Results", 3, 1), OutlineEntry("--", 1, 1)]
    assert levels("1 One", "Results", bookmarks=marks) == [1, 3]


def test_a_continued_title_joins_its_section_and_children_end_with_it():
    elements = [
        title(0, "Assets", page=1),
        title(1, "Cash", page=1),
        title(2, "Assets (continued)", page=2),
        title(3, "Assets", page=3),
        title(4, "text", page=3, kind=NodeKind.PARAGRAPH),
        title(5, "Other (continued)", page=4),
    ]
    outline = build_outline(elements, {0: 1, 1: 2, 2: 1, 3: 1, 5: 1})
    assert [(heading.title, heading.serials) for heading in outline.headings] == [
        ("Assets", (0, 2, 3)),
        ("Cash", (1,)),
        ("Other", (5,)),
    ]
    assert outline.headings[0].last_page == 3
    assert outline.section_of == (0, 1, 0, 0, 0, 2)


def test_what_stands_before_the_first_title_has_no_section():
    assert build_outline([title(0, "text", kind=NodeKind.PARAGRAPH)], {}).section_of == (None,)


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), max_size=30))
def test_sections_are_a_tree_in_reading_order_without_jumps(drawn):
    page = 1
    elements = []
    for serial, (_, step) in enumerate(drawn):
        page += step
        elements.append(title(serial, f"Title {serial}", page=page))
    outline = build_outline(elements, {serial: level for serial, (level, _) in enumerate(drawn)})
    for place, heading in enumerate(outline.headings):
        assert heading.first_page <= heading.last_page
        if heading.parent is None:
            assert heading.level == 1
        else:
            parent = outline.headings[heading.parent]
            assert heading.parent < place
            assert heading.level == parent.level + 1
            assert parent.first_page <= heading.first_page <= heading.last_page <= parent.last_page


def test_a_slides_title_is_its_largest_title_or_the_large_line_that_opens_it():
    page = [
        title(0, "Small", 0.02, page=1),
        title(1, "Large", 0.06, page=1),
        title(2, "Opening line", 0.06, page=2, kind=NodeKind.PARAGRAPH),
        title(3, "body", 0.02, page=2, kind=NodeKind.PARAGRAPH, top=0.5),
        title(4, "tiny", 0.02, page=3, kind=NodeKind.PARAGRAPH),
        title(5, "huge", 0.06, page=3, kind=NodeKind.PARAGRAPH, top=0.5),
        title(6, "", 0.06, page=4, kind=NodeKind.FIGURE),
    ]
    assert find_slide_titles(page, page_sizes=SIZES) == [1, 2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("as Figure 3 shows", ["figure 3"]),
        ("Figures 2 and 3", ["figure 2", "figure 3"]),
        ("Tables 1-3", ["table 1", "table 2", "table 3"]),
        ("Section 4.1 and § 5", ["section 4.1", "section 5"]),
        ("(§4.1, 4.2)", ["section 4.1", "section 4.2"]),
        ("on page 12 or p. 13", ["page 12", "page 13"]),
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


def referred(serial, kind, text="", page=1, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=(0, 0, 1, 1)), **more)


def resolve(*elements, labels=None, titles=None):
    return resolve_references(elements, titles or {}, labels or {})


def text(serial, words, page=1):
    return referred(serial, NodeKind.PARAGRAPH, words, page)


def test_a_reference_finds_the_figure_nearest_by_page_and_not_its_caption():
    figures = [referred(page, NodeKind.FIGURE, page=page, label="Figure 1") for page in (1, 9)]
    caption = referred(20, NodeKind.CAPTION, "Figure 1: A view", page=9, label="Figure 1", caption_of=9)
    assert resolve(figures[0], text(5, "see Figure 1b", page=7), figures[1], caption) == [(5, 9)]


def test_a_caption_without_its_figure_is_found_and_none_refers_to_itself():
    assert resolve(text(0, "Table 2"), referred(1, NodeKind.CAPTION, "Table 2: Costs", label="Table 2")) == [(0, 1)]


def test_sections_appendices_notes_and_equations_are_found_by_number():
    shown = resolve(
        referred(0, NodeKind.TITLE, "4.1 Results of Section 2"),
        referred(1, NodeKind.TITLE, "A Proofs"),
        referred(2, NodeKind.TITLE, "2. Debt"),
        referred(3, NodeKind.FORMULA, "x = y (7)"),
        referred(4, NodeKind.FORMULA, "x"),
        text(5, "Section 4.1, Appendix A, Note 2, Eq. (7), Section 99"),
    )
    assert shown == [(5, 0), (5, 1), (5, 2), (5, 3)]


def test_in_a_report_of_items_a_section_is_a_laws():
    titles = [referred(0, NodeKind.TITLE, "Item 8. Statements"), referred(1, NodeKind.TITLE, "13. Contingencies")]
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
    start = referred(0, NodeKind.TITLE, "1 Start")
    assert resolve(text(5, contents), start, titles={simplify("1 Start"): [0]}) == [(5, 0)]


def test_a_tables_caption_counts_as_its_words():
    table = Element(0, 1, Block(kind=NodeKind.TABLE, text="a", box=(0, 0, 1, 1), caption="as in Table 9"))
    assert resolve(table, referred(1, NodeKind.TABLE, label="Table 9")) == [(0, 1)]
