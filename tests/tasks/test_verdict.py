"""An answer in words."""

from dataclasses import replace

import pytest

from storage.answer_records import AnswerStatus, Usage
from tasks.verdict import EVIDENCE_FOUND, NOTHING, WITHHELD, head_of, told_calls, told_money, verdict_of, words_of
from tests.storage.answer_worlds import answer


@pytest.mark.parametrize(
    ("status", "head", "verdict", "silent"),
    [
        (AnswerStatus.ANSWERED, "", "answered", WITHHELD),
        (AnswerStatus.PARTIAL, "", "answered in part", WITHHELD),
        (AnswerStatus.EVIDENCE, EVIDENCE_FOUND, "evidence", WITHHELD),
        (AnswerStatus.NOT_FOUND, "", "not found", NOTHING),
    ],
)
def test_each_status_has_its_words_and_only_evidence_says_that_no_model_read_it(status, head, verdict, silent):
    given = replace(answer("report"), status=status, why="so")
    assert (head_of(given), words_of(given), verdict_of(given)) == (head, "words of report", f"{verdict}: so")
    bare = replace(given, answer="", why="")
    assert (head_of(bare), words_of(bare), verdict_of(bare)) == ("", silent, verdict)


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
