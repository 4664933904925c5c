"""The answer of a model: what all agree on, or what it makes of the evidence; in the form of its kind, on quotes that stand."""

import io
from contextlib import contextmanager
from dataclasses import replace

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.locations import artifacts_folder
from storage.records.answers import AnswerStatus
from storage.records.documents import Modality
from tasks.reading.model_answer import UNPROVEN, show_evidence
from tests.asking_worlds import at_context, published
from tests.scripted_answers import Reader, forms, model_settings, path_answer, whole_answer
from tests.tasks.reading_worlds import FACTS, FIRED, QUIET, REPORT, reading


def evidence(scene, readings):
    return show_evidence(scene.reader.context, scene.question, readings)


def test_each_path_says_what_its_reader_found_and_which_passages_it_is_about(context):
    with reading(context, Reader(FACTS), (0, 3), (4,), (0, 1)) as scene:
        shown, path = evidence(scene, scene.read())
    assert [(piece.heading, piece.text) for piece in shown.pieces[:3]] == [
        ("path 1, passages n1, n2: what its reader says", "Answer: 20 metres\nFacts: as it stands"),
        ("path 2, passages n3: what its reader says", "It found no answer."),
        ("path 3, passages n1, n4: what its reader says", "Answer: 20 metres\nFacts: as it stands"),
    ]
    assert [node.id for node in shown.nodes.values()] == [REPORT.nodes[place].id for place in (0, 3, 4, 1)]
    assert path.nodes == tuple(shown.nodes.values()) and len(shown.pieces) == 3 + 4


def test_of_a_long_path_what_is_cited_is_shown_and_else_the_worthiest(context):
    settings = model_settings(reading={"model": {"evidence_passages": 1}})
    with reading(context, Reader(FACTS), (4, 3, 0), (4, 3), settings=settings) as scene:
        first, second = scene.read()
        shown, _path = evidence(scene, (first, second))
        worth = scene.paths[0].worth
    assert shown.nodes["n1"].id == REPORT.nodes[0].id and len(shown.nodes) == 2
    assert shown.nodes["n2"].id == max((node.id for node in second.path.nodes), key=lambda name: worth[name])


def test_what_a_reader_cites_of_a_picture_counts_as_seen_and_nothing_else_does(context):
    with reading(context, Reader(FACTS), (0,), (1,)) as scene:
        plain, drawn = scene.read()
        (quote,) = drawn.quotes
        assert evidence(scene, (plain, drawn))[0].seen == frozenset()
        assert evidence(scene, (plain, replace(drawn, seen=frozenset({quote.node.id, "of no quote"}))))[0].seen == {quote.node.id}


def test_what_readers_say_takes_room_from_the_passages(context):
    settings = model_settings(reading={"model": {"evidence_characters": 1000}})
    with reading(context, Reader(FACTS), (0,), settings=settings) as scene:
        (found,) = scene.read()
        loud, _path = evidence(scene, (replace(found, facts="so " * 400),))
    assert "[... " in loud.pieces[1].text and loud.pieces[0].text.count("so ") == 400


WORLD = (REPORT,)
HERE = [{"passage": "n1", "quote": "harbour is 20 metres"}]


def answered(context, reply, *paths, verdict=FIRED, facts=FACTS, **more):
    """Return what is made of these paths where the last reader replies so; the requests of each form; and the book."""
    with reading(context, Reader(facts, instead={"WholeAnswer": reply} if reply else {}), *(paths or [(0,)]), **more) as scene:
        return scene.synthesized(verdict=verdict), forms(scene.server), scene.book


def test_what_all_supporting_paths_say_is_given_without_another_call(context):
    found, asked, _ = answered(context, None, (0,), (1,), (4,), verdict=QUIET)
    assert (found.answer, found.status, asked["WholeAnswer"]) == ("20 metres", AnswerStatus.ANSWERED, 0)
    assert [quote.text for quote in found.quotes] == ["harbour is 20 metres", "Harbour: 20 metres"]
    assert found.why == "2 paths support an answer, of 3 that were read; they agree"


@pytest.mark.parametrize("verdict", [FIRED, None])
def test_behind_a_gate_that_fired_or_without_one_the_model_puts_them_together(context, verdict):
    found, asked, _ = answered(context, None, (0,), (1,), verdict=verdict)
    assert asked["WholeAnswer"] == 1 and found.answer == "20 metres"


