"""Judging the first reading: do the answers agree, does the flow fit, is anything supported? The gate of section 3.5.2."""

from collections.abc import Sequence

from storage.records.answers import Answer, AnswerStatus, Citation, Usage
from tasks.algorithms.flow.refinement import gate
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import PathReading, Question, Verdict
from tasks.routing.routing import Routed

STATUS_WORDS = {
    AnswerStatus.ANSWERED: "answered",
    AnswerStatus.PARTIAL: "answered in part",
    AnswerStatus.EVIDENCE: "evidence",
    AnswerStatus.NOT_FOUND: "not found",
}
EVIDENCE_FOUND = "Evidence found, not read by a model:"
NOTHING = "Nothing in these documents answers the question."
WITHHELD = "The answer is not shown: it holds words of a document that was removed."


def head_of(answer: Answer) -> str:
    """Return what stands above the answer: that no model read the evidence, where that is so; nothing above others."""
    return EVIDENCE_FOUND if answer.status is AnswerStatus.EVIDENCE and answer.answer.strip() else ""


def words_of(answer: Answer) -> str:
    return answer.answer.strip() or (NOTHING if answer.status is AnswerStatus.NOT_FOUND else WITHHELD)


def verdict_of(answer: Answer) -> str:
    """Return "answered in part: " and the reason, where it still has one."""
    return ": ".join(filter(None, (STATUS_WORDS[answer.status], answer.why)))


def place_of(citation: Citation) -> str:
    section = f", {' > '.join(citation.section)}" if citation.section else ""
    return f"{citation.document.name}, page {citation.page}{section}"


def calls_in_words(usage: Usage) -> str:
    """Return "12 model calls (of 48 at most, 3 more from the cache), 4,100 + 350 tokens, $0.02"; of rules the calls alone."""
    calls = "1 model call" if usage.calls == 1 else f"{usage.calls} model calls"
    if not usage.most_calls:
        return calls
    cached = f", {usage.cached} more from the cache" if usage.cached else ""
    money = f", {money_in_words(usage.cost)}" if usage.cost else ""
    return f"{calls} (of {usage.most_calls} at most{cached}), {usage.input_tokens:,} + {usage.output_tokens:,} tokens{money}"


def kept_in_words(answer: Answer) -> str:
    """Return what stands behind the calls of an answer that was kept: since when; nothing of one that was made now."""
    moment = answer.asked.replace("T", " ")[:16]
    return f"; kept from {moment} UTC, when the same was asked (--fresh asks anew)" if answer.cached else ""


def money_in_words(cost: float) -> str:
    """Return "$0.0123", nothing at all as "$0"."""
    return f"${cost:,.4f}" if cost else "$0"


@question_step(
    "judge",
    lambda verdict: {
        "consistency": f"{verdict.consistency:.4f}",
        "saturation": f"{verdict.saturation:.4f}",
        "trigger": verdict.trigger or "",
    },
    retries=0,
    reads=True,
)
def judge(question: Question, routed: Routed, readings: Sequence[PathReading], context: AskContext) -> Verdict:
    settings = context.settings.gate
    supported = [reading for reading in readings if reading.supported]
    consistency = context.reader.consistency(question, supported)
    trigger = gate(
        supported=len(supported),
        saturation=routed.saturation,
        consistency=consistency,
        saturation_below=settings.saturation,
        consistency_below=settings.consistency,
    )
    return Verdict(consistency=consistency, saturation=routed.saturation, trigger=trigger if settings.enabled else None)
