"""The evidence that is shown without a model: whole sentences, lines and rows, whatever the page is made of."""

from dataclasses import replace

import pytest

from storage.records.answers import AnswerStatus
from storage.records.documents import NodeKind, identify
from tests.asking_worlds import Passage, answer_at, at_context, published, written


def shown(folder, question, *passages, **settings):
    with at_context(published(folder, written("odd", *passages)), **settings) as context:
        return answer_at(context, question)


def words_of(answer):
    return sum(len(citation.quote.split()) for citation in answer.citations)


LONG = "The gauge at Braye read 4.1 metres. "
TABLE = "Port: Depth\n" + "\n".join(f"Harbour {number}: {number * 3}" for number in range(4000))


@pytest.mark.parametrize(
    ("question", "passage", "held"),
    [
        ("How deep is Ellary?", Passage("Ellary"), "Ellary"),
        ("What did the gauge at Braye read?", Passage(LONG * 7000), "4.1 metres"),
        ("What is the value of 17?", Passage("11 12\n13 14\n17 92"), "17 92"),
        ("How deep is Harbour 3817?", Passage(TABLE, 1, NodeKind.TABLE), "Harbour 3817"),
        ("كم عدد السفن في الميناء؟", Passage("عدد السفن في الميناء 12 سفينة."), "12"),
        ("d", Passage("The crane came late."), "crane"),
        ("Which bishop crowned the emperor?", Passage("The crane came late."), "crane"),
    ],
    ids=["one word", "50,000 words", "numbers alone", "4,000 rows", "right to left", "one letter", "another subject"],
)
def test_every_page_shows_something_and_no_more_than_there_is_room_for(tmp_path, question, passage, held):
    answer = shown(tmp_path, question, passage)
    assert any(held in citation.quote for citation in answer.citations), answer.citations
    assert words_of(answer) <= 150


def test_a_question_that_nothing_shares_a_word_with_has_no_probabilities(tmp_path):
    answer = shown(tmp_path, "Which bishop crowned the emperor?", Passage("The crane came late."))
    assert answer.status is AnswerStatus.NOT_FOUND and answer.citations
    assert {page.probability for page in answer.pages} == {citation.probability for citation in answer.citations} == {None}


FAILURE = (
    "Deliveries to the U.S. Navy began in 2021. The gearbox of turbine 4 failed in March because a seal was cut.\n"
    "A new one cost 1.3 million pounds.\nTurbine 5 was painted."
)


def test_a_quote_is_whole_sentences_and_lines_as_they_stand(tmp_path):
    quotes = [one.quote for one in shown(tmp_path, "Why did the gearbox fail?", Passage(FAILURE)).citations]
    assert "The gearbox of turbine 4 failed in March because a seal was cut." in quotes[0]
    whole = " ".join(FAILURE.split())
    for quote in quotes:
        start = whole.index(quote)
        assert not start or whole[start - 2] == ".", "it begins where a sentence or a line does"
        assert quote.endswith("."), "nor ends before it"


def test_a_sentence_that_a_picture_shows_as_well_is_said_once(tmp_path):
    sentence = "The gearbox failed because a seal was cut."
    answer = shown(tmp_path, "Why did the gearbox fail?", Passage(sentence), Passage(sentence, 1, NodeKind.FIGURE))
    assert [citation.quote for citation in answer.citations] == [sentence]


def test_a_heading_is_shown_where_it_speaks_of_what_is_asked_and_is_not_shown_over_a_quote_already(tmp_path):
    page = [
        Passage("The gearbox", kind=NodeKind.TITLE, section="The gearbox"),
        Passage("It failed in March because a seal was cut.", section="The gearbox"),
        Passage("A new gearbox", kind=NodeKind.TITLE),
        Passage("Paint", kind=NodeKind.TITLE),
    ]
    quotes = [one.quote for one in shown(tmp_path, "Why did the gearbox fail?", *page).citations]
    assert quotes == ["It failed in March because a seal was cut.", "A new gearbox"]


def test_numbers_of_a_chart_are_shown_with_the_line_beside_them(tmp_path):
    chart = Passage("12\nDepth in metres\n48 51\nLength of the quays\n700", 1, NodeKind.FIGURE)
    quotes = {one.quote for one in shown(tmp_path, "How long are the quays?", chart).citations}
    assert any("Length of the quays 700" in quote for quote in quotes) and not quotes & {"12", "48 51", "700"}


def test_a_run_of_signs_is_not_shown(tmp_path):
    signs = '%%%%%% F " #$$#&-( ,*#9*\n\uf0b7 \uf0b7\n\uf0b7 Ellary is 12 metres deep.'
    answer = shown(tmp_path, "How deep is Ellary?", Passage(signs, 1, NodeKind.FIGURE))
    assert [citation.quote for citation in answer.citations] == ["Ellary is 12 metres deep."]


def test_more_words_show_more_and_none_is_cut(tmp_path):
    passages = [Passage(f"The gearbox of turbine {number} failed in week {number} of the year.", number) for number in range(1, 9)]
    few, many = (shown(tmp_path, "When did the gearbox fail?", *passages, reading={"words": words}) for words in (20, 200))
    assert words_of(few) <= 20 < words_of(many)
    assert all(
        citation.quote.startswith("The gearbox of turbine") and citation.quote.endswith("year.") for citation in few.citations
    )


def test_a_publishers_name_over_every_page_is_no_heading_of_what_is_quoted(tmp_path):
    name = "WEATHER RESEARCH"
    graph = written("odd", *(Passage(FAILURE, page, section=name) for page in range(1, 5)))
    heads = [replace(graph.sections[0], id=identify(name, str(page)), ordinal=page, first_page=page) for page in range(1, 5)]
    for sections, kept in ((graph.sections, {(name,)}), (tuple(heads), {()})):
        with at_context(published(tmp_path / str(len(sections)), replace(graph, sections=sections))) as context:
            citations = answer_at(context, "Why did the gearbox fail?").citations
        assert citations and {citation.section for citation in citations} == kept
