"""The places that a question names, and what they mean in documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Section
from tasks.algorithms.questions.places import PlaceKind, named_places
from tasks.algorithms.questions.resolved import NodeMark, PageMark, resolve_places
from tasks.algorithms.questions.sections import named_titles, numbered_sections, titled_sections, with_subsections
from tasks.algorithms.questions.terms import question_terms


def shown(question):
    return [f"{place.kind.name} {place.value}{place.last and f'..{place.last}'}" for place in named_places(question)]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("the last page", ["-1"]),
        ("the back cover", ["-1"]),
        ("the second-to-last page", ["-2"]),
        ("the 3rd last page", ["-3"]),
        ("the penultimate slide", ["-2"]),
        ("the last two pages", ["-2..-1"]),
        ("the last one page", []),
        ("the first page", ["1"]),
        ("the front cover or the cover page", ["1"]),
        ("the third page and the 12th slide", ["3", "12"]),
        ("the third and the 12th slide", ["3", "12"]),
        ("the first, second and last pages", ["1", "2", "-1"]),
        ("from the second to the fourth slide", ["2..4"]),
        ("the first 3 slides", ["1..3"]),
        ("the first three pages and the last two", ["1..3"]),
        ("the 0th page", []),
        ("what does the policy cover, and this page?", []),
    ],
)
def test_pages_are_counted_from_either_end(text, pages):
    counted = [f"{place.value}{place.last and f'..{place.last}'}" for place in named_places(text)]
    assert counted == pages and {place.kind for place in named_places(text)} <= {PlaceKind.COUNTED, PlaceKind.PAGE}


NUMBERS = st.integers(1, 999)
FROM_TO = ["pages {}-{}", "pages {} to {}", "from page {} to page {}", "page {} through {}", "between pages {} and {}",
           "from slide {} up to slide {}", "between page {} and the page {}", "pp. {}\u2013{}"]  # fmt: skip


@given(st.sampled_from(FROM_TO), NUMBERS, NUMBERS)
def test_a_range_is_one_place_and_what_leads_backward_is_two(wording, first, last):
    named = shown(f"What is shown {wording.format(first, last)}?")
    single = list(dict.fromkeys([f"PAGE {first}", f"PAGE {last}"]))
    assert named == ([f"PAGE {first}..{last}"] if first < last else single)


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What is on page 14?", ["PAGE 14"]),
        ("Compare pages 3-5, 8 and 10 to 12", ["PAGE 3..5", "PAGE 8", "PAGE 10..12"]),
        ("from page 3 to the last page", ["PAGE 3..-1"]),
        ("between page 3 and Figure 5", ["PAGE 3", "LABEL figure 5"]),
        ("in slide number 7", ["PAGE 7"]),
        ("page fourteen", ["PAGE 14"]),
        ("page iv and page A-3", ["PAGE IV", "PAGE A-3"]),
        ("Figure 5 and Fig. 5a", ["LABEL figure 5"]),
        ("chart 3, Exhibit 10.23", ["LABEL chart 3", "LABEL exhibit 10.23"]),
        ("Table1-1", ["LABEL table 1-1"]),
        ("Tables 1\u20133", ["LABEL table 1", "LABEL table 2", "LABEL table 3"]),
        ("Appendix B", ["NUMBERED appendix B"]),
        ("section 4.1 of chapter 3", ["NUMBERED section 4.1", "NUMBERED chapter 3"]),
        ("Item 7A, note 5", ["NUMBERED item 7A", "NUMBERED note 5"]),
        ('in the section "Risk factors"', ["TITLED Risk factors"]),
        ("the “Conclusion” part", ["TITLED Conclusion"]),
        ("In the Section Health and Safety, what", ["TITLED Health and Safety"]),
        ("stated in the Introduction", ["TITLED Introduction"]),
        ("How many references are given?", ["TITLED references"]),
        ("List all references to Figure 3.", ["LABEL figure 3"]),
        ("the table of contents", []),
        ("this page, the page count, how many pages?", []),
        ("the page 2019 report", []),
        ("S&P 500", []),
        ("page 5, 10% of it, and page 4 and 2019", ["PAGE 5", "PAGE 4"]),
        ("Eq. (2)", []),
        ("at 5 p.m.", []),
        ("the main section", []),
        ('Which pages? The answer should be a list like ["Page 2", "Page 4"].', []),
        ("", []),
    ],
)
def test_a_place_is_named_and_what_only_looks_like_one_is_not(question, places):
    assert shown(question) == places


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


@pytest.mark.parametrize(
    ("question", "pages"),
    [
        ("page 2", {("a", 3): 1.0, ("a", 2): 0.25, ("b", 2): 1.0}),  # a printed number before a counted one
        ("the last page", {("a", 4): 1.0, ("b", 2): 1.0}),
        ("the third page", {("a", 3): 1.0}),
        ("pages 2-3", {("a", 3): 1.0, ("a", 2): 0.25, ("b", 2): 1.0}),
        ("from page 1 to page 2", {("a", 2): 1.0, ("a", 3): 1.0, ("a", 1): 0.25, ("b", 1): 1.0, ("b", 2): 1.0}),
        ("from page 3 to the last page", {("a", 3): 1.0, ("a", 4): 1.0}),
        ("the first 40 pages", {("a", page): 1.0 for page in range(1, 5)} | {("b", 1): 1.0, ("b", 2): 1.0}),
        ("from the second page to the last page", {("a", page): 1.0 for page in (2, 3, 4)} | {("b", 2): 1.0}),
        ("section 1", {("a", 1): 1.0, ("a", 2): 1.0}),
    ],
)
def test_a_number_a_range_and_a_section_mean_their_pages(question, pages):
    found = resolve(question)
    assert found.pages == pages and found.unknown == ()


PIECES = (
    "the page pages slide p. first second last two three 3 10 0 -1 IV - , and to from between through final section Market 1 in"
)


@given(st.lists(st.sampled_from(PIECES.split()), max_size=12))
def test_whatever_is_named_lies_in_the_documents_or_is_unknown(words):
    found = resolve(" ".join(words))
    assert found.pages.keys() <= {(page.document_id, page.number) for page in PAGES}
    assert found.nodes.keys() <= {node.id for node in NODES} and all(str(place) for place in found.unknown)


@pytest.mark.parametrize(
    ("question", "nodes"),
    [
        ("page 2", {"a2": 0.25, "a3": 1.0, "b2": 1.0}),
        ("Figure 1", {"a2": 1.0}),
        ("chart 1", {"a2": 1.0}),  # a chart may be called a figure
        ("diagram 2", {"b2": 1.0}),
        ("section 1", {"a1": 1.0, "a2": 1.0}),
        ('the "Outlook" part', {"a3": 1.0}),
        ('page 2 of the "Outlook" part', {"a3": 1.0, "a2": 0.25, "b2": 1.0}),
        ("Figure 1 in section 1 on page 1", {"a1": 1.0, "a2": 1.0, "b1": 1.0}),
    ],
)
def test_a_label_a_section_and_a_page_mean_their_nodes_and_the_strongest_meaning_counts(question, nodes):
    assert resolve(question).nodes == nodes


def test_a_page_and_a_section_are_both_meant():
    assert resolve('page 1 and the "Outlook" part').pages[("a", 4)] == 1.0


def test_places_that_no_document_has_are_reported_but_titles_are_guesses():
    found = resolve('page 99, Figure 9, section 7, the 40th page, and the "Weather" part')
    assert found.pages == {} == found.nodes
    assert [str(place) for place in found.unknown] == ["page 99", "page 40", "figure 9", "section 7"]
    assert [str(place) for place in resolve("pages 98 to 99").unknown] == ["pages 98 to 99"]


def test_without_documents_nothing_is_meant():
    found = resolve("page 2, Figure 1, section 1, the last page", pages=[], sections=[], nodes=[])
    assert (found.pages, found.nodes, len(found.unknown)) == ({}, {}, 4)


def make(*titles, document="a", parents=()):
    parents = parents or [None] * len(titles)
    return [
        Section(f"{document}{place}", document, "v", place, title, 1, None if parent is None else f"{document}{parent}", 1, 2)
        for place, (title, parent) in enumerate(zip(titles, parents, strict=True))
    ]


TITLED = make(
    "1 Introduction", "2 Warnings and Cautions", "2.1 Safety", "A Proofs", "Appendix B: Data", parents=[None, None, 1, None, None]
)


@pytest.mark.parametrize(
    ("named", "places"),
    [("section 2", [1]), ("section 2.1", [2]), ("appendix A", [3]), ("appendix B", [4]), ("chapter 1", [0]), ("section 9", [])],
)
def test_a_number_means_the_title_that_opens_with_it(named, places):
    assert numbered_sections(named, TITLED) == places


TITLES = [*make("Executive Summary", "Summary of the annual cash flow"), *make("Summary", "Short summary", document="b")]


@pytest.mark.parametrize(
    ("words", "sections", "places"),
    [
        ("Warning & cautions", TITLED, [1]),
        ("Cautions and warnings", TITLED, [1]),
        ("summary", TITLES, [0, 2]),  # one that is too long is not meant, nor where another has just the words
        ("weather", TITLES, []),
        ("What we do", make("What We Do", "Other things"), [0]),
        ("appendix", [*make("Appendix", "Data"), *make("Results", "Appendix 1", document="b")], [0, 1, 3]),
    ],
)
def test_a_title_is_known_whatever_its_number_endings_and_order(words, sections, places):
    assert titled_sections(words, sections) == places


@pytest.mark.parametrize(
    ("titles", "places"),
    [
        (("1 Results", "Appendix", "Market data", "Prices"), [1, 2, 3]),
        (("A Proofs", "Appendix B: Data", "Methods"), [1, 2]),
        (("1 Results", "References", "A Proofs", "More proofs", "B Data"), [2, 3, 4]),
        (("Annex", "Sources"), [0, 1]),
        (("Results", "Sources"), []),
    ],
)
def test_the_appendix_is_all_from_its_first_title_on(titles, places):
    for name in ("appendix", "appendices", "annex"):
        assert titled_sections(name, make(*titles)) == places


def test_subsections_belong_to_their_section():
    assert list(with_subsections([1], TITLED)) == [1, 2]
    assert list(with_subsections([], TITLED)) == []


def named(question, *titles):
    return named_titles(titles, question_terms(question).stems)


def test_the_titles_that_the_question_says_are_found_by_their_places():
    titles = ("Pump Maintenance", "Pumps", "Maintenance of the pumps", "Pump maintenance costs", "")
    assert named("How often is maintenance of the pump due?", *titles) == [0, 2]


@pytest.mark.parametrize(
    "title", ["4.1 Risk Factors", "Item 7A. Risk Factors", "IV. Risk factors", "Risk-factors", "The Risk Factors"]
)
def test_numbers_function_words_endings_and_hyphens_do_not_count(title):
    assert named("Which risk factor comes first?", title) == [0]


def test_a_year_is_part_of_a_title():
    assert named("What are the financial highlights of 2021?", "Financial Highlights 2020", "Financial Highlights 2021") == [1]


def test_a_question_or_title_without_terms_names_nothing():
    assert named("?", "Risk Factors", "What we do", "4.1", "") == []
    assert named_titles([], ["risk"]) == []
