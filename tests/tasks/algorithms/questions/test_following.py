"""Follow-ups: which questions leave something out, and how the question before completes them."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies

from tasks.algorithms.questions.following import complete, leaves_out, subject_of

REVENUE = "What was the revenue in 2024?"
THREADS = Path(__file__).parents[3] / "corpus_threads.jsonl"


@pytest.mark.parametrize(
    ("question", "before", "understood"),
    [
        ("and in 2023?", REVENUE, "What was the revenue in 2023?"),
        ("And the year before?", REVENUE, "What was the revenue in 2023?"),
        ("two years later", REVENUE, "What was the revenue in 2026?"),
        ("what about Q3", "Orders in Q2 2024?", "Orders in Q3 2024?"),
        ("sorry, SR-05", "availability of SR-06 in 2024", "availability of SR-05 in 2024"),
        ("and in may, please", "How many visits in March?", "How many visits in may?"),
        ("und 2023?", "Wie hoch war der Umsatz 2024?", "Wie hoch war der Umsatz 2023?"),
        ("why?", REVENUE, "why? (about: What was the revenue in 2024)"),
        ("who signed it?", REVENUE, "who signed it? (about: What was the revenue in 2024)"),
        ("what about Germany?", REVENUE, "what about Germany? (about: What was the revenue in 2024)"),
        ("and the costs in 2023?", REVENUE, "and the costs in 2023? (about: What was the revenue in 2023)"),
        ("how high did it get on FN-03?", "Water in the oil?", "how high did it get on FN-03? (about: Water in the oil)"),
        ("and why?", "who signed it? (about: the revenue in 2024)", "and why? (about: the revenue in 2024)"),
        ("and 2023?", "why? (about: the revenue in 2024)", "the revenue in 2023"),
        ("and in 2022 and 2023?", REVENUE, "and in 2022 and 2023? (about: What was the revenue in 2024)"),
        ("and in Q3?", "availability of SR-06", "and in Q3? (about: availability of SR-06)"),
        ("what about CO2?", "availability of SR-06", "what about CO2? (about: availability of SR-06)"),
        ("and page 14?", "What does page 13 say?", "What does page 14 say?"),
        ("and in Paris?", "How many worked in Madrid in 2022?", "How many worked in Paris in 2022?"),
        ("and at Corran Sound", "Who runs the yard at the Braye works?", "Who runs the yard at Corran Sound works?"),
        ("and in Paris?", "How many worked in Madrid and in Rome?", "and in Paris? (about: How many worked in Madrid and in Rome)"),
        ("and 2023?", "what about Germany? (about: sales in 2022)", "sales in 2023, Germany"),
        ("Is that more than in 2023?", REVENUE, "Is that more than in 2023? (about: What was the revenue in 2024)"),
        ("and in June?", "What may be stored in hall 3?", "and in June? (about: What may be stored in hall 3)"),
    ],
)
def test_what_a_question_leaves_out_is_taken_from_the_one_before(question, before, understood):
    assert complete(question, before) == understood


@pytest.mark.parametrize(
    "question",
    [
        REVENUE,
        "Who is the Director of Operations at the Braye yard?",
        "How many bar charts are there in the report?",
        "In which year did Merrow open its works, and where do they stand?",
        "Which party that holds most seats supports the plan in 2015?",
        "How long does it take to cure the coating at 5 degrees?",
        "Is it possible to operate the MT-3 without a base?",
        "No. of employees in Germany at the end of 2023?",
        "Same-store sales growth in Germany in 2023?",
        "Who is the chief executive?",
        "What is the price of the seal kit?",
        "How many turbines were delivered?",
        "What if a pump fails during the start-up of the plant?",
        "东北大学在哪里",
    ],
)
def test_a_question_that_stands_by_itself_stays_as_it_is(question):
    assert complete(question, "How long does the coating have to cure?") == question


def test_a_first_question_stays_whatever_it_leaves_out():
    assert complete("and in 2023?") == "and in 2023?"


def test_that_page_the_one_after_it_and_a_citation_are_pages_of_the_answer_before():
    cited = [(5, 6, r"a\xe9\1.pdf"), (11, 11, "b.pdf")]
    assert complete("What else is on that page?", REVENUE, cited) == r"What else is on the 5th page of a\xe9\1.pdf?"
    assert complete("What does the next slide say?", REVENUE, cited) == r"What does the 6th slide of a\xe9\1.pdf say?"
    assert complete("What does [2] mean?", REVENUE, cited) == "What does the 11th page of b.pdf mean?"
    assert complete("What does [3] mean?", REVENUE, cited).startswith("What does [3] mean?"), "nothing was cited as that"
    assert complete("What else is on that page?", REVENUE) == "What else is on that page? (about: What was the revenue in 2024)"
    beyond = "What does the next page say?"
    assert complete(beyond, REVENUE, cited[1:]) == beyond, "the document ends with the page that is cited"
    map_there = "Which figures stand on the same page as the map of Quessant?"
    assert complete(map_there, REVENUE, cited) == map_there


@given(strategies.text(max_size=200), strategies.text(max_size=200), strategies.text(max_size=200))
def test_own_words_stay_and_what_comes_to_them_is_of_the_question_before(question, earlier, first):
    before = complete(earlier, first)
    completed = complete(question, before)
    assert complete(question, "") == question
    if completed != question and not completed.startswith(f"{question} (about: "):
        own, asked = completed.split(), subject_of(before).split()
        assert len(own) == len(asked) and all(word in question or word in before or word.isdigit() for word in own)


def test_of_written_conversations_what_stands_stays_and_most_follow_ups_are_seen():
    turns = [turn for line in THREADS.read_text("utf-8").splitlines() for turn in json.loads(line)["turns"][1:]]
    assert not [turn["question"] for turn in turns if not turn["depends"] and leaves_out(turn["question"])]
    following = [leaves_out(turn["question"]) for turn in turns if turn["depends"]]
    assert sum(following) >= 0.75 * len(following)
