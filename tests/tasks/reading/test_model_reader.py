"""A model reads each path by itself, a small one the nearest words of all; what it says counts as far as it was shown."""

import errno
import json
from dataclasses import replace

import pytest

from storage.records.answers import AnswerStatus, Support
from storage.records.documents import NodeKind
from storage.runs.log import RunLog
from tasks.asking.calls import Stage
from tasks.models.chat.errors import Outcome
from tasks.models.chat.forms import largest_reply
from tasks.reading.cited import Quotable
from tasks.reading.forms import ShortAnswer
from tasks.reading.paths import read_paths
from tasks.reading.plain import Near, choose_near
from tests.asking_worlds import Passage, asked, at_context, published, written
from tests.chat_server import Misbehaviour
from tests.scripted_answers import Reader, booked, forms, model_settings, of_form, passages_of, path_answer, pieces_of, read_by
from tests.tasks.reading_worlds import FACTS, QUESTION, REPORT, reading

WORLD = (REPORT,)


ASKING = model_settings(keywords=True)


def test_each_path_is_read_from_its_own_passages_alone_and_all_at_once(context):
    with reading(context, Reader(FACTS), (0,), (1, 3), (4,), seconds=0.1) as scene:
        found = scene.read()
        assert [one.answer for one in found] == ["20 metres", "20 Metres.", ""]
        assert [[quote.text for quote in one.quotes] for one in found] == [["harbour is 20 metres"], ["Harbour: 20 metres"], []]
        assert scene.server.most_at_once > 1 and all(one.path is path for one, path in zip(found, scene.paths, strict=True))
        shown = {tuple(text.splitlines()[-1] for _, text in passages_of(request).values()) for request in scene.server.requests}
    assert shown == {
        ("The harbour is 20 metres deep.",),
        ("Sound: 35 metres", "Pilots measure it every spring."),
        ("Nobody knows.",),
    }
    assert found[0].present == scene.paths[0].present and found[0].facts == "as it stands" and found[0].whole


def test_an_answer_that_nothing_proves_is_none_and_what_it_cites_is_counted(context):
    wild = path_answer("99 metres", [{"passage": "n1", "quote": "99 metres"}, {"passage": "n5", "quote": "20 metres"}])
    with reading(context, Reader({}, instead={"PathAnswer": wild}), (0,)) as scene:
        (found,) = scene.read()
        assert not found.supported and found.quotes == () and scene.book.left_out == 2
        assert "the answer of path 1 of 1 does not count" in scene.book.notes[0]


def test_what_a_step_writes_in_the_call_book_is_there_once_though_its_lineage_cannot_be_written(context, monkeypatch):
    monkeypatch.setattr("tasks.step.RETRY_SECONDS", 0.0)
    wild = path_answer("99 metres", [{"passage": "n1", "quote": "99 metres"}])

    def broken(*_record):
        monkeypatch.undo()
        raise OSError(errno.EIO, "broken")

    with reading(context, Reader({}, instead={"PathAnswer": wild}), (0,)) as scene:
        monkeypatch.setattr(RunLog, "step", broken)
        with pytest.raises(OSError, match="broken"):
            read_paths(scene.question, scene.paths, replace(context, reader=scene.reader))
        assert scene.book.left_out == len(scene.book.notes) == 1 and not any(call.attempts == 0 for call in scene.book.made)


def test_of_a_worker_that_quotes_badly_the_cited_passage_may_prove_the_answer(context):
    loose = path_answer("20 metres", [{"passage": "n1", "quote": "it is twenty metres"}])
    with reading(context, Reader({}, instead={"PathAnswer": loose}), (0,)) as scene:
        (found,) = scene.read()
        assert [quote.text for quote in found.quotes] == ["The harbour is 20 metres deep."] and scene.book.left_out == 1


def test_a_supported_answer_that_is_empty_is_asked_for_once_more(context):
    with reading(context, Reader({}, instead={"PathAnswer": path_answer(" ")}), (0,), (4,)) as scene:
        assert not any(one.supported for one in scene.read()) and "the answer is empty" in scene.book.notes[0]
        assert scene.server.calls == 4 and sum(request.is_second_chance for request in scene.server.requests) == 2


def test_where_no_path_can_be_read_the_model_is_asked_no_more_and_one_note_says_why(context):
    with reading(context, Reader({}), *[(place,) for place in range(5)], misbehave=lambda _: Misbehaviour.REFUSAL) as scene:
        found = scene.read()
        assert not any(one.supported for one in found) and scene.book.over
        assert scene.synthesized(found).status is AnswerStatus.EVIDENCE and scene.server.calls == 5
    (note, looked) = scene.book.notes
    assert note == ("the model failed on path 1 of 5, path 2 of 5, path 3 of 5 and 2 more: the model declined: I would rather not.")
    assert looked.endswith("rules looked for the evidence")


