"""A small model reads the nearest words of a few paths; what it says counts where a piece that it was shown says it."""

import json

import pytest

from storage.records.answers import AnswerStatus
from tasks.models.chat.forms import largest_reply
from tasks.reading.answer import noted
from tasks.reading.cited import Piece
from tasks.reading.forms import ShortAnswer
from tasks.reading.small import proof_of
from tests.scripted_answers import Reader, model_settings
from tests.tasks.reading_worlds import REPORT, reading


def small(**more):
    return model_settings(reading={"model": {"forms": "small"} | more})


def saying(answer):
    return Reader({}, instead={"ShortAnswer": json.dumps(answer)})


def test_one_call_reads_the_nearest_words_of_all_paths_and_its_answer_belongs_to_the_path_that_proves_it(context):
    with reading(context, saying("18 metres"), (0, 3), (2, 4), (1,), settings=small(small_characters=100)) as scene:
        found = scene.read()
        assert [one.answer for one in found] == ["", "18 metres", ""]
        assert [quote.text for quote in found[1].quotes] == ["The harbour was 18 metres deep in 1950."] and not scene.book.notes
        (request,) = scene.server.requests
        shown = request.prompt
        given = scene.synthesized(found, verdict=None)
    assert request.form == "ShortAnswer" and "harbour is 20 metres" in shown and "Pilots" not in shown
    assert (given.answer, given.status) == ("18 metres", AnswerStatus.ANSWERED) and "nearest" in given.why
    assert largest_reply(ShortAnswer) <= 350


def test_what_no_passage_says_is_no_answer_and_rules_quote_the_evidence(context):
    for answer, other in (("99 metres", 1), ("", 3)):
        with reading(context, saying(answer), (0,), (other,), settings=small()) as scene:
            given = scene.synthesized(verdict=None)
            assert (given.answer, given.status) == ("", AnswerStatus.EVIDENCE)
            assert given.quotes[0].text == "The harbour is 20 metres deep."
            assert scene.book.unproven == ([answer] if answer else [])


def test_of_a_long_sentence_the_words_that_say_the_answer_are_shown_as_its_proof(context):
    settings = model_settings(reading={"words": 5, "model": {"forms": "small"}})
    with reading(context, saying("In 1950"), (2,), settings=settings) as scene:
        (found,) = scene.read()
    assert [quote.text for quote in found.quotes] == ["18 metres deep in 1950."]


def test_where_there_is_no_room_for_all_that_was_found_the_answer_says_how_much_was_shown(context):
    every = [(place,) for place in range(5)]
    for room, told in (
        (100, ("the model was shown 100 of the 147 characters that were found: there was no room for more",)),
        (1500, ()),
    ):
        with reading(context, saying("20 metres"), *every, settings=small(small_characters=room)) as scene:
            scene.read()
            assert noted(scene.book) == told and not scene.book.notes, "with notes no answer is kept"


def test_no_words_to_look_for_are_asked_of_a_small_model(context):
    with reading(context, saying("20 metres"), (0,), settings=small()) as scene:
        assert scene.reader.keywords("How deep is the harbour?") == () and scene.server.calls == 0


@pytest.mark.parametrize(("seconds", "form"), [(120.0, "ShortAnswer"), (1200.0, "PathAnswer"), (None, "PathAnswer")])
def test_a_slow_model_is_asked_in_small_forms_where_the_question_has_not_the_time_for_more(context, seconds, form):
    slow = {"read_per_second": 100.0, "written_per_second": 20.0}
    with reading(context, saying("20 metres"), (0,), settings=model_settings(seconds=seconds), **slow) as scene:
        scene.read()
        assert scene.server.requests[0].form == form


def piece(text, row=None):
    return Piece(text, text, REPORT.nodes[0], row)


DEPTH, HOSES, SOUND, VALVE, WHALES, PROFIT = map(
    piece,
    (
        "The harbour is 20 metres deep.",
        "The 5 hoses of the sound are 1,350 metres long.",
        "The sound is 1,350 metres long, not 1,400.",
        "The valve may be opened at -20 degrees; costs fell by 4 % and rose in 2022.",
        "Whales were seen.",
        "Revenue was 12 million in 2022 and profit was 5 million in 2023.",
    ),
)
TABLE = piece("Model: MT-2 | Rated MW: 1.2 | Energy GWh: 3.39", object())


@pytest.mark.parametrize(
    ("answer", "proving"),
    [
        ("20 metres", DEPTH),
        ("It is 20 metres deep.", DEPTH),
        ("fell by 4%", VALVE),
        ("5%", None),
        ("$5 million", None),
        ("Yes, it is 20 metres deep.", DEPTH),
        ("It is not 20 metres deep.", None),
        ("2 metres", None),
        ("two metres", None),
        ("20 or 35 metres", None),
        ("The harbour is deep.", None),
        ("Yes", None),
        ("", None),
        ("1350 metres long", HOSES),
        ("1350 metres long, not 1400", SOUND),
        ("5 metres", None),
        ("5 hoses", HOSES),
        ("opened at 20 degrees", None),
        ("opened at -20 degrees", VALVE),
        ("rose by 4 %", None),
        ("No whales were seen.", None),
        ("Whales were seen.", WHALES),
        ("3.39", TABLE),
        ("3.39 GWh", TABLE),
        ("1.2 GWh", None),
    ],
)
def test_a_passage_proves_an_answer_that_it_says_in_full(answer, proving):
    found = proof_of("How deep is the harbour?", answer, [DEPTH, HOSES, SOUND, VALVE, WHALES, PROFIT, TABLE])
    assert (found and found.piece) == proving


@pytest.mark.parametrize(
    ("answer", "proven"),
    [
        ("Profit was 12 million in 2023.", False),
        ("Profit was 5 million in 2023.", True),
        ("5 million", True),
        ("The profit is 2022 million", False),
    ],
)
def test_a_number_that_a_passage_gives_for_another_thing_proves_nothing_of_the_one_that_is_asked_about(answer, proven):
    assert (proof_of("What was the profit in 2023?", answer, [PROFIT]) is not None) == proven
