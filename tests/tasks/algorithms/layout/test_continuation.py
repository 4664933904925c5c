from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.continuation import find_chains, find_continued_paragraphs, find_continued_tables
from tasks.algorithms.layout.tables import Table

BOX = (0.1, 0.1, 0.9, 0.3)


def element(serial, text, page=1, kind=NodeKind.PARAGRAPH, box=BOX, caption_of=None, **more):
    return Element(serial, page, Block(kind=kind, text=text, box=box, **more), caption_of=caption_of)


def test_a_sentence_goes_on_over_a_page_a_figure_and_a_footnote_but_not_over_a_title():
    first, second = element(0, "This sentence goes on over the"), element(3, "page and ends.", page=2)
    between = [element(1, "", kind=NodeKind.FIGURE), element(2, "note", kind=NodeKind.FOOTNOTE)]
    assert find_continued_paragraphs([first, *between, second]) == [(0, 3)]
    assert find_continued_paragraphs([first, element(1, "Title", kind=NodeKind.TITLE), second]) == []


def test_what_ends_begins_anew_or_is_far_does_not_go_on():
    first = element(0, "This sentence goes on over the")
    assert find_continued_paragraphs([element(0, "This sentence has come to its end."), element(1, "page", page=2)]) == []
    assert find_continued_paragraphs([first, element(1, "Page", page=2)]) == []
    assert find_continued_paragraphs([first, element(1, "page", page=3)]) == []
    assert find_continued_paragraphs([first, element(1, "page", box=(0.1, 0.4, 0.9, 0.5))]) == []
    assert find_continued_paragraphs([element(0, "Few words"), element(1, "page", page=2)]) == []


def test_a_column_break_and_the_parsers_word_count():
    first = element(0, "This sentence goes on over the", box=(0.1, 0.5, 0.4, 0.9))
    assert find_continued_paragraphs([first, element(1, "column", box=(0.6, 0.1, 0.9, 0.4))]) == [(0, 1)]
    assert find_continued_paragraphs([element(0, "End."), element(1, "Piece", continues=True)]) == [(0, 1)]


HEADED = Table((("a", "b"), ("1", "2")), 1)
BARE = Table((("3", "4"),), 0)


def tables(*between, second=BARE, page=2, first_caption="Table 1: Costs", caption="", box=BOX):
    elements = [
        element(0, "", kind=NodeKind.TABLE, caption=first_caption),
        *between,
        element(9, "", kind=NodeKind.TABLE, page=page, caption=caption, box=box),
    ]
    return find_continued_tables(elements, {0: HEADED, 9: second})


def test_a_table_goes_on_with_its_columns_at_the_top_of_the_next_page():
    assert tables() == [(0, 9)]
    assert tables(second=HEADED) == [(0, 9)]
    own_caption = element(1, "Table 1: Costs", kind=NodeKind.CAPTION, caption_of=0)
    note, line = element(2, "note", kind=NodeKind.FOOTNOTE), element(3, "Table 1 (continued)", page=2)
    assert tables(own_caption, note, line, caption="Table 1 (continued)") == [(0, 9)]
    assert tables(caption="Table 1: Costs") == [(0, 9)]


def test_other_columns_headers_captions_places_or_text_between_make_another_table():
    assert tables(second=Table((("3",),), 0)) == []
    assert tables(second=Table((("x", "y"), ("3", "4")), 1)) == []
    assert tables(caption="Table 2: Prices") == []
    assert tables(page=3) == []
    assert tables(element(1, "text")) == []
    assert tables(element(1, "text"), element(2, "more")) == []
    assert tables(box=(0.95, 0.1, 1, 0.3)) == []


def test_only_the_first_table_of_a_page_goes_on():
    three = [element(n, "", kind=NodeKind.TABLE, page=page) for n, page in ((0, 1), (1, 2), (2, 2), (3, 3))]
    assert find_continued_tables(three, dict.fromkeys(range(4), BARE)) == [(0, 1), (2, 3)]


def test_a_chain_leads_back_to_its_first():
    assert list(find_chains([(0, 1), (1, 2), (5, 6)])) == [(1, 0), (2, 0), (6, 5)]
