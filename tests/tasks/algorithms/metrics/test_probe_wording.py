import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tasks.algorithms.metrics.probe_wording import (
    FEWEST_WORDS,
    WordUse,
    forms_of,
    word_caption,
    word_heading,
    word_row,
    word_sentence,
)
from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.text.stems import stems_in

NOTHING_KNOWN = WordUse(pages={}, forms={})
WORDS = ("turbine", "turbines", "harbour", "repairs", "Merrow", "storm", "2019", "14", "COVID-19", "of", "the", "and", ",", "with")


def heading(text, *, use=NOTHING_KNOWN, english=True, most=4):
    wording = word_heading(text, use=use, english=english, most=most)
    return wording and wording.text


def caption(text, *, english=True, most=4):
    wording = word_caption(text, use=NOTHING_KNOWN, english=english, most=most)
    return wording and wording.text


def sentence(text, *, english=True, most=4):
    wording = word_sentence(text, use=NOTHING_KNOWN, english=english, most=most)
    return wording and wording.text


@pytest.mark.parametrize(
    ("title", "asked"),
    [
        ("Repairs of Harbour Walls", "Where are Harbour Walls and Repairs discussed?"),
        ("Net interest income", "Where is income of Net interest discussed?"),
        ("4.1 Net interest income", "Where is income of Net interest discussed?"),
        ("Item 7A. Net interest income", "Where is income of Net interest discussed?"),
        ("B.2 Experimental setup of turbines", "Where are turbines and Experimental setup discussed?"),
        ("RISK OF THE STORM HARBOUR", "Where are storm harbour and risk discussed?"),
        ("The outlook for 2024: tide", "Where are tide, 2024 and outlook discussed?"),
    ],
)
def test_a_heading_is_asked_for_from_its_end_and_without_its_number(title, asked):
    assert heading(title) == asked


def test_another_language_keeps_its_words_as_they_are():
    german = WordUse(pages={"die": 9, "der": 9, "am": 9}, forms=forms_of(["kai kais kais"]))
    assert heading("Die Wartung der Rotorblätter am Kai", use=german, english=False, most=3) == "Kai Wartung Rotorblätter"
    assert heading("Rotorblätter; neuer Kai", use=german, english=False) == "neuer Kai Rotorblätter"
    assert caption("Figure 3: Jährliche Wartung, Rotorblätter", english=False) == "Rotorblätter Jährliche Wartung"


def test_the_commonest_words_are_left_out():
    use = WordUse(pages={"turbin": 50, "storm": 40, "merrow": 30, "tide": 1, "steel": 1, "crew": 1}, forms={})
    assert heading("turbine, storm, merrow, tide, steel", use=use) == "Where are steel, tide, merrow and storm discussed?"
    assert heading("turbine, storm, merrow, tide", use=use) == "Where are tide, merrow and storm discussed?"
    assert heading("turbine, storm, merrow", use=use) == "Where are merrow, storm and turbine discussed?"
    assert heading("turbine, storm, merrow, tide, steel, crew", use=use, most=3) == "Where are crew, steel and tide discussed?"


def test_the_last_word_of_a_phrase_takes_the_form_that_the_corpus_writes_more_often():
    use = WordUse(pages={}, forms=forms_of(["bolt bolt bolt bolts bolts blade blade blades blades blades"]))
    assert heading("Bolts under Blade of Merrow", use=use) == "Where are Merrow, blades and bolt discussed?"


def test_no_adverb_stands_for_an_adjective():
    use = WordUse(pages={}, forms=forms_of(["annually annually annual annual annually"]))
    assert heading("Tide, storm, annual", use=use) == "Where are annual, storm and Tide discussed?"


def test_forms_are_words_that_are_mostly_written_small_and_more_than_once():
    texts = ["Bolt bolts bolts bolt bolt", "Canada canada Canada canada Canada", "slip Tide 14 14"]
    assert forms_of(texts) == {"bolt": ("bolt", "bolts")}


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Figure 3: Growth of tide and storm", "Which figure shows storm, tide and Growth?"),
        ("Fig. 3a Growth of tide and storm", "Which figure shows storm, tide and Growth?"),
        ("TABLE IV. Growth of tide and storm. It was measured in the harbour.", "Which table shows storm, tide and Growth?"),
        ("Exhibit 12-4: Growth of tide and storm", "Which exhibit shows storm, tide and Growth?"),
        ("Growth of tide and storm", "Which figure or table shows storm, tide and Growth?"),
        ("Table 9:", None),
        ("Figure 3: Growth", None),
    ],
)
def test_a_caption_is_asked_for_without_its_label(text, asked):
    assert caption(text) == asked


@pytest.mark.parametrize(
    ("label", "column", "english", "asked"),
    [
        ("Total revenue", "Corran Sound", True, "What is the Corran Sound of Total revenue?"),
        ("Total net revenue", "2024", True, "What is Total net revenue in 2024?"),
        ("Umsatz gesamt", "2024", False, "2024 Umsatz gesamt"),
        ("Revenue", "2024", True, None),
    ],
)
def test_a_row_is_asked_for_by_its_column_and_its_label(label, column, english, asked):
    wording = word_row(label, column, english=english)
    assert (wording and wording.text) == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("In 2019 the crew replaced 14 blades after a storm.", "What number is given for blades, crew replaced and 2019?"),
        ("The crew of the Merrow Star repaired steel cables.", "What name is given with repaired steel and crew?"),
        ("Storms bend the steel of old cables.", "What is said about old, steel and Storms bend?"),
        ("The storm reached Corran Sound.", "What is said about Corran and storm reached?"),
        ("The storm was 14 hours.", None),
    ],
)
def test_a_sentence_is_asked_for_with_its_numbers_or_its_name_masked(text, asked):
    assert sentence(text) == asked


def test_what_would_only_be_repeated_is_no_question():
    assert heading("tide storm tide storm tide crew crew tide", english=False, most=9) is not None
    assert heading("\u6f6e\u6c50\u548c\u98ce\u66b4\u62a5\u544a", english=False) is None


@pytest.mark.parametrize("text", ["", "Tide", "Tide and storm", "of the and", "12 14 16 18"])
def test_fewer_than_three_words_that_say_something_make_no_probe(text):
    assert heading(text) is None and sentence(text) is None and caption(text) is None


@given(
    words=st.lists(st.sampled_from(WORDS), max_size=12),
    english=st.booleans(),
    most=st.integers(3, 6),
    make=st.sampled_from([word_heading, word_caption, word_sentence]),
)
def test_a_probe_looks_for_words_of_its_text_only_and_for_no_more_than_asked(words, english, most, make):
    text = " ".join(words)
    use = WordUse(pages={}, forms=forms_of([text, text, "turbine turbines turbine turbines"]))
    wording = make(text, use=use, english=english, most=most)
    assume(wording is not None)
    assert len(wording.stems) >= FEWEST_WORDS
    assert wording.stems <= stems_in(text) and wording.stems <= stems_in(wording.text)
    if english:
        assert wording.stems >= {stem for stem in question_terms(wording.text).stems if stem in stems_in(text)} - {"covid-19"}
    assert len([word for word in wording.text.rstrip("?").split() if stems_in(word) & wording.stems]) <= most
    assert wording.text.casefold() not in text.casefold()
