"""An answer says what was found, where, within which limits, by whom, and what it cost; and it is kept."""

from dataclasses import replace

import pytest

from storage.records.answers import AnswerStatus, Citation, NamedDocument
from storage.records.documents import Modality, NodeKind
from storage.records.steps import StepRecord
from storage.runs.answer_json import answer_json
from storage.runs.answers import find_answer, read_answers
from storage.runs.log import EntryKind
from tasks.asking.calls import CallBook, Stage
from tasks.asking.records import Quote, Synthesis
from tasks.asking.request import AskRequest
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome
from tasks.reading.answer import citation, gathered, record, usage
from tasks.reading.synthesis import Findings
from tests.asking_worlds import Passage, at_context, published, run_of, written
from tests.storage.worlds import document_id

REPORT = written("report", Passage("price: 7\nprice: 9", page=2, kind=NodeKind.TABLE, section="4 Prices"))


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), REPORT)) as context:
        yield context


def quoted():
    return Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": REPORT.nodes[0], "text": "price: 9"})


def findings():
    synthesis = Synthesis("", AnswerStatus.EVIDENCE, (quoted(),), "because", ("a note",))
    return Findings(synthesis, paths=(), pages=(), evidence_pages=(), gate=None, completeness=0.75)


def took(step, seconds):
    return StepRecord("run", step, "1", "key", "q", "then", seconds, 1, False, {})


def made(context, *, steps=(), calls=None, **limits):
    request = AskRequest(questions=("How much?",), corpus="prices", reader="top-k", settings=context.settings, **limits)
    return gathered(
        answer_id="0" * 32,
        asked="2026-01-01T00:00:00+00:00",
        question="How much?",
        findings=findings(),
        request=request,
        context=context,
        steps=steps,
        calls=calls or CallBook("0" * 32, {}),
    )


def test_a_citation_has_the_words_and_the_place_of_its_node(context):
    assert citation(quoted(), context.names, {(document_id("report"), 2): 0.62}) == Citation(
        document=NamedDocument(document_id("report"), "report.pdf"),
        page=2,
        box=REPORT.nodes[0].box,
        node_id=REPORT.nodes[0].id,
        quote="price: 9",
        section=("4 Prices",),
        modality=Modality.TABLE,
        probability=0.62,
    )


def test_an_answer_says_what_was_found_and_by_whom(context):
    answer = made(context)
    assert (answer.answer, answer.status, answer.notes) == ("", AnswerStatus.EVIDENCE, ("a note",))
    assert (answer.answer_by, answer.why) == (None, "because") and len(answer.citations) == 1
    assert (answer.reader, answer.corpus, answer.snapshot) == ("top-k", "prices", context.snapshot.number)
    assert answer.models == {"embedder": context.embedder.identity.key, "reader": context.reader.name}
    assert answer.settings == context.settings.model_dump(mode="json")


def test_an_answer_says_within_which_limits_it_was_asked(context):
    assert made(context).scope == {"documents": [], "pages": None, "modality": None}
    limited = made(context, documents=("report.pdf",), pages="2-3", modality=Modality.TABLE)
    assert limited.scope == {"documents": ["report.pdf"], "pages": "2-3", "modality": "table"}


def test_seconds_are_summed_by_step_and_tokens_over_all_calls():
    book = CallBook("a", {Stage.FIRST: 22, Stage.REFINED: 25, Stage.LAST: 1})
    book.made += [ended(10, 2, 0.5), ended(20, 3, 0.25, attempts=3), ended(0, 0, 0.0, attempts=0, outcome=Outcome.CACHED)]
    spent = usage(book, [took("read", 0.5), took("route", 0.125), took("read", 0.25)], {"pages rated": 3.0})
    assert (spent.calls, spent.cached, spent.input_tokens, spent.output_tokens, spent.cost) == (2, 1, 30, 5, 0.75)
    assert spent.seconds == {"read": 0.75, "route": 0.125} and spent.most_calls == 48 and spent.counts == {"pages rated": 3.0}


def ended(input_tokens, output_tokens, cost, *, attempts=1, outcome=Outcome.OK):
    """A call that ended."""
    return ModelCall("worker", "", "", "m", "h", "", input_tokens, output_tokens, cost, 0.1, attempts, outcome, "")


def test_what_went_wrong_with_the_calls_is_noted_once_and_the_model_is_named(context):
    book = CallBook("a", {})
    book.notes += ["the model did not help with path 2 of 3", "the model did not help with path 2 of 3"]
    book.left_out = 2
    book.made.append(ended(1, 1, 0.0))
    answer = made(context, calls=book)
    assert answer.notes[:2] == ("a note", "the model did not help with path 2 of 3") and len(answer.notes) == 3
    assert answer.notes[2].startswith("2 citations of the model")
    assert answer.models == {
        "embedder": context.embedder.identity.key,
        "reader": context.reader.name,
        "chat": "m",
        "prompt worker": "h",
    }
    book.left_out = 1
    assert made(context, calls=book).notes[2].startswith("1 citation of the model")


def test_what_is_read_from_pictures_is_noted_as_unchecked(context):
    book = CallBook("a", {})
    book.unchecked.add(("a1", "the blue bar"))
    assert made(context, calls=book).notes[1:] == ("1 quote is read from a picture and could not be checked",)
    book.unchecked.add(("a1", "the red bar"))
    assert made(context, calls=book).notes[1:] == ("2 quotes are read from pictures and could not be checked",)


def test_an_answer_that_is_recorded_is_found_again_byte_for_byte(context):
    answer = made(context, steps=[took("read", 0.5)])
    record(answer)
    location = context.snapshot.location
    present = {document_id("report")}
    assert answer_json(find_answer(location, "0" * 8, present=present)) == answer_json(answer)
    assert [kept.answer_id for kept in read_answers(location, present=present)] == [answer.answer_id]
    *_, answered, step = run_of(location).entries
    assert answered["kind"] == EntryKind.ANSWER and step["kind"] == EntryKind.STEP and step["step"] == "record"
    assert step["subject"] == answer.answer_id


def test_what_has_no_place_on_a_page_has_no_box(context):
    somewhere = replace(quoted(), node=replace(REPORT.nodes[0], box=(0.0, 0.0, 1.0, 1.0)))
    assert citation(somewhere, context.names, {}).box is None
