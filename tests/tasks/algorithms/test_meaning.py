import pytest

from tasks.algorithms.meaning import is_meaningless_text

ENTRY = "Smith, J. and Doe, A. (2019). A study of rivers. Journal of Water, vol. 3, pp. 12-19."
PROSE = "As Smith (2019) and Doe (2020) found, rivers flow north; Lee (2021) disagreed, and most of the later work took his side."
STATEMENT = "Net sales ........ 46,298\nCost of sales ........ 35,505\nMargin ........ 10,793\nOther ........ 12\nTax ........ 9"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("", ""),
        ("*** --- ///", ""),
        ("#&%$ a ()[]{}<>", ""),
        ("This page intentionally left blank.", ""),
        ("[This page has been intentionally left blank]", ""),
        (ENTRY, "References"),
        ("[12] Someone. Something.", "7. REFERENCES"),
        (f"{ENTRY} {ENTRY} {ENTRY}", "Appendix"),
        ("Introduction ........ 1\nMethods . . . . . . 12\nResults .......... 30\nIndex ........ 30", "Contents"),
        ("........................", ""),
    ],
)
def test_texts_without_meaning(text, title):
    assert is_meaningless_text(text=text, title=title, is_prose=True)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("42%", ""),
        ("$5 (-3)", ""),
        (ENTRY, "Introduction"),
        (PROSE, "Related work"),
        (f"{ENTRY} {PROSE * 5}", "Related work"),
        ("Please bring two letters from former employers.", "References"),
        (STATEMENT, "Results"),
        ("Name ........ Street ........ Town ........", ""),
        ("这是一个关于河流的句子。", ""),
        ("هذا نص عربي.", ""),
    ],
)
def test_texts_with_meaning(text, title):
    assert not is_meaningless_text(text=text, title=title, is_prose=True)


def test_signs_are_the_nature_of_formulas_and_tables():
    assert not is_meaningless_text(text="| 1 | - | - | - | - | - |", title="", is_prose=False)
    assert is_meaningless_text(text="| - | - |", title="", is_prose=False)
