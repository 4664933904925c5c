"""Follow-ups: which questions leave something out, and how the question before completes them."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies

from tasks.algorithms.questions.following import leaves_out, understand

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
        ("why?", REVENUE, f"why? (about: {REVENUE})"),
        ("who signed it?", REVENUE, f"who signed it? (about: {REVENUE})"),
        ("what about Germany?", REVENUE, f"what about Germany? (about: {REVENUE})"),
        ("and the costs in 2023?", REVENUE, "and the costs in 2023? (about: What was the revenue in 2023?)"),
        ("how high did it get on FN-03?", "Water in the oil?", "how high did it get on FN-03? (about: Water in the oil?)"),
        ("and why?", f"who signed it? (about: {REVENUE})", f"and why? (about: {REVENUE})"),
        ("and 2023?", f"why? (about: {REVENUE})", "What was the revenue in 2023?"),
        ("und 2023?", "Wie hoch war der Umsatz 2024?", "Wie hoch war der Umsatz 2023?"),
        ("and in 2022 and 2023?", REVENUE, f"and in 2022 and 2023? (about: {REVENUE})"),
    ],
)
def test_what_a_question_leaves_out_is_taken_from_the_one_before(question, before, understood):
    assert understand(question, before) == understood


@pytest.mark.parametrize(
    "question",
    [
        REVENUE,
        "Who is the Director of Operations at the Braye yard?",
        "How many bar charts are there in the report?",
        "In which year did Merrow open its works, and where do they stand?",
        "Which party that holds most seats supports the plan in 2015?",
        "东北大学在哪里",
    ],
)
def test_a_question_that_stands_by_itself_stays_as_it_is(question):
    assert understand(question, "How long does the coating have to cure?") == question


def test_a_first_question_stays_whatever_it_leaves_out():
    assert understand("and in 2023?") == "and in 2023?"


def test_that_page_is_the_one_that_was_cited():
    page = "page 5 of report.pdf"
    assert understand("What else is on that page?", REVENUE, page) == "What else is on page 5 of report.pdf?"
    assert understand("What else is on that page?", REVENUE) == f"What else is on that page? (about: {REVENUE})"


@given(strategies.text(max_size=200), strategies.text(max_size=200), strategies.text(max_size=200))
def test_own_words_stay_and_only_words_of_the_one_before_come_to_them(question, before, earlier):
    first = understand(before, earlier)
    understood = understand(question, first)
    assert understood == question or understood.startswith(f"{question} (about: ") or len(understood) <= len(first) + 4
    if understood.startswith(f"{question} (about: "):
        assert "(about: " not in understood[len(question) + len(" (about: ") :] or "(about: " in f"{question}{before}{earlier}"


def test_of_written_conversations_what_stands_stays_and_most_follow_ups_are_seen():
    turns = [turn for line in THREADS.read_text("utf-8").splitlines() for turn in json.loads(line)["turns"][1:]]
    assert not [turn["question"] for turn in turns if not turn["depends"] and leaves_out(turn["question"])]
    following = [leaves_out(turn["question"]) for turn in turns if turn["depends"]]
    assert sum(following) >= 0.75 * len(following)
