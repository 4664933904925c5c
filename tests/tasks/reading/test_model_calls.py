"""Calls are filled, counted, asked side by side; what fits a model's context is known before."""

import pytest
from pydantic import BaseModel

from tasks.asking.calls import CallBoundError
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import largest_reply
from tasks.prompts.prompt import Piece, load_prompt
from tasks.reading import forms
from tasks.reading.forms import Keywords, PathAnswer, WholeAnswer
from tests.asking_worlds import Passage, at_context, written
from tests.chat_server import Misbehaviour
from tests.scripted_answers import Reader, booked, model_settings, read_by, whole_answer

FORMS = [form for form in vars(forms).values() if isinstance(form, type) and issubclass(form, forms.Form)]


@pytest.mark.parametrize("form", FORMS)
def test_every_field_is_asked_for_and_none_has_a_default(form):
    assert issubclass(form, BaseModel) and all(field.is_required() for field in form.model_fields.values())
    schema = form.model_json_schema()
    assert schema["additionalProperties"] is False or not form.model_fields
    assert sorted(schema.get("required", [])) == sorted(form.model_fields)


def test_facts_and_thoughts_come_before_what_is_decided_by_them():
    assert [next(iter(form.model_fields)) for form in (PathAnswer, WholeAnswer)] == ["facts", "thought"]
    WholeAnswer.model_validate(whole_answer("x"), strict=True)


REPORT = written("report", Passage("The tide turned.", section="2 The tide"))


@pytest.fixture
def place(location, home):
    with at_context(location) as context:
        yield context


def keywords(context, item="words"):
    return context.call("keywords", item, Keywords, question="How deep?")


def test_a_call_has_its_prompts_words_hash_and_name_and_documents_only_inside_the_fence(place):
    with read_by(place, Reader({})) as (there, _):
        context = there.reader.context
        call = context.call("step", "a step", Keywords, question="How deep?", pieces=[Piece("pair 1", "$question {x}")])
        assert (call.purpose, call.prompt_hash, call.subject) == ("step", load_prompt("step").hash, context.owner)
        assert call.prompt.count("How deep?") == 1 and "pair 1\n$question {x}\n" in call.prompt
        assert call.max_output_tokens == largest_reply(Keywords)
        assert "$" not in keywords(context).prompt


def test_calls_are_counted_before_they_are_made(place):
    with read_by(place, Reader({})) as (there, server), booked(there):
        with pytest.raises(CallBoundError):
            there.reader.context.ask([keywords(there.reader.context, f"words {number}") for number in range(23)])
        assert server.calls == 0


def test_all_calls_are_in_flight_together_and_their_values_stand_in_order(place):
    words = {"Keywords": lambda request: {"keywords": [request.prompt[-1]]}}
    with read_by(place, Reader({}, instead=words), seconds=1.0, places=64) as (there, server), booked(there):
        context = there.reader.context
        calls = [context.call("keywords", "w", Keywords, question=f"How deep is {n}") for n in range(8)]
        values = context.ask(calls)
        assert [value.keywords for value in values] == [[str(n)] for n in range(8)] and server.most_at_once == 8


def test_a_call_that_fails_is_noted_by_its_name_and_stands_in_its_place(place):
    def second(request):
        return Misbehaviour.REFUSAL if "two" in request.prompt else None

    with read_by(place, Reader({}), misbehave=second) as (there, _), booked(there) as book:
        context = there.reader.context
        calls = [context.call("keywords", f"word {n}", Keywords, question=n) for n in ("one", "two")]
        value, error = context.ask(calls)
    assert isinstance(value, Keywords) and isinstance(error, ChatError)
    assert book.notes == [f"the model did not help with {error}"] and "word two" in book.notes[0]


@pytest.mark.parametrize(
    ("context", "pictures", "room"), [(None, 3, 24_000), (32768, 3, 24_000), (4096, 0, None), (8192, 2, None), (1000, 0, 0)]
)
def test_what_does_not_fit_the_context_is_left_out(place, context, pictures, room):
    with read_by(place, Reader({}), max_model_len=context) as (there, _):
        context = there.reader.context
        assert context.most_pictures("worker", PathAnswer, 3, question="?") == pictures
        found = context.room("worker", PathAnswer, 24_000, question="?", pictures=pictures)
        assert found == room if room is not None else 0 < found < 24_000
        assert context.room("worker", PathAnswer, 500, question="?") == min(500, found)


def test_without_pictures_none_is_shown(place):
    with read_by(place, Reader({}), settings=model_settings(reading={"model": {"pictures": 0}})) as (there, _):
        assert not there.reader.sees


def test_a_passage_in_one_piece_says_what_it_belongs_to(place):
    with read_by(place, Reader({})) as (there, _):
        (node,) = place.snapshot.view.passages_by_id([REPORT.nodes[0].id])
        assert there.reader.context.text_of(node).splitlines() == ["report.pdf, report", "2 The tide", "The tide turned."]
