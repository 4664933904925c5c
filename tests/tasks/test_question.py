"""A question says what it looks for: terms, places, a vector; its steps are known by its words."""

from dataclasses import replace

import numpy as np
import pytest

from storage.answer_records import NamedDocument
from storage.codec import to_json
from tasks.algorithms.places import NamedPlace, PlaceKind
from tasks.question import question_key, text_key, understand, understood
from tests.asking_worlds import AxisEmbedder, Passage, asked, at_desk, published, run_of, written
from tests.storage.worlds import document_id


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    location = published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide turns")))
    with at_desk(location) as desk:
        yield desk


def test_a_question_is_understood_by_its_words_places_and_vector(desk):
    question = asked("What does Table 2 on page 14 say of the steel cable?", desk)
    assert {"steel", "cabl"} <= set(question.terms.stems)
    assert set(question.places) == {NamedPlace(PlaceKind.LABEL, "table 2"), NamedPlace(PlaceKind.PAGE, "14")}
    assert question.vector.shape == (8,) and np.isclose(question.vector[[2, 7]], np.sqrt(0.5)).all()


@pytest.mark.parametrize("text", ["収益はいくらですか", "Какова выручка?", "كم الإيرادات؟", "½", "ª", "1,150", "the", "x" * 10_000])
def test_whatever_has_a_letter_has_a_term_to_look_for_or_none_and_no_error(desk, text):
    question = asked(text, desk)
    assert len(question.terms.stems) == len(question.terms.words) and np.isfinite(question.vector).all()


def test_the_desk_names_documents_as_answers_do(desk):
    assert desk.names == {document_id("report"): NamedDocument(document_id("report"), "report.pdf")}


def test_a_step_is_keyed_by_the_words_and_by_who_embeds_them(desk):
    other = replace(desk, embedder=AxisEmbedder(replace(desk.embedder.identity, precision="bf16")))
    keys = {text_key("q", text, place).inputs for text in ("How deep?", "How high?") for place in (desk, other)}
    assert len(keys) == 4
    one, two = asked("How deep?", desk), asked("How high?", desk)
    assert question_key(one, object()) == question_key(one) != question_key(two)


def test_the_lineage_tells_when_terms_places_or_vector_change(desk):
    one, two = understood(asked("page 2 of the tide", desk)), understood(asked("page 3 of the storm", desk))
    assert set(one) == {"terms", "places", "vector"} and all(one[part] != two[part] for part in one)
    assert understood(asked("page 2 of the tide", desk)) == one


def test_understanding_leaves_its_record(desk):
    understand("another", "How deep is it?", desk)
    record = run_of(desk.snapshot.location).steps()[-1]
    assert (record.step, record.subject, record.error) == ("keywords", "another", "") and set(record.outputs) == {
        "terms",
        "places",
        "vector",
    }
    assert to_json(dict(record.outputs))
