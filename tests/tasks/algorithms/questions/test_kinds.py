"""What kind of question it is, what its answer holds, and of which parts it is made."""

import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import NodeKind
from tasks.algorithms.questions.kinds import (
    AnswerKind,
    collects,
    counts_noun,
    expected_kind,
    find_asked_elements,
    find_counted_noun,
    holds_kind,
    list_uncovered_stems,
    question_parts,
    split_at_asked,
    sub_questions,
    surveys,
)
from tasks.algorithms.questions.places import named_places
from tasks.algorithms.questions.statements import named_statements
from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.text.kept import strip_instructions
from tasks.algorithms.text.words import tokens_of


@pytest.mark.parametrize(
    ("question", "collecting"),
    [
        ("How many charts are there?", True),
        ("List the suppliers that were audited.", True),
        ("Which regions are named in all of the tables?", True),
        ("What did each plant cost?", True),
        ("How much was paid in total?", True),
        ("What is the total number of plants?", True),
        ("", False),
        ("Why did the pump fail?", False),
        ("What was the total cost of the plant?", False),
        ("How much did it cost?", False),
        ('Which slide shows a map? Write the answer as a list, e.g. ["Slide 1"].', False),
    ],
)
def test_a_question_that_counts_or_collects_is_known(question, collecting):
    assert collects(question) is collecting


@pytest.mark.parametrize(
    ("question", "surveying"),
    [
        ("How many suppliers does the report name?", True),
        ("List all risks of the appendix.", True),
        ("how\nmany of the bar charts show losses", True),
        ("Which plant is drawn in every single wiring diagram?", True),
        ("", False),
        ("How many people voted in 2020?", False),
        ("How many turbines were inspected, and what did the last one of them that is drawn on a chart cost?", False),
        ("What does the report say of losses?", False),
        ("How many pumps failed? Write the answer as a list of pages.", False),
    ],
)
def test_a_question_that_counts_all_over_a_document_surveys_it(question, surveying):
    assert surveys(question) is surveying


@given(st.text())
def test_who_surveys_collects(question):
    assert collects(question) or not surveys(question)


@given(st.text())
def test_the_case_of_letters_makes_no_difference(question):
    assert surveys(f"HOW MANY CHARTS {question}") and collects(f"how many {question.upper()}")


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Which colour is the bar for Spain?", {NodeKind.FIGURE}),
        ("What does the bar-chart on page 3 show?", {NodeKind.FIGURE}),
        ("WHAT IS IN FIGURE 5?", {NodeKind.FIGURE}),
        ("What is in the last column?", {NodeKind.TABLE}),
        ("Do the chart and the table agree?", {NodeKind.FIGURE, NodeKind.TABLE}),
        ("How many rows has Table 2?", {NodeKind.TABLE}),
        ("How many equations are there?", {NodeKind.FORMULA}),
        ("Which formulae have footnotes?", {NodeKind.FORMULA, NodeKind.FOOTNOTE}),
        ("", set()),
        ("What is the third heading in the table of contents?", set()),
        ("How do the figures for 2021 compare?", set()),
        ("Who signed it? Write the answer as a list of table rows.", set()),
        ("Which barrier is stable?", set()),
    ],
)
def test_words_of_what_is_seen_ask_for_figures_and_those_of_rows_for_tables(question, kinds):
    assert find_asked_elements(question) == kinds


def sub_asked(question, *titles, most=4):
    return sub_questions(question, titles=frozenset(titles), most=most)


def begun(text):
    return sub_asked("How many Aldre or Merrow " + text[:20_000])


HOSTILE = {
    begun: ["of ", "Aldre   and ", ", ", "A & ", "Merrow\n\t ", " " * 20_000],
    strip_instructions: ["[,", "[a,", "e.g. ", "write the answer ", ". Write format ", '["', " (", "\n "],
    question_parts: ["\n ", " and", "and in ", "; ", ": ", "? "],
    find_asked_elements: ["table of ", "figures for ", "chart ", "table\n"],
    named_places: [
        *("section ", "the ", "A and ", '"', "page ", "1-", "last ", "\n\t ", "the a "),
        *("first and ", "pages 1, ", "1 to ", "between page 1 and ", "the last 3 "),
    ],
    question_terms: ["a", "a.", "\u4e00"],
    partial(named_statements, ratio=1.0, item=0.5): ["return on ", "debt to/", "net ", "'s ", "&a"],
}


