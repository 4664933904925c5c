"""The gate looks at support, then saturation, then consistency, and its verdict stands in the lineage."""

import time
from dataclasses import dataclass, replace

import pytest

from storage.records.answers import AnswerStatus, Usage
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.calls import counting_calls
from tasks.asking.records import PathReading
from tasks.reading.judging import (
    EVIDENCE_FOUND,
    NOT_PROVEN,
    NOTHING,
    WITHHELD,
    calls_in_words,
    judge,
    money_in_words,
    verdict_of,
    was_withheld,
    words_of,
)
from tasks.settings.ask import AskSettings
from tests.asking_worlds import Passage, asked, at_context, published, run_of, written
from tests.storage.answer_worlds import answer


@pytest.mark.parametrize(
    ("status", "verdict", "silent", "erased"),
    [
        (AnswerStatus.ANSWERED, "answered", WITHHELD, WITHHELD),
        (AnswerStatus.PARTIAL, "answered in part", WITHHELD, WITHHELD),
        (AnswerStatus.EVIDENCE, "evidence", EVIDENCE_FOUND, WITHHELD),
        (AnswerStatus.NOT_FOUND, "not found", NOTHING, NOTHING),
    ],
)
def test_each_status_has_its_words_and_only_evidence_says_that_no_model_read_it(status, verdict, silent, erased):
    given = replace(answer("report"), status=status, why="so")
    unproven = f"{NOT_PROVEN} " if status is AnswerStatus.EVIDENCE else ""
    assert (words_of(given), verdict_of(given)) == (f"{unproven}words of report", f"{verdict}: so")
    bare = replace(given, answer="", why="")
    assert (words_of(bare), verdict_of(bare)) == (silent, verdict)
    assert words_of(replace(bare, citations=(replace(given.citations[0], quote=""),))) == erased
    assert was_withheld(replace(bare, citations=())) == (erased is WITHHELD) and not was_withheld(replace(given, citations=()))


@pytest.mark.parametrize(
    ("usage", "shown"),
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
def test_calls_are_worded_with_their_bound_what_was_cached_tokens_and_money(usage, shown):
    assert calls_in_words(usage) == shown and money_in_words(0.0) == "$0"


@dataclass(frozen=True)
class Agreeing:
    """A reader whose answers agree so far, and who says how many it was shown."""

    agreement: float
    seen: list[int]
    model: str = "agreeing"

    def consistency(self, _question, readings):
        self.seen.append(len(readings))
        return self.agreement


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), written("report", Passage("the tide")))) as context:
        yield context


def judged(context, *answers, saturation=1.0, agreement=1.0, gate=None, **book):
    reader = Agreeing(agreement, [])
    place = replace(context, settings=AskSettings.model_validate({"gate": gate or {}}), reader=reader)
    with counting_calls("a", {}, **book):
        verdict = judge(asked("the tide", context), [PathReading(answer, ()) for answer in answers], saturation, place)
    assert reader.seen == [sum(map(bool, answers))]
    return verdict


@pytest.mark.parametrize(
    ("answers", "saturation", "agreement", "trigger"),
    [
        ((), 0.0, 0.0, Trigger.NO_SUPPORT),
        (("", ""), 0.0, 0.0, Trigger.NO_SUPPORT),
        (("yes", ""), 0.0, 0.0, Trigger.LOW_SATURATION),
        (("yes", "no"), 0.6, 0.0, Trigger.LOW_CONSISTENCY),
        (("yes", "yes"), 0.6, 0.65, None),
        (("yes",), 1.0, 1.0, None),
        (("yes",), None, 1.0, None),
        (("yes",), None, 0.0, Trigger.LOW_CONSISTENCY),
    ],
)
def test_the_gravest_reason_fires_and_only_that(context, answers, saturation, agreement, trigger):
    verdict = judged(context, *answers, saturation=saturation, agreement=agreement)
    assert verdict.trigger is trigger and (verdict.saturation, verdict.consistency) == (saturation, agreement)


def test_a_gate_that_is_switched_off_sees_and_does_nothing(context):
    verdict = judged(context, saturation=0.1, agreement=0.2, gate={"enabled": False})
    assert verdict.trigger is None and (verdict.saturation, verdict.consistency) == (0.1, 0.2)


def test_where_the_time_is_up_nothing_more_is_looked_for(context):
    assert judged(context, deadline=time.monotonic()).trigger is None
    assert judged(context, deadline=time.monotonic() + 60).trigger is Trigger.NO_SUPPORT


@pytest.mark.parametrize(
    ("bounds", "trigger"),
    [
        ({}, Trigger.LOW_SATURATION),
        ({"saturation": 0.5}, Trigger.LOW_CONSISTENCY),
        ({"saturation": 0.5, "consistency": 0.5}, None),
        ({"saturation": 0.0, "consistency": 0.0}, None),
    ],
)
def test_the_bounds_are_settings_and_fire_below_not_at(context, bounds, trigger):
    assert judged(context, "yes", saturation=0.5, agreement=0.5, gate=bounds).trigger is trigger


def test_the_verdict_stands_in_the_lineage(context):
    judged(context, "yes", saturation=0.25, agreement=0.5)
    record = run_of(context.snapshot.location).steps()[-1]
    assert record.step == "judge"
    assert record.outputs == {"saturation": "0.2500", "consistency": "0.5000", "trigger": "low_saturation"}
    judged(context, "yes")
    assert run_of(context.snapshot.location).steps()[-1].outputs["trigger"] == ""
