"""Greetings, thanks and questions about the documents as such: which are taken, and that no question with content is."""

import json
from pathlib import Path

import pytest

from tasks.algorithms.questions.talk import LONGEST, Talk, is_aside, meant_documents, talk_of

TESTS = Path(__file__).parents[3]
NAMES = (("annual_report.pdf", "Annual Report 2024"), ("budget.xlsx", "Operations"), ("strategy.pptx", "Strategy 2025 to 2030"))
GREETING, THANKS, LISTING, ABOUT = Talk


def talked(question, *, follows=False):
    """What is talked of, and the documents that are meant; None where the question is asked."""
    if not (found := talk_of(question)):
        return None
    meant = meant_documents(found[1], NAMES, follows=follows) if found[0] is ABOUT else []
    return None if meant is None else (found[0], meant)


@pytest.mark.parametrize(
    ("talk", "questions"),
    [
        (
            GREETING,
            "hello|hi there|Hi!|HELLO???|Hey, how are you?|Good morning everyone|Guten Tag!|Hallo|Grüß Gott|Bonjour"
            "|Hola, buenos días|👋 hello|hello, thanks|Hello there, who are you?|Hi, which documents are there?",
        ),
        (
            THANKS,
            "Thanks!|thanks a lot|ok|OK, got it.|great, thank you|Thank you so much for your help!|That\u2019s very helpful, thanks"
            "|Danke schön|Vielen Dank!|Merci beaucoup|muchas gracias|bye|Tschüss|perfect"
            "|thanks for the quick answer",
        ),
        (
            LISTING,
            "which documents are there?|Which files do you have?|what documents can I ask about|list the documents"
            "|List all documents|show me the documents, please|Please list your files|how many documents are there?|what can I ask?"
            "|what can you do|What can I ask you about these documents?|help|who are you|Thanks, which documents are there?",
        ),
        (
            ABOUT,
            "what is this document about?|What's this about?|what are these documents about|What is it about?|summarize|outline"
            "|Hello, what is this document about?|What does this report contain?|what is in this corpus?|what's in here"
            "|Summarise the document, please|Can you summarize this document?|give me a short summary of the report"
            "|Give me an overview|Show me the table of contents|What is the outline of the paper?|tell me about this document"
            "|Great! What are they about?|summarize all documents|Describe the document|tell me about all these documents",
        ),
    ],
)
def test_what_asks_nothing_of_what_documents_say_is_known_by_its_words(talk, questions):
    assert {question: talked(question) for question in questions.split("|")} == dict.fromkeys(questions.split("|"), (talk, []))


@pytest.mark.parametrize(
    ("question", "places"),
    [
        ("What is annual_report.pdf about?", [0]),
        ("summarize the annual report", [0]),
        ("What is the Annual Report 2024 about?", [0]),
        ("what is budget.xlsx about", [1]),
        ("what's in strategy.pptx?", [2]),
        ("describe strategy.pptx", [2]),
    ],
)
def test_a_document_is_named_by_its_file_its_title_or_several_words_of_these(question, places):
    assert talked(question) == (ABOUT, places)


ASKED = """
Hello, how many turbines are there?|hi, and in 2023?|thanks, and in 2023?|ok and when I change a seal like that myself?|and why?
summarize the risks|what is section 4 about?|what is this slide about?|What is the appendix about?|What is the budget about?
summarize the strategy|What is the main topic of the document?|What is the title of this document?|what is missing.pdf about?
what does the report say about risks?|How many pages does the document have?|What guidelines are there?|Describe the figure
Which reports are there in this document?|which documents are required for a permit?|List the documents that a bidder must hand in
who is the chair?|explain|tell me more|tell me more about this|good|what is this?|How does it work?|q4|2023?|hi-speed shaft seal
Summarize section 2 of the report|Give me an overview of the order book|What is in hall 3?|help with alarm 12|HI-12|yes|no
what can I do about water in the oil?|which files does the controller write?|Hello Fresh revenue?|great white sharks|OK-7?
thanks for helphelp
What is the paper's method about?|Danke an wen?|summarize in three sentences what the chair says|你好吗在哪里
"""


@pytest.mark.parametrize("question", ASKED.strip().replace("\n", "|").split("|"))
def test_a_question_with_content_is_asked(question):
    assert talked(question) is None and talked(question, follows=True) is None


def test_it_is_a_document_only_where_nothing_was_asked_before():
    assert talked("summarize it") == (ABOUT, []) and talked("summarize it", follows=True) is None
    assert talked("what is this about?", follows=True) == (ABOUT, [])


def test_no_question_of_the_corpora_and_nothing_long_is_taken():
    threads = [json.loads(line) for line in (TESTS / "corpus_threads.jsonl").read_text("utf-8").splitlines()]
    asked = [turn[name] for thread in threads for turn in thread["turns"] for name in ("question", "in_full")]
    asked += [one["question"] for one in json.loads((TESTS / "corpus_questions.json").read_text("utf-8"))]
    asked += (TESTS / "demo_questions.txt").read_text("utf-8").splitlines()
    assert len(asked) > 200 and [one for one in asked if talked(one) or talked(one, follows=True)] == []
    assert talk_of("hello " * LONGEST) is None and talk_of("?!") is None


def test_nothing_goes_on_from_a_greeting_thanks_or_a_list():
    assert all(map(is_aside, ("hello", "thanks", "which documents are there?")))
    assert not any(map(is_aside, ("what is this document about?", "why?")))
