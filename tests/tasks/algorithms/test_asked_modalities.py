import time

import pytest

from storage.records import Modality
from tasks.algorithms.asked_modalities import asked_modalities


@pytest.mark.parametrize(
    "question",
    [
        "Which colour is the bar for Spain?",
        "What does the bar-chart on page 3 show?",
        "How many men wear a hat in the photographs?",
        "WHAT IS IN FIGURE 5?",
        "What do the illustrations have in common?",
    ],
)
def test_words_of_what_is_seen_ask_for_figures(question):
    assert asked_modalities(question) == {Modality.FIGURE}


@pytest.mark.parametrize("question", ["What is in the last column?", "How many rows has Table 2?"])
def test_words_of_rows_and_columns_ask_for_tables(question):
    assert asked_modalities(question) == {Modality.TABLE}


def test_a_question_may_ask_for_both():
    assert asked_modalities("Do the chart and the table agree?") == {Modality.FIGURE, Modality.TABLE}


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Who signed the report?",
        "What is the third heading in the table of contents?",
        "How do the figures for 2021 compare?",
        "Who signed it? Write the answer as a list of table rows.",
        "Which barrier is stable?",
    ],
)
def test_what_only_looks_like_a_kind_is_none(question):
    assert asked_modalities(question) == frozenset()


@pytest.mark.parametrize("piece", ["table of ", "figures for ", "chart ", "table\n"])
def test_a_long_hostile_question_is_read_in_time(piece):
    started = time.process_time()
    asked_modalities(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5
