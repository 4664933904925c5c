import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.questions.places import NamedPlace, PlaceKind, named_places


def shown(question):
    return [f"{place.kind.name} {place.value}{place.last and f'..{place.last}'}" for place in named_places(question)]


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("the last page", ["-1"]),
        ("the final slide", ["-1"]),
        ("the back cover", ["-1"]),
        ("the second-to-last page", ["-2"]),
        ("the second to the last page", ["-2"]),
        ("the 3rd last page", ["-3"]),
        ("the fourth page from the end", ["-4"]),
        ("the penultimate slide", ["-2"]),
        ("the last two pages", ["-2..-1"]),
        ("the last 40 pages", ["-40..-1"]),
        ("the last one page", []),
        ("the first page", ["1"]),
        ("the front cover or the cover page", ["1"]),
        ("on the cover", ["1"]),
        ("the title page", ["1"]),
        ("the third page and the 12th slide", ["3", "12"]),
        ("the third and the 12th slide", ["3", "12"]),
        ("the first, second and last pages", ["1", "2", "-1"]),
        ("from the second to the fourth slide", ["2..4"]),
        ("from the second slide to the last slide", ["2..-1"]),
        ("the first 3 slides", ["1..3"]),
        ("the first three pages and the last two", ["1..3"]),
        ("the 0th page", []),
        ("what does the policy cover, and this page?", []),
        ("how many pages", []),
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


@given(st.lists(st.tuples(NUMBERS, NUMBERS).map(sorted), min_size=1, max_size=4))
def test_ranges_and_pages_are_listed(spans):
    listed = [str(first) if first == last else f"{first}-{last}" for first, last in spans]
    wanted = [f"PAGE {first}" if first == last else f"PAGE {first}..{last}" for first, last in spans]
    assert shown(f"What do pages {', '.join(listed)} say?") == list(dict.fromkeys(wanted))


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What is on page 14?", ["PAGE 14"]),
        ("see p. 3", ["PAGE 3"]),
        ("Compare pages 3-5, 8 and 10 to 12", ["PAGE 3..5", "PAGE 8", "PAGE 10..12"]),
        ("pages three to five", ["PAGE 3..5"]),
        ("from page 3 to the last page", ["PAGE 3..-1"]),
        ("between page 3 and Figure 5", ["PAGE 3", "LABEL figure 5"]),
        ("pp. 12 and 13", ["PAGE 12", "PAGE 13"]),
        ("in slide number 7", ["PAGE 7"]),
        ("page fourteen", ["PAGE 14"]),
        ("page iv and page A-3", ["PAGE IV", "PAGE A-3"]),
        ("sheet 2", ["PAGE 2"]),
        ("the last page", ["COUNTED -1"]),
        ("the cover page", ["COUNTED 1"]),
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
        ("In the market outlook section, who", ["TITLED market outlook"]),
        ("stated in the Introduction", ["TITLED Introduction"]),
        ("cited in the references", ["TITLED references"]),
        ("How many references are given?", ["TITLED references"]),
        ("List all references to Figure 3.", ["LABEL figure 3"]),
        ("from the annex", ["TITLED annex"]),
        ("the table of contents", []),
        ("this page, the page count, how many pages?", []),
        ("the page 2019 report", []),
        ("the page I read", []),
        ("S&P 500", []),
        ("the second part", []),
        ("page 5, 10% of it, and page 4 and 2019", ["PAGE 5", "PAGE 4"]),
        ("Eq. (2)", []),
        ("the figures for 2019", []),
        ("at 5 p.m.", []),
        ("the main section", []),
        ('Which pages? The answer should be a list like ["Page 2", "Page 4"].', []),
        ("", []),
    ],
)
def test_a_place_is_named_and_what_only_looks_like_one_is_not(question, places):
    assert shown(question) == places


def test_places_compare_and_sort():
    assert sorted([NamedPlace(PlaceKind.PAGE, "2"), NamedPlace(PlaceKind.LABEL, "table 1")])[0].kind is PlaceKind.LABEL
