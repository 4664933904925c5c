from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Block, NodeKind, OutlineEntry
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.outline import build_outline, find_slide_titles, index_bookmarks, rank_titles

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


def test_numbers_give_the_levels_and_known_titles_without_one_have_the_highest():
    assert levels("Abstract", "1 Introduction", "1.1 Why", "1.1.1 Really", "2 End", "References") == [1, 1, 2, 3, 1, 1]


def test_the_documents_own_title_stands_over_all():
    assert levels("A Survey", "1 Introduction", "1.1 Why", first_level=1) == [1, 2, 3]


def test_parts_items_and_notes_are_nested_and_other_titles_stand_under_the_open_item():
    shown = levels("PART I", "Item 1. Business", "Overview", "PART II", "Item 8. Statements", "1. Policies", "Leases", "2. Debt")
    assert shown == [1, 2, 3, 1, 2, 3, 4, 3]


def test_a_chapters_sections_count_its_number():
    assert levels("Chapter 1 Start", "1.1 One", "Chapter 2 End", "2.1 Two", "2.1.1 Three") == [1, 2, 1, 2, 3]


def test_appendix_letters_and_roman_numbers_have_levels():
    assert levels("1 One", "A Proofs", "A.1 First", "B Data") == [1, 1, 2, 1]
    assert levels("I. One", "A. Part", "B. Part", "II. Two", "1 Deep") == [1, 2, 2, 1, 2]
    assert levels("I. Single", "A. Alone", "Other") == [1, 1, 1]
    assert levels("Appendix A Proofs", "A.1 First") == [1, 2]


def test_a_number_out_of_its_series_is_a_word_like_others():
    assert levels("1 One", "2 Two", "9 ways to save", "3 Three") == [1, 1, 1, 1]


def test_a_section_keyword_without_levels_says_nothing():
    assert levels("Note 3 Leases", ("Big", 0.03)) == [2, 1]


def test_letter_heights_rank_what_has_no_number():
    assert levels(("Top", 0.04), ("Middle", 0.03), ("Low", 0.02), ("Middle again", 0.03)) == [1, 2, 3, 2]
    assert levels(("Top", 0.04), ("Nearly as high", 0.0399), ("Low", 0.02)) == [1, 1, 2]
    assert levels(("1 Numbered", 0.03), ("Small", 0.02), ("Smaller", 0.01), ("Large", 0.05)) == [1, 2, 2, 1]


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