@pytest.mark.torture
@pytest.mark.parametrize(("read", "piece"), [(read, piece) for read, pieces in HOSTILE.items() for piece in pieces])
def test_a_long_hostile_question_is_read_in_time(read, piece):
    started = time.process_time()
    read(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many turbines are there?", AnswerKind.NUMBER),
        ("What was the total revenue?", AnswerKind.NUMBER),
        ("What does it weigh?", AnswerKind.NUMBER),
        ("What percentage of it?", AnswerKind.PERCENTAGE),
        ("How many % of them?", AnswerKind.PERCENTAGE),
        ("Which share did it spend?", AnswerKind.PERCENTAGE),
        ("When?", AnswerKind.DATE),
        ("Who signed it? Give me an integer.", AnswerKind.PERSON),
        ("Whose work is it?", AnswerKind.PERSON),
        ("Why?", AnswerKind.ANY),
        ("", AnswerKind.ANY),
    ],
)
def test_a_question_says_what_its_answer_holds(question, kind):
    assert expected_kind(question) is kind


@pytest.mark.parametrize(
    ("text", "kind", "question", "held"),
    [
        ("It was 184.6.", AnswerKind.NUMBER, "in 2024?", True),
        ("It grew in 2024.", AnswerKind.NUMBER, "in 2024?", False),
        ("It grew by three.", AnswerKind.NUMBER, "", True),
        ("Share: 14", AnswerKind.PERCENTAGE, "", True),
        ("a part", AnswerKind.PERCENTAGE, "", False),
        ("in March", AnswerKind.DATE, "when?", True),
        ("on 5/3/2024", AnswerKind.DATE, "when?", True),
        ("12 of them", AnswerKind.DATE, "when?", False),
        ("", AnswerKind.ANY, "why?", True),
        ("I have chaired the board.", AnswerKind.PERSON, "who?", False),
        ("Mary Hale, chair of the board", AnswerKind.PERSON, "who?", True),
        ("In September the Board met", AnswerKind.PERSON, "who?", False),
        ("Ostrander, Bellweather and Imai", AnswerKind.PERSON, "who?", True),
        ("Merrow Tidal is led by her.", AnswerKind.PERSON, "Who leads Merrow Tidal?", False),
    ],
)
def test_what_the_question_brought_along_is_no_answer(text, kind, question, held):
    assert holds_kind(text, kind, question) is held


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Why did the pump fail, and what did it cost?", ("Why did the pump fail", "what did it cost")),
        ("What is the rate, and in which equation is it used?", ("What is the rate", "in which equation is it used")),
        ("The port with the least trade: how deep is it?", ("The port with the least trade", "how deep is it")),
        ("Who signed? When was it signed?", ("Who signed", "When was it signed")),
        ("How much was earned between 2020 and 2022?", ("How much was earned between 2020 and 2022",)),
        ("What were revenue and profit in 2024?", ("What were revenue and profit in 2024",)),
        ("?!", ()),
    ],
)
def test_each_thing_asked_is_a_part(question, parts):
    assert question_parts(question) == tuple(part for part in parts if part.strip("?!"))


def test_a_part_that_is_asked_again_is_one_and_a_text_of_many_parts_is_asked_as_one():
    assert question_parts("What was the cost? " * 500) == ("What was the cost",)
    text = " ".join(f"What was cost {number}?" for number in range(500))
    assert question_parts(text) == (text,)


def test_quotes_are_held_against_a_long_question_in_the_time_of_one():
    question, texts = "What was cost 1? " * 6_000, [f"It was {number}." for number in range(2_000)]
    started = time.process_time()
    assert sum(holds_kind(text, AnswerKind.NUMBER, question) for text in texts) == 1_999
    assert time.process_time() - started < 5


@given(st.text(max_size=200))
def test_no_part_is_empty_and_none_is_invented(question):
    for part in question_parts(question):
        assert part.strip() and part.split()[0] in question


@pytest.mark.parametrize(
    ("question", "noun"),
    [
        ("How many steel parts are there?", "parts"),
        ("List all suppliers in the tables.", "suppliers"),
        ("How many of the bar charts are blue?", "charts"),
        ("How many?", ""),
        ("Who leads it?", ""),
    ],
)
def test_what_is_counted_is_the_last_word_before_one_that_says_nothing(question, noun):
    assert find_counted_noun(question) == noun


@pytest.mark.parametrize(
    ("question", "text", "asked"),
    [
        ("What percentage of adults voted in 2020?", "In 2020, 45% of 1,200 adults voted.", ["2020", "adults", "voted"]),
        ("How many cables were tested?", "It needs testing of a cable: 3 CABLES.", ["testing", "cable", "CABLES"]),
        ("What is it useful for?", "Its use is to be useful.", ["useful"]),
        (
            "Who founded the long-term fund? Answer in a sentence.",
            "No term, no sentence; founding a fund.",
            ["term", "founding", "fund"],
        ),
        ("Does an MT-3 weigh 1,850 t?", "MT-2 | MT-3 | 1850 or 3 t", ["MT-3", "1850"]),
        ("产品价格是多少?", "该产品的价格", ["产品", "价格"]),
        ("Why?", "Why not?", []),
        ("How many?", "", []),
    ],
)
def test_a_quote_is_parted_at_the_words_of_the_question_in_any_inflection_but_function_words(question, text, asked):
    pieces = split_at_asked(text, question)
    assert [words for words, wanted in pieces if wanted] == asked and "".join(words for words, _ in pieces) == text


