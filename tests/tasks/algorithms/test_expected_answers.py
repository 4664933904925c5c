import pytest

from tasks.algorithms.expected_answers import AnswerKind, expected_kind, holds_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many turbines are there?", AnswerKind.NUMBER),
        ("How much did it cost?", AnswerKind.NUMBER),
        ("What was the total revenue?", AnswerKind.NUMBER),
        ("What does it weigh?", AnswerKind.NUMBER),
        ("What percentage of it?", AnswerKind.PERCENTAGE),
        ("How many % of them?", AnswerKind.PERCENTAGE),
        ("Which share did it spend?", AnswerKind.PERCENTAGE),
        ("In which year?", AnswerKind.DATE),
        ("What fiscal year?", AnswerKind.DATE),
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
        ("It grew.", AnswerKind.NUMBER, "", False),
        ("Share: 14", AnswerKind.PERCENTAGE, "", True),
        ("a part", AnswerKind.PERCENTAGE, "", False),
        ("in March", AnswerKind.DATE, "when?", True),
        ("on 5/3/2024", AnswerKind.DATE, "when?", True),
        ("12 of them", AnswerKind.DATE, "when?", False),
        ("", AnswerKind.ANY, "why?", True),
        ("I have chaired the board.", AnswerKind.PERSON, "who?", False),
        ("Mary Hale, chair of the board", AnswerKind.PERSON, "who?", True),
        ("by M. Hale and others", AnswerKind.PERSON, "who?", True),
        ("In September the Board met", AnswerKind.PERSON, "who?", False),
        ("Ostrander, Bellweather and Imai", AnswerKind.PERSON, "who?", True),
        ("Merrow Tidal is led by her.", AnswerKind.PERSON, "Who leads Merrow Tidal?", False),
    ],
)
def test_what_the_question_brought_along_is_no_answer(text, kind, question, held):
    assert holds_kind(text, kind, question) is held
