"""The verdict in words."""

from dataclasses import replace

import pytest

from storage.answer_records import AnswerStatus, Confidence, Usage
from tasks.verdict import STATUS_WORDS, told_calls, told_money, told_sureness
from tests.storage.answer_worlds import answer


@pytest.mark.parametrize(
    ("status", "says"), [(AnswerStatus.ANSWERED, "40% sure"), (AnswerStatus.PARTIAL, "40% sure"), (AnswerStatus.NOT_FOUND, "")]
)
def test_what_was_found_is_told_with_how_sure_it_is_and_what_was_not_found_without(status, says):
    assert told_sureness(replace(answer("report"), status=status, confidence=Confidence(0.4, "so"))) == says


def test_every_status_has_its_words():
    assert set(STATUS_WORDS) == set(AnswerStatus) and len(set(STATUS_WORDS.values())) == len(AnswerStatus)


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (Usage(0, 0, 0, 0.0, {}), "0 model calls"),
        (Usage(1, 0, 0, 0.0, {}), "1 model call"),
        (Usage(5, 1200, 30, 0.0, {}, most_calls=48), "5 model calls (of 48 at most), 1,200 + 30 tokens"),
        (Usage(0, 0, 0, 0.0, {}, cached=5, most_calls=48), "0 model calls (of 48 at most, 5 more from the cache), 0 + 0 tokens"),
        (
            Usage(1, 9, 8, 0.02, {}, cached=2, most_calls=13),
            "1 model call (of 13 at most, 2 more from the cache), 9 + 8 tokens, $0.0200",
        ),
    ],
)
def test_calls_are_told_with_their_bound_what_was_cached_tokens_and_money(usage, told):
    assert told_calls(usage) == told and told_money(0.0) == "$0"
