"""A small model reads the nearest words of a few paths; what it says counts where a piece that it was shown says it."""

import pytest

from storage.records.answers import AnswerStatus
from tasks.models.chat.forms import largest_reply
from tasks.reading.cited import Piece
from tasks.reading.forms import ShortAnswer
from tasks.reading.small import proving_pieces
from tests.scripted_answers import Reader, forms, model_settings, pieces_of
from tests.tasks.reading_worlds import REPORT, reading


def small(**more):
    return model_settings(reading={"model": {"forms": "small"} | more})


def saying(answer, quote=""):
    return Reader({}, instead={"ShortAnswer": {"answer": answer, "quote": quote}})


def test_only_the_first_paths_are_read_each_by_its_nearest_words(context):
    with reading(context, saying("20 metres"), (0, 3), (1, 4), (2,), (3,), settings=small(small_characters=60)) as scene:
        found = scene.read()
        assert [one.answer for one in found] == ["20 metres", "20 metres", "", ""]
        assert [[quote.text for quote in one.quotes] for one in found[:2]] == [
            ["The harbour is 20 metres deep."],
            ["Harbour: 20 metres"],
        ]
        shown = ["\n".join(text for _, text in pieces_of(request)) for request in scene.server.requests]
    assert forms(scene.server) == {"ShortAnswer": 3} and "Pilots" not in "".join(shown)
    assert len(scene.book.notes) == 1 and "path 3 does not count" in scene.book.notes[0]
    assert largest_reply(ShortAnswer) <= 350


def test_what_most_readings_say_is_the_answer_and_where_they_differ_it_is_noted(context):
    def by_year(request):
        return {"answer": "18 metres" if "1950" in request.prompt else "20 metres", "quote": ""}

    with reading(context, Reader({}, instead={"ShortAnswer": by_year}), (2,), (0,), (1,), settings=small()) as scene:
        given = scene.synthesized(verdict=None)
    assert (given.answer, given.status) == ("20 metres", AnswerStatus.PARTIAL)
    assert "a small model is not asked to put them together" in given.notes[0]
    with reading(context, saying("20 metres"), (0,), (1,), settings=small()) as scene:
        assert scene.synthesized(verdict=None).status is AnswerStatus.ANSWERED


NODE = REPORT.nodes[0]
DEPTH, SOUND = (Piece(text, text, NODE) for text in ("The harbour is 20 metres deep.", "The sound is 35 metres deep."))


@pytest.mark.parametrize(
    ("answer", "quote", "proving"),
    [
        ("20 metres", "", [DEPTH]),
        ("It is 20 metres deep.", "The harbour is 20 metres", [DEPTH, DEPTH]),
        ("2 metres", "", []),
        ("20 or 35 metres", "", []),
        ("The harbour", "The harbour is 20 metres deep", []),
        ("Yes", "The harbour is 20 metres deep", [DEPTH]),
        ("Yes", "It is very deep", []),
        ("", "The harbour is 20 metres deep", []),
    ],
)
def test_a_piece_proves_an_answer_whose_new_words_all_stand_in_it(answer, quote, proving):
    assert proving_pieces("How deep is the harbour?", answer, quote, [DEPTH, SOUND]) == proving


def test_what_the_question_offers_needs_a_quote():
    question = "Is the harbour deep or the sound?"
    assert proving_pieces(question, "The sound", "The sound is 35 metres", [DEPTH, SOUND]) == [SOUND]
    assert proving_pieces(question, "The sound", "", [DEPTH, SOUND]) == []
