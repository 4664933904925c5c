import pytest

from storage.records.documents import Block, NodeKind
from tasks.algorithms.layout.boxes import Element
from tasks.algorithms.layout.headings import Numbering, correct_headings, read_numbering, read_numberings, strip_continued

TEXT = "This paragraph is long enough to stand under a heading, since it has more than fifteen words in it."


@pytest.mark.parametrize(
    ("title", "scheme", "number", "depth"),
    [
        ("4 Results", "arabic", "4", 1),
        ("4.1 Results", "arabic", "4.1", 2),
        ("4.1.2. Results", "arabic", "4.1.2", 3),
        ("IV. Method", "roman", "IV", 1),
        ("A.1 Proofs", "letter", "A.1", 2),
        ("B Proofs", "letter", "B", 1),
        ("Item 7A. Risks", "item", "7A", 1),
        ("CHAPTER 3", "chapter", "3", 1),
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


def element(serial, text, kind=NodeKind.PARAGRAPH, page=1, top=0.1, left=0.1):
    return Element(serial, page, Block(kind=kind, text=text, box=(left, top, 0.9, top + 0.02)))


def kinds(*elements, bookmarks=None):
    return [part.block.kind.value for part in correct_headings(elements, bookmarks or {})]


def test_what_a_bookmark_names_on_its_page_is_a_title():
    bookmarks = {"our method": frozenset({1})}
    assert kinds(element(0, TEXT), element(1, "Our method"), bookmarks=bookmarks) == ["paragraph", "title"]
    assert kinds(element(0, TEXT), element(1, "Our method", page=2), bookmarks=bookmarks) == ["paragraph", "paragraph"]


def test_a_part_or_item_is_a_title_but_not_in_a_table_of_contents_or_a_sentence():
    assert kinds(element(0, TEXT), element(1, "PART II"), element(2, TEXT))[1] == "title"
    assert kinds(element(0, TEXT), element(1, "Item 1A. Risk Factors"))[1] == "title"
    assert kinds(element(0, TEXT), element(1, "Item 1A. Risk Factors 12"))[1] == "paragraph"
    assert kinds(element(0, TEXT), element(1, "Item 1. Business"), element(2, "Item 2. Properties"))[1] == "paragraph"
    assert kinds(element(0, TEXT), element(1, "Item 2 describes properties"))[1] == "paragraph"


def test_the_first_line_of_a_page_that_looks_like_the_titles_is_one():
    title = element(0, "Known title", NodeKind.TITLE)
    assert kinds(title, element(1, "Distribution", page=2), element(2, TEXT, page=2, top=0.2))[1] == "title"
    assert kinds(title, element(1, "Distribution", page=2), element(2, "short", page=2))[1] == "paragraph"
    assert kinds(title, element(1, "Distribution:", page=2), element(2, TEXT, page=2))[1] == "paragraph"
    assert kinds(title, element(1, "Distribution", page=2), element(2, TEXT, page=2, left=0.3))[1] == "paragraph"
    assert kinds(title, element(1, "Distribution", page=2), element(2, TEXT, page=3))[1] == "paragraph"
    assert kinds(title, element(1, "Distribution", page=2), element(2, "Known title", NodeKind.TITLE, page=2))[1] == "title"
    assert kinds(element(1, "Distribution", page=2), element(2, TEXT, page=2))[0] == "paragraph"


def test_numbers_signs_and_items_are_no_titles():
    shown = kinds(element(0, "$ 25", NodeKind.TITLE), element(1, "Assets", NodeKind.TITLE), element(2, "章", NodeKind.TITLE))
    assert shown == ["paragraph", "title", "title"]
    assert kinds(element(0, "\u2022 An item", NodeKind.TITLE)) == ["paragraph"]