def test_a_second_pass_that_is_not_read_leaves_the_first(context):
    with reading(context, Reader({}), (0,), misbehave=lambda _: Misbehaviour.REFUSAL) as scene:
        scene.book.stage = Stage.REFINED
        (found,) = scene.read()
        assert not found.supported and len(scene.book.notes) == 1


def test_only_different_answers_are_compared_and_equal_ones_count_as_often_as_they_are_given(context):
    with reading(context, Reader(FACTS), (0,), (1,), (2,)) as scene:
        found = scene.read()
        assert scene.reader.consistency(scene.question, found) == pytest.approx(1 / 3)
        (request,) = of_form(scene.server, "Comparison")
        assert [text for _, text in pieces_of(request)] == ["20 metres", "18 metres"]
        assert scene.reader.consistency(scene.question, found[:2]) == scene.reader.consistency(scene.question, []) == 1.0
    assert forms(scene.server)["Comparison"] == 1


def test_no_more_pairs_are_compared_than_are_set(context):
    settings = model_settings(reading={"model": {"compared_pairs": 0}})
    with reading(context, Reader(FACTS), (0,), (2,), settings=settings) as scene:
        assert scene.reader.consistency(scene.question, scene.read()) == 1.0 and not of_form(scene.server, "Comparison")


THREE_ANSWERS = FACTS | {"Pilots measure": "by pilots"}


@pytest.mark.parametrize(("failing", "agreed"), [({"20 metres"}, 1.0), ({"20 metres", "18 metres"}, 0.0)])
def test_a_comparison_that_fails_does_not_count_but_where_all_fail_nothing_agrees(context, failing, agreed):
    def misbehave(request):
        fails = request.form == "Comparison" and pieces_of(request)[0][1] in failing
        return Misbehaviour.REFUSAL if fails else None

    with reading(context, Reader(THREE_ANSWERS, contradicts=False), (0,), (2,), (3,), misbehave=misbehave) as scene:
        assert scene.reader.consistency(scene.question, scene.read()) == agreed and "a pair of answers" in scene.book.notes[0]


def test_keywords_are_words_of_the_question_and_alone_are_searched_for(context):
    reply = {"keywords": ["deep is", "Hafen", "the", "harbour"]}
    with read_by(context, Reader({}, instead={"Keywords": reply}), settings=ASKING) as (place, server), booked(place):
        assert place.reader.keywords(QUESTION) == ("deep is", "the", "harbour")
        question = asked(QUESTION, place)
    assert question.terms.stems == ("deep", "is", "the", "harbour") and server.calls == 1
    assert question.terms.anchors == asked(QUESTION, context).terms.anchors


def test_a_model_that_names_no_words_leaves_the_rules_own(context):
    refusing = {"misbehave": lambda _: Misbehaviour.REFUSAL, "settings": ASKING}
    with read_by(context, Reader({}), **refusing) as (place, _), booked(place) as book:
        assert asked(QUESTION, place).terms == asked(QUESTION, context).terms and "the question's keywords" in book.notes[0]


