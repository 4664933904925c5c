"""A small model reads the nearest words of a few paths; what it says counts where a piece that it was shown says it."""

import json

import pytest

from storage.records.answers import AnswerStatus
from tasks.models.chat.forms import largest_reply
from tasks.reading.cited import Piece
from tasks.reading.forms import ShortAnswer
from tasks.reading.small import proving_pieces
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


NODE = REPORT.nodes[0]
ROW = object()
DEPTH, SOUND, VALVE = (
    Piece(text, text, NODE)
    for text in (
        "The harbour is 20 metres deep.",
        "The 5 hoses of the sound are 1,350 metres long, not 1,400.",
        "The valve may be opened at -20 degrees; costs fell by 4 % and rose in 2022.",
    )
)
TABLE = Piece("Model: MT-2 | Rated MW: 1.2 | Energy GWh: 3.39", "Model: MT-2 | Rated MW: 1.2 | Energy GWh: 3.39", NODE, ROW)


@pytest.mark.parametrize(
    ("answer", "proving"),
    [
        ("20 metres", [DEPTH]),
        ("It is 20 metres deep.", [DEPTH]),
        ("Yes, it is 20 metres deep.", [DEPTH]),
        ("It is not 20 metres deep.", []),
        ("2 metres", []),
        ("20 or 35 metres", []),
        ("The harbour is deep.", []),
        ("Yes", []),
        ("", []),
        ("1350 metres long, not 1400", [SOUND]),
        ("5 metres", []),
        ("opened at 20 degrees", []),
        ("opened at -20 degrees", [VALVE]),
        ("rose by 4 %", []),
        ("3.39", [TABLE]),
        ("3.39 GWh", [TABLE]),
        ("1.2 GWh", []),
    ],
)
def test_a_passage_proves_an_answer_that_it_says_in_full(answer, proving):
    assert proving_pieces("How deep is the harbour?", answer, [DEPTH, SOUND, VALVE, TABLE]) == proving
