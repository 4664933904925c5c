"""The verdict in words."""

from dataclasses import replace

import pytest

from storage.answer_records import AnswerStatus, Confidence
from tasks.verdict import STATUS_WORDS, told_sureness
from tests.storage.answer_worlds import answer


@pytest.mark.parametrize(
    ("status", "says"), [(AnswerStatus.ANSWERED, "40% sure"), (AnswerStatus.PARTIAL, "40% sure"), (AnswerStatus.NOT_FOUND, "")]
)
def test_what_was_found_is_told_with_how_sure_it_is_and_what_was_not_found_without(status, says):
    assert told_sureness(replace(answer("report"), status=status, confidence=Confidence(0.4, "so"))) == says


def test_every_status_has_its_words():
    assert set(STATUS_WORDS) == set(AnswerStatus) and len(set(STATUS_WORDS.values())) == len(AnswerStatus)
