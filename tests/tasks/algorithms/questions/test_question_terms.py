from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.questions.terms import question_terms, with_keywords


def test_content_words_stay_and_interrogatives_go():
    terms = question_terms("How many turbines did the company install in 2024?")
    assert terms.stems == ("turbin", "compani", "instal", "2024")
    assert terms.words == ("turbines", "company", "install", "2024")
    assert terms.anchors == ("2024",)


def test_names_numbers_and_compounds_are_anchors_by_their_parts():
    terms = question_terms("What did Bank of England say of COVID-19 in 2019-2020 to 3 of 1,234 people, and the 6th?")
    assert terms.anchors == ("bank", "england", "covid", "2019", "2020", "1234")
    assert "of" not in terms.stems
    assert {"covid-19", "3", "6th"} <= set(terms.stems)


def test_the_number_of_a_place_is_no_term():
    terms = question_terms("What is the fee on page 14 and in Figure 5?")
    assert terms.stems == ("fee",)
    assert terms.anchors == ()


def test_capitals_throughout_mark_nothing():
    assert question_terms("WHO PAID IT IN 2024?").stems == ("paid", "2024")


def test_a_name_keeps_its_single_letters():
    assert question_terms("How much d is in Vitamin D?").stems == ("vitamin", "d")


def test_a_file_name_says_where_and_not_what():
    assert question_terms("What is the fee in annual_report.pdf?").stems == ("fee",)


def test_a_place_alone_has_no_terms():
    assert question_terms("page 3").stems == question_terms("What does Table 2 show in paper.pdf?").stems[1:] == ()


def test_where_no_content_is_left_all_words_stay():
    assert question_terms("What is it about?").stems == ("what", "is", "it", "about")
    assert question_terms("?!").stems == ()
    assert question_terms("").stems == ()


def test_other_scripts_have_terms():
    assert question_terms("कंपनी का राजस्व कितना है?").stems == ("कंप", "का", "राजस्व", "कित", "है")
    assert question_terms("収入高?").stems == ("収入", "入高")


@given(st.text(max_size=200))
def test_stems_are_distinct_and_anchors_are_among_them(question):
    terms = question_terms(question)
    assert len(set(terms.stems)) == len(terms.stems) == len(terms.words)
    assert set(terms.anchors) <= set(terms.stems)


def test_keywords_add_the_words_that_are_new_and_change_no_anchor():
    terms = question_terms("Show the cost of the Merrow cable in 2024")
    wider = with_keywords(terms, ["Merrow cables", "show of force"])
    assert wider.anchors == terms.anchors and wider.stems[: len(terms.stems)] == terms.stems
    assert [word for word in wider.words if word not in terms.words] == ["show", "of", "force"]
    assert with_keywords(terms, []) == terms


def test_a_long_run_is_written_by_its_parts_and_not_once_for_each():
    terms = question_terms("".join(chr(0x4E00 + number) for number in range(10_000)))
    assert len(terms.stems) > 5_000 and max(map(len, terms.words)) < 10