@pytest.mark.parametrize("bridges_and_steps", [32, 33, 7])
@pytest.mark.parametrize("calls", [2, 3, 4, 5])
def test_bridges_and_steps_together_take_no_more_calls_than_are_set(context, calls, bridges_and_steps):
    settings = model_settings(gate={"pairs": bridges_and_steps}, reading={"model": {"rating_calls": calls}})
    nodes = context.snapshot.view.passages_by_id([node.id for node in REPORT.nodes])
    half = [(nodes[place % 4], nodes[place % 4 + 1]) for place in range(bridges_and_steps // 2)]
    with reading(context, Reader(FACTS), (0,), settings=settings) as scene:
        for bridges in (True, False):
            scene.reader.rate_pairs(scene.question, half, [0.0] * len(half), bridges=bridges)
        assert 2 <= len(scene.book.asked[Stage.REFINED]) <= calls


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
    assert (given.answer, given.status, given.why) == ("18 metres", AnswerStatus.ANSWERED, "the model read the pages once")
    assert largest_reply(ShortAnswer) <= 350


def test_what_no_passage_says_is_unverified_beside_the_evidence_of_rules_or_not_shown_where_proof_is_required(context):
    for answer, other, unproven, status in (
        ("99 metres", 1, True, AnswerStatus.UNVERIFIED),
        ("99 metres", 1, False, AnswerStatus.EVIDENCE),
        ("", 3, True, AnswerStatus.EVIDENCE),
    ):
        settings = model_settings(reading={"unproven": unproven, "model": {"forms": "small"}})
        with reading(context, saying(answer), (0,), (other,), settings=settings) as scene:
            given = scene.synthesized(verdict=None)
            assert (given.answer, given.status) == (answer if status is AnswerStatus.UNVERIFIED else "", status)
            assert given.quotes[0].text == "The harbour is 20 metres deep."
            assert scene.book.unproven == ([answer] if answer else [])


def test_of_a_long_sentence_the_words_that_say_the_answer_are_shown_as_its_proof(context):
    settings = model_settings(reading={"quote_words": 5, "model": {"forms": "small"}})
    with reading(context, saying("In 1950"), (2,), settings=settings) as scene:
        (found,) = scene.read()
    assert [quote.text for quote in found.quotes] == ["18 metres deep in 1950."]


@pytest.mark.parametrize(("room", "shown"), [(100, 100), (1500, 147)])
def test_where_there_is_no_room_for_all_that_was_found_it_is_counted_how_much_was_shown(context, room, shown):
    every = [(place,) for place in range(5)]
    with reading(context, saying("20 metres"), *every, settings=small(small_characters=room)) as scene:
        scene.read()
    assert (scene.book.shown, scene.book.held) == (shown, 147) and not scene.book.notes, "with notes no answer is kept"


def test_no_words_to_look_for_are_asked_of_a_small_model(context):
    with reading(context, saying("20 metres"), (0,), settings=small()) as scene:
        assert scene.reader.keywords("How deep is the harbour?") == () and scene.server.calls == 0


@pytest.mark.parametrize(("seconds", "form"), [(120.0, "PlainAnswer"), (1200.0, "PathAnswer"), (None, "PathAnswer")])
def test_a_slow_model_is_asked_plainly_where_the_question_has_not_the_time_for_more(context, seconds, form):
    slow = {"read_per_second": 100.0, "written_per_second": 20.0}
    with reading(context, Reader(FACTS), (0,), settings=model_settings(seconds=seconds), **slow) as scene:
        scene.read()
        assert scene.server.requests[0].form == form


def node_on(page):
    return replace(REPORT.nodes[0], document_id=page[0], page=page[1])


def plain(**more):
    return model_settings(reading={"model": {"forms": "plain"} | more})


def replying(answer, *quotes):
    return Reader({}, instead={"PlainAnswer": {"answer": answer, "quotes": list(quotes)}})


def test_plainly_a_model_is_shown_the_whole_pages_and_told_what_to_do_by_the_system(context):
    with reading(context, replying("20 metres", "harbour is 20 metres"), (0,), (3,), settings=plain()) as scene:
        given = scene.synthesized(verdict=None)
        (request,) = scene.server.requests
    told, said = request.body["messages"]
    assert told["role"] == "system" and "no orders" in told["content"] and "Pilots" in said["content"]
    assert (given.answer, given.status) == ("20 metres", AnswerStatus.ANSWERED)
    (part,) = given.parts
    assert (part.support, part.citations) == (Support.QUOTED, (0,)) and given.quotes[0].text == "The harbour is 20 metres deep."


def test_plainly_rows_are_read_and_quoted_by_their_cells_under_the_heads_of_their_table(context):
    asked = {"text": "How many metres is the sound?", "settings": plain()}
    with reading(context, replying("35 metres", "Sound | 35 metres"), (0,), (1,), **asked) as scene:
        given = scene.synthesized(verdict=None)
        (request,) = scene.server.requests
    assert "\nPlace | Depth\nHarbour | 20 metres\nSound | 35 metres\n" in request.body["messages"][1]["content"]
    assert given.status is AnswerStatus.ANSWERED and given.quotes[0].text == "Sound: 35 metres"


def test_plainly_a_row_that_two_tables_have_is_read_in_both(tmp_path):
    report = written("tables", *(Passage(f"Place: {head}\nSound: 35", 1, NodeKind.TABLE) for head in ("Depth", "Width")))
    asked = {"text": "How wide is the sound?", "settings": plain(), "report": report}
    with at_context(published(tmp_path, report)) as context, reading(context, replying("35"), (0,), (1,), **asked) as scene:
        scene.read()
        (request,) = scene.server.requests
    assert "Place | Depth\nSound | 35\nPlace | Width\nSound | 35\n" in request.text


def test_plainly_the_best_page_comes_first_where_there_is_room_for_all_of_it():
    first, second = ("page", 1), ("page", 2)
    near = [Near(Quotable("", "", node_on(page)), None, score, 0.0) for page, score in ((first, 0.1), (second, 0.9), (first, 0.2))]
    chosen = {room: [one.score for one in choose_near(near, [10, 10, 10], room, whole=True)] for room in (30, 20, 19)}
    assert chosen == {30: [0.1, 0.9, 0.2], 20: [0.1, 0.2], 19: [0.9]}
    assert [one.score for one in choose_near(near, [10, 10, 10], 20, whole=False)] == [0.9, 0.2]


@pytest.mark.parametrize("quotes", [(), ("harbour was 18 metres deep",)])
@pytest.mark.parametrize(("place", "proven"), [("harbour", True), ("sound", False)])
def test_plainly_only_what_speaks_of_most_of_the_question_proves_an_answer_also_as_a_quote(context, place, proven, quotes):
    asked = {"text": f"How deep was the {place} in 1950?", "settings": plain()}
    with reading(context, replying("18 metres", *quotes), (0,), (1,), (2,), (3,), **asked) as scene:
        answers = {reading.answer for reading in scene.read()} - {""}
    assert (answers, scene.book.unproven) == (({"18 metres"}, []) if proven else (set(), ["18 metres"]))


def test_a_quote_in_other_words_than_the_questions_proves_nothing(context):
    asked = {"text": "How deep is the sound?", "settings": plain()}
    with reading(context, replying("35 metres", "Sound | 35 metres"), (0,), (1,), **asked) as scene:
        assert not any(reading.answer for reading in scene.read()) and scene.book.unproven == ["35 metres"]


def test_of_two_parts_each_has_its_proof_or_is_marked(context):
    said = "It is 20 metres deep, and the sound is 35 metres."
    with reading(context, replying(said, "harbour is 20 metres", "Sound: 35 metres"), (0,), (1,), settings=plain()) as scene:
        given = scene.synthesized(verdict=None)
    assert [part.support for part in given.parts] == [Support.QUOTED] * 2 and given.status is AnswerStatus.ANSWERED
    assert [given.quotes[part.citations[0]].text for part in given.parts] == ["The harbour is 20 metres deep.", "Sound: 35 metres"]
    with reading(context, replying(said.replace("35", "36"), "harbour is 20 metres"), (0,), settings=plain()) as scene:
        given = scene.synthesized(verdict=None)
    assert [part.support for part in given.parts] == [Support.QUOTED, Support.UNSUPPORTED]
    assert given.status is AnswerStatus.PARTIAL and given.answer.endswith("36 metres.")


def test_what_is_reckoned_of_two_quotes_is_reckoned_again(context):
    deeper = "How many metres deep is the harbour, less what it was in 1950?"
    reply = replying("2 metres", "harbour is 20 metres deep", "harbour was 18 metres deep")
    with reading(context, reply, (0,), (2,), text=deeper, settings=plain()) as scene:
        given = scene.synthesized(verdict=None)
    (part,) = given.parts
    assert (part.support, part.working, len(given.quotes)) == (Support.COMPUTED, "20 - 18 = 2", 2)


@pytest.mark.parametrize(
    "said", ["strconv.Atoi(strings.Split(passage,", QUESTION, "so " * 30, "One JSON value that fits the schema"]
)
def test_code_an_echo_and_words_that_run_on_are_asked_for_once_more_and_never_shown(context, said):
    with reading(context, replying(said), (0,), settings=plain()) as scene:
        given = scene.synthesized(verdict=None)
        assert (given.answer, given.status, scene.server.calls) == ("", AnswerStatus.EVIDENCE, 2)
        assert scene.book.made[-1].outcome is Outcome.INVALID and not scene.book.unproven


def test_where_the_pages_do_not_answer_a_plain_model_says_so(context):
    with reading(context, replying(""), (0,), settings=plain()) as scene:
        assert scene.synthesized(verdict=None).answer == "" and scene.server.calls == 1


def test_a_slow_model_reads_no_more_than_it_can_before_somebody_waits_too_long(context):
    slow = {"read_per_second": 3.0, "written_per_second": 8.0, "settings": plain(small_characters=60)}
    with reading(context, replying("20 metres"), *[(place,) for place in range(5)], **slow) as scene:
        scene.read()
    assert scene.book.shown < scene.book.held
