import json
from dataclasses import FrozenInstanceError, replace

import pytest

from storage.answer_records import AnswerStatus, Citation
from storage.records import Modality
from tests.storage.answer_worlds import answer, named


def test_a_status_is_its_word_in_json():
    assert json.loads(json.dumps(list(AnswerStatus))) == ["answered", "partial", "evidence", "not_found"]


def test_an_answer_cannot_be_changed_only_replaced():
    given = answer("report")
    with pytest.raises(FrozenInstanceError):
        given.answer = "other"
    assert replace(given, answer="other") != given == answer("report")


def test_a_citation_needs_no_section_and_speaks_of_text_unless_it_says_more():
    plain = Citation(named("report"), 1, None, "node", "quote")
    assert (plain.section, plain.modality, plain.probability) == ((), Modality.TEXT, None)