def test_different_answers_and_parts_of_one_are_put_together_also_behind_a_quiet_gate(context):
    assert answered(context, None, (0,), (2,), verdict=QUIET)[1]["WholeAnswer"] == 1
    part = {"PathAnswer": path_answer("20 metres", HERE, whole=False)}
    with reading(context, Reader(FACTS, instead=part), (0,), text="How deep is it, and who measured the harbour?") as scene:
        scene.synthesized(verdict=QUIET)
        assert forms(scene.server)["WholeAnswer"] == 1


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (whole_answer("20 m", HERE, kind="number"), "20 m"),
        (whole_answer("", HERE, kind="list", items=["Harbour", " Sound "]), "Harbour, Sound"),
        (whole_answer("", HERE, kind="list", items=["Harbour, old", "Sound", ""]), "Harbour, old; Sound"),
        (whole_answer("Yes, it is 20 metres deep.", HERE, kind="yes_no"), "Yes, it is 20 metres deep."),
        (whole_answer("by\nlead line\x1b[0m", HERE), "by lead line [0m"),
    ],
)
def test_an_answer_has_the_form_of_its_kind(context, reply, shown):
    found, asked, _ = answered(context, reply)
    assert (found.answer, found.status, asked["WholeAnswer"]) == (shown, AnswerStatus.ANSWERED, 1)


@pytest.mark.parametrize(
    ("reply", "wrong"),
    [
        (whole_answer(" ", HERE), "the answer is empty"),
        (whole_answer("twenty", HERE, kind="number"), "holds digits"),
        (whole_answer("It is.", HERE, kind="yes_no"), "begins with Yes or No"),
        (whole_answer("Harbour", HERE, kind="list", items=["", " "]), "at least one item"),
    ],
)
def test_what_has_not_the_form_of_its_kind_is_asked_for_once_more_and_then_the_paths_speak(context, reply, wrong):
    found, asked, book = answered(context, reply, (0,), (2,), (1,))
    assert asked["WholeAnswer"] == 2 and wrong in book.notes[0]
    assert (found.answer, found.status) == ("20 metres", AnswerStatus.PARTIAL) and len(found.quotes) == 2
    assert "most paths give" in found.notes[0]


def test_nothing_found_comes_with_what_stands_nowhere(context):
    text = "How deep is the harbour of Vattenfall?"
    found, _, _ = answered(context, whole_answer("", kind="none"), (4,), text=text)
    assert (found.answer, found.status, found.quotes) == ("", AnswerStatus.NOT_FOUND, ())
    assert "found no answer on the 1 paths" in found.why and found.notes == ('the documents say nothing about "Vattenfall"',)


def test_without_paths_nothing_is_asked(context):
    with reading(context, Reader(FACTS)) as scene:
        found = scene.synthesized(())
        assert found.status is AnswerStatus.NOT_FOUND and scene.server.calls == 0


UNPROVEN_ANSWER = whole_answer("99 metres", [{"passage": "n1", "quote": "99 metres"}])


def test_in_place_of_an_answer_that_nothing_proves_what_most_paths_say_is_given_and_so_noted(context):
    found, _, book = answered(context, UNPROVEN_ANSWER, (0,), (2,), (1,))
    assert (found.answer, found.status, book.left_out) == ("20 metres", AnswerStatus.PARTIAL, 1)
    assert found.notes == (f"this is the answer that most paths give: {UNPROVEN}",)


RULES_QUOTE = "The harbour is 20 metres deep."


def test_where_no_path_answers_rules_quote_in_place_of_an_answer_that_nothing_proves(context):
    found, _, book = answered(context, UNPROVEN_ANSWER, (4,), (0, 2), facts={})
    assert (found.answer, found.status, book.left_out) == ("", AnswerStatus.EVIDENCE, 1)
    assert found.quotes[0].text == RULES_QUOTE
    assert f"no path answers by itself, and {UNPROVEN}: rules looked for the evidence" in book.notes
    nothing, _, book = answered(context, UNPROVEN_ANSWER, (4,))
    assert nothing.status is AnswerStatus.NOT_FOUND and "holds a word" in nothing.why and any(UNPROVEN in n for n in book.notes)


def test_an_answer_that_nothing_proves_is_shown_where_the_user_wants_it_and_says_so(context):
    shown = model_settings(reading={"unproven": True})
    found, _, book = answered(context, UNPROVEN_ANSWER, (4,), (0, 2), facts={}, settings=shown)
    assert (found.answer, found.status) == ("99 metres", AnswerStatus.EVIDENCE) and "no quote proves" in book.notes[-1]
    assert found.quotes[0].text == RULES_QUOTE
    wild = {
        "PathAnswer": path_answer("98 metres", [{"passage": "n9", "quote": "98"}]),
        "WholeAnswer": whole_answer("", kind="none"),
    }
    with reading(context, Reader({}, instead=wild), (3,), settings=shown) as scene:
        assert scene.synthesized().answer == "98 metres", "that of a path, where none was put together"


