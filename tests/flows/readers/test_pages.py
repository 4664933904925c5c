"""`pages` and `direct` on worlds small enough to see: the best or the first pages, whole, by rules and by a model."""

from dataclasses import replace

import pytest

from storage.records.answers import AnswerStatus, TraceKind
from tests.asking_worlds import Passage, answer_at, at_place, steps_of, written
from tests.library import asked_by, pages
from tests.scripted_answers import Reader, model_settings, of_form, passages_of, read_by
from tests.storage.worlds import document_id

QUESTION = "How deep is the harbour in a storm?"
PORT = written(
    "port",
    Passage("A list of the crew.", page=1),
    Passage("The price of a cable is 4 pounds.", page=2),
    *(Passage(f"The harbour of Aldre has a storm wall, {word}.", page=page) for page, word in enumerate("abc", 3)),
    Passage("In a storm the harbour is 14 metres deep.", page=6),
    Passage("The tide is told by its crew.", page=6),
)
TIDES = written("tides", *(Passage(f"The tide of day {page}.", page=page) for page in (1, 2, 3)))
WORLD = (PORT, TIDES)
FACTS = {"14 metres": "14 metres"}


def test_the_best_pages_are_read_whole_in_the_order_of_the_ranking(context):
    answer = asked_by("pages", context, QUESTION)
    assert (answer.reader, answer.status, answer.gate) == ("pages", AnswerStatus.EVIDENCE, None)
    read = pages(answer.evidence_pages)
    assert read == pages(answer.pages)[:3] and read[0] == 6 and answer.citations[0].page == 6
    assert [step.kind for step in answer.trace] == [TraceKind.READ] and answer.usage.counts == {"pages read": 3}
    assert pages(asked_by("pages", context, QUESTION, pages=1).evidence_pages) == [6]
    assert asked_by("pages", context, QUESTION, pages=1).citations[0].quote == "In a storm the harbour is 14 metres deep."


def test_the_first_pages_are_read_whatever_is_asked_one_of_each_document_at_a_time(context):
    answer = answer_at(at_place(context, pages={"first": 4}), QUESTION, reader="direct")
    read = [(place.document.id, place.page) for place in answer.evidence_pages]
    both = sorted(map(document_id, ("port", "tides")))
    assert read == [(document, page) for page in (1, 2) for document in both] == [(p.document.id, p.page) for p in answer.pages[:4]]
    assert answer.reader == "direct" and answer.refusal is None and "rank-by-place" in steps_of(context.snapshot.location)
    whole = answer_at(context, QUESTION, reader="direct")
    assert whole.usage.counts == {"pages read": 9} and whole.citations[0].page == 6, "what is quoted goes by its words"


@pytest.mark.parametrize(("reader", "most"), [("pages", 2), ("direct", 6)])
def test_a_model_reads_all_pages_in_one_call(context, reader, most):
    settings = model_settings(pages={"pages": 2, "first": 6})
    alone = replace(context.scope, documents=(document_id("port"),))
    with read_by(context, Reader(FACTS), settings=settings) as (place, server):
        answer = answer_at(at_place(place, alone), QUESTION, reader=reader)
    assert server.calls == 1 and answer.usage.most_calls == 2 and answer.answer == "14 metres"
    assert len(answer.evidence_pages) == most and [cited.page for cited in answer.citations] == [6]


def test_without_room_for_text_a_model_is_shown_none_of_it(context):
    shows = {"model": {"path_characters": 0}}
    with read_by(context, Reader(FACTS), settings=model_settings(reading=shows)) as (place, server):
        answer_at(place, QUESTION, reader="pages")
    (request,) = of_form(server, "PathAnswer")
    assert len(passages_of(request)) == 4 and "storm wall" not in request.prompt and "14 metres" not in request.prompt


@pytest.mark.parametrize("by_model", [False, True])
def test_the_pages_that_are_known_to_be_right_are_read_in_place_of_the_best_and_without_any_nothing_is_found(context, by_model):
    with read_by(context, Reader({"4 pounds": "4 pounds"})) as (model, server):
        place = model if by_model else context
        right = (document_id("port"), 2), (document_id("tides"), 3)
        answer = answer_at(replace(place, right=right), "What does a cable cost?", reader="pages")
        nothing = answer_at(replace(place, right=()), QUESTION, reader="pages")
    assert {(page.document.id, page.page) for page in answer.evidence_pages} == set(right) and answer.citations[0].page == 2
    assert answer.refusal is None and answer.trace[0].asked == "the pages that hold the answer"
    assert (nothing.status, nothing.evidence_pages, nothing.citations) == (AnswerStatus.NOT_FOUND, (), ())
    assert server.calls == by_model
