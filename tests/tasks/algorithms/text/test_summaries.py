import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.text.summaries import is_meaningless_text, summarize
from tasks.algorithms.text.words import count_words

ENTRY = "Smith, J. and Doe, A. (2019). A study of rivers. Journal of Water, vol. 3, pp. 12-19."
PROSE = "As Smith (2019) and Doe (2020) found, rivers flow north; Lee (2021) disagreed, and most of the later work took his side."
STATEMENT = "Net sales ........ 46,298\nCost of sales ........ 35,505\nMargin ........ 10,793\nOther ........ 12\nTax ........ 9"


@pytest.mark.parametrize(
    ("text", "title", "meaning"),
    [
        ("", "", False),
        ("*** --- ///", "", False),
        ("#&%$ a ()[]{}<>", "", False),
        ("This page intentionally left blank.", "", False),
        ("[This page has been intentionally left blank]", "", False),
        (ENTRY, "References", False),
        ("[12] Someone. Something.", "7. REFERENCES", False),
        (f"{ENTRY} {ENTRY} {ENTRY}", "Appendix", False),
        ("Introduction ........ 1\nMethods . . . . . . 12\nResults .......... 30\nIndex ........ 30", "Contents", False),
        ("........................", "", False),
        ("42%", "", True),
        ("$5 (-3)", "", True),
        (ENTRY, "Introduction", True),
        (PROSE, "Related work", True),
        (f"{ENTRY} {PROSE * 5}", "Related work", True),
        ("Please bring two letters from former employers.", "References", True),
        (STATEMENT, "Results", True),
        ("Name ........ Street ........ Town ........", "", True),
        ("这是一个关于河流的句子。", "", True),
        ("هذا نص عربي.", "", True),
    ],
)
def test_texts_have_meaning_or_none(text, title, meaning):
    assert is_meaningless_text(text=text, title=title, is_prose=True) is not meaning


def test_signs_are_the_nature_of_formulas_and_tables():
    assert not is_meaningless_text(text="| 1 | - | - | - | - | - |", title="", is_prose=False)
    assert is_meaningless_text(text="| - | - |", title="", is_prose=False)


def test_a_short_text_is_its_own_summary():
    assert summarize(sentences=["Revenue grew.", "Costs\nfell."], rarity={}, title_words=(), words=4) == "Revenue grew. Costs fell."


def test_the_best_sentence_worked_by_hand():
    # Weights: solar 2 (it stands twice), panels 1, filler 1, nice 1, weather 1 (twice, at half the rarity).
    # Scores: 1.25 x 2 / sqrt 2 = 1.77 for the first sentence, 3 / sqrt 2 = 2.12 for the second, 2 / sqrt 2 = 1.41 for the last.
    rarity = {"solar": 1.0, "panels": 1.0, "weather": 0.5, "nice": 1.0, "filler": 1.0}
    sentences = ["filler weather.", "solar solar panels.", "nice weather."]
    assert summarize(sentences=sentences, rarity=rarity, title_words=(), words=3) == "solar solar panels."
    assert summarize(sentences=sentences, rarity=rarity, title_words=(), words=5) == "filler weather. solar solar panels."


def test_words_of_the_title_decide():
    rarity = dict.fromkeys(("alpha", "beta", "gamma", "delta", "epsilon"), 1.0)
    sentences = ["alpha.", "beta gamma.", "delta epsilon."]
    assert summarize(sentences=sentences, rarity=rarity, title_words={"delta"}, words=2) == "delta epsilon."


def test_a_long_best_sentence_is_cut_and_marked():
    assert summarize(sentences=["one long sentence about rivers"], rarity={}, title_words=(), words=3) == "one long sentence …"


def test_a_sentence_without_content_is_never_added():
    assert (
        summarize(sentences=["rivers flow north.", "of the."], rarity={"rivers": 1.0}, title_words=(), words=4)
        == "rivers flow north."
    )


@given(st.lists(st.text(min_size=1).filter(str.strip), min_size=1), st.integers(5, 20))
def test_a_summary_is_short_and_never_empty(sentences, words):
    summary = summarize(sentences=sentences, rarity={}, title_words=(), words=words)
    assert summary
    assert count_words(summary.removesuffix(" …")) <= words