@pytest.mark.parametrize(
    ("text", "counting"),
    [
        ("4 good REASONS to go", True),
        ("there are 1,204 listed reasons.", True),
        ("reasons: 4", False),
        ("4 people had more than a few reasons", False),
        ("2024 reasons", False),
        ("R4 reasons", False),
        ("1," * 20_000, False),
    ],
)
def test_a_number_before_what_is_counted_counts_it(text, counting):
    assert counts_noun(text, "How many reasons were there in 2024?") is counting
    assert not counts_noun(text, "Why?")


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Why did the pump fail, and what did it cost?", ["Why did the pump fail", "what did it cost"]),
        (
            "How many turbines do Merrow Tidal and Port Aldre have?",
            ["How many turbines do Merrow Tidal have?", "How many turbines do Port Aldre have?"],
        ),
        (
            "Which is larger, the sum for Aldre, for the Bank of England or for England?",
            [
                "Which is larger, the sum for Aldre?",
                "Which is larger, the sum for Bank of England?",
                "Which is larger, the sum for England?",
            ],
        ),
        (
            "Is Merrow's debt higher than that of Aldre in March 2021?",
            ["Is Merrow's debt higher than that in March 2021?", "Is debt higher than that of Aldre in March 2021?"],
        ),
        (
            "How much more do pumps cost in the U.S. compared to the U.K.?",
            ["How much more do pumps cost in the U.S.?", "How much more do pumps cost in the U.K.?"],
        ),
        (
            "In Aldre, do all of us pay what Merrow does? Answer in the format Python has for a list.",
            ["In Aldre, do all of us pay what does?", "do all of us pay what Merrow does?"],
        ),
        ("Is us the same as US or GDP?", ["Is us the same as US?", "Is us the same as GDP?"]),
        *(
            (question, [question])
            for question in (
                "What did Merrow Tidal pay in Port Aldre?",
                "How many turbines did Merrow have, in total, between March and May 2021, in FY 2022 and in Q3-2021?",
                "How many turbines are there?",
                "",
            )
        ),
    ],
)
def test_a_question_of_several_parts_or_of_names_that_it_compares_is_several(question, texts):
    assert sub_asked(question) == tuple(texts)


def test_the_title_of_the_document_is_no_name():
    question = "How many risks does the Survey of Merrow list for Aldre?"
    assert len(sub_asked(question)) == 2
    assert sub_asked(question, "survey") != sub_asked(question, "survey", "merrow") == (question,)


def test_what_would_be_more_questions_than_may_be_asked_stays_one():
    names, parts = "How many are in Aldre, Merrow and Ostrand?", "Who? When? Why?"
    assert [len(sub_asked(names, most=most)) for most in (1, 2, 3)] == [1, 1, 3]
    assert [len(sub_asked(parts, most=most)) for most in (1, 2, 3)] == [1, 1, 3]
    assert sub_asked(parts, most=2) == (parts,)


NAMES = st.sampled_from(["Merrow", "Port Aldre", "GDP", "Bank of England", "England", "U.S."])
WORDS = st.sampled_from(["how many", "of", "and", "the", "cost", ",", "2021", "May", "compared to", "than", "'s", "?"])


@given(st.lists(NAMES | WORDS, max_size=15).map(" ".join) | st.text(max_size=100), st.integers(1, 6))
def test_there_are_never_too_many_nor_a_word_that_was_not_asked(question, most):
    texts = sub_asked(question, most=most)
    assert 1 <= len(texts) <= most
    for text in texts:
        assert set(tokens_of(text)) <= set(tokens_of(question))


WEIGHTS = {"cost": 1.0, "turbin": 2.0, "merrow": 4.0, "aldr": 1.0}


@pytest.mark.parametrize(
    ("covered", "least", "lost"),
    [
        ([], 0.5, ("merrow", "turbin", "cost", "aldr")),
        ([{"merrow"}, {"other"}], 0.5, ("turbin", "cost", "aldr")),
        ([{"merrow"}], 0.51, ()),
        ([{"merrow", "aldr"}, {"turbin"}], 0.125, ("cost",)),
        ([{"merrow", "aldr"}, {"turbin"}], 0.126, ()),
        ([{"cost", "merrow"}, {"turbin", "aldr"}], 0.0, ()),
        ([], 1.0, ("merrow", "turbin", "cost", "aldr")),
    ],
)
def test_what_no_quote_covers_is_missing_where_it_weighs_enough(covered, least, lost):
    assert list_uncovered_stems(weights=WEIGHTS, covered=covered, least=least) == lost
