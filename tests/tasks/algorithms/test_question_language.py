"""What looks like English, and what does not."""

import pytest

from tasks.algorithms.question_language import looks_english


@pytest.mark.parametrize(
    "question", ["What does a unicorn eat?", "HOW DEEP IS LOCH NESS?", "Who founded Müller?", "Name the zebra.", "Is price of x y?"]
)
def test_english_is_known_by_its_small_words(question):
    assert looks_english(question)


@pytest.mark.parametrize(
    "question",
    [
        *(
            "Was kostet ein Apfelkuchen mit Sahne?",
            "Quel est le prix de la tarte ?",
            "¿Cuánto cuesta la tarta?",
            "Hvad koster en kage?",
        ),
        *("Wat is de prijs van de taart?", "Какова выручка?", "収益はいくらですか", "كم الإيرادات؟", "torque bolts", ""),
    ],
)
def test_other_languages_and_bare_words_are_not_english(question):
    assert not looks_english(question)