def test_where_rules_quote_the_call_book_says_why_no_answer_of_the_model_counts(context):
    unproven, none = f"no path answers by itself, and {UNPROVEN}", whole_answer("", kind="none")
    for reply, place, why in ((UNPROVEN_ANSWER, 0, unproven), (none, 2, "")):
        assert answered(context, reply, (place,), facts={})[2].unanswered == why


SEEN = [{"passage": "n1", "quote": "the bar of 2020 ends at 44"}]
SEES = Reader({}, instead={"PathAnswer": path_answer("44", SEEN), "WholeAnswer": whole_answer("44 in 2020", SEEN)})


@contextmanager
def read_with_a_picture(folder, place, *, of_page=False, **more):
    """Give the question on one passage of the report that has a picture; or on a figure whose page has one."""
    stream = io.BytesIO()
    Image.new("RGB", (64, 64)).save(stream, "PNG")
    crop = ArtifactStore(artifacts_folder()).put(stream.getvalue())
    nodes, pages, (node, page) = [*REPORT.nodes], [*REPORT.pages], (REPORT.nodes[place], REPORT.nodes[place].page)
    nodes[place] = replace(node, modality=Modality.FIGURE) if of_page else replace(node, picture=crop)
    pages[page - 1] = replace(pages[page - 1], image=crop if of_page else None)
    with (
        at_context(published(folder, replace(REPORT, nodes=tuple(nodes), pages=tuple(pages)))) as context,
        reading(context, SEES, (place,), **more) as scene,
    ):
        yield scene


@pytest.mark.parametrize("found_out", ["before", "while it is asked"])
def test_a_model_that_sees_nothing_is_asked_by_the_words_and_proves_nothing_by_a_picture(tmp_path, home, found_out):
    with read_with_a_picture(tmp_path, 3, sees=found_out != "before") as scene:
        scene.server.sees = False
        (read,) = scene.read()
        (asked,) = scene.server.requests
        assert not asked.images and "picture 1 shows" not in asked.prompt and "Pilots measure it" in asked.prompt
        assert not read.supported and len(scene.book.made) == 1 and scene.book.left_out == 1


def test_a_table_is_shown_by_its_picture_too_and_quoted_from_its_cells(tmp_path, home):
    with read_with_a_picture(tmp_path, 1) as scene:
        (read,) = scene.read()
        (asked,) = scene.server.requests
    assert len(asked.images) == 1 and "n1: table, page 2, picture 1 shows it" in asked.prompt and "Sound: 35" in asked.prompt
    assert not read.supported and not scene.book.unchecked


@pytest.mark.parametrize("of_page", [False, True])
def test_what_a_reader_saw_in_a_picture_proves_the_answer_that_is_made_of_it(tmp_path, home, of_page):
    with read_with_a_picture(tmp_path, 3, of_page=of_page) as scene:
        found = scene.synthesized()
    assert (found.answer, found.status) == ("44 in 2020", AnswerStatus.ANSWERED)
    assert [quote.text for quote in found.quotes] == ["Pilots measure it every spring."]
    assert scene.book.left_out == 0 and scene.book.unchecked == {(REPORT.nodes[3].id, "the bar of 2020 ends at 44")}


def test_an_answer_without_a_quote_may_stand_on_those_of_a_path_that_says_the_same(context):
    found, _, _ = answered(context, whole_answer("The 20 metres"))
    assert [quote.text for quote in found.quotes] == ["harbour is 20 metres"] and found.status is AnswerStatus.ANSWERED


def test_a_part_that_is_missing_is_named(context):
    found, _, _ = answered(context, whole_answer("20 metres", HERE, whole=False, missing="who\nmeasured it"))
    assert found.status is AnswerStatus.PARTIAL and found.notes == ("the model found nothing for: who measured it",)
    unnamed, _, _ = answered(
        context, whole_answer("20 metres.", HERE, whole=False), text="How deep is the harbour, and since when?"
    )
    assert unnamed.notes == ("the model found nothing for: a part of the question",)


def test_the_reason_says_how_many_paths_support_an_answer_and_whether_they_agree(context):
    one, _, _ = answered(context, None, (0,), (4,))
    assert one.why == "1 path supports an answer, of 2 that were read"
    by_words, _, _ = answered(context, None, (0,), (1,), (2,), verdict=None)
    assert by_words.why == "3 paths support an answer, of 3 that were read; not all of them agree"
