import pytest

from tasks.algorithms.questions.places import NamedPlace, PlaceKind, counted_pages, named_places


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("the last page", [-1]),
        ("the final slide", [-1]),
        ("the back cover", [-1]),
        ("the second-to-last page", [-2]),
        ("the second to the last page", [-2]),
        ("the 3rd last page", [-3]),
        ("on the page at the second last", [-2]),
        ("the penultimate slide", [-2]),
        ("the last two pages", [-1, -2]),
        ("the first page", [1]),
        ("the front cover or the cover page", [1]),
        ("on the cover", [1]),
        ("the title page", [1]),
        ("the third page and the 12th slide", [3, 12]),
        ("the first 3 slides", [1, 2, 3]),
        ("the last 40 pages", []),
        ("the 0th page", []),
        ("what does the policy cover, and this page?", []),
        ("how many pages", []),
    ],
)
def test_pages_are_counted_from_either_end(text, pages):
    assert counted_pages(text) == pages


def shown(question):
    return [f"{place.kind.name} {place.value}" for place in named_places(question)]


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What is on page 14?", ["PAGE 14"]),
        ("see p. 3", ["PAGE 3"]),
        ("Compare pages 3-5", ["PAGE 3", "PAGE 4", "PAGE 5"]),
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
        ("the table of contents", []),
        ("this page, the page count, how many pages?", []),
        ("the page 2019 report", []),
        ("the page I read", []),
        ("S&P 500", []),
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
