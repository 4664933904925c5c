"""Judging the first reading: do the answers agree, does the flow fit, is anything supported? The gate of section 3.5.2."""

from collections.abc import Sequence

from storage.records.answers import Answer, AnswerStatus, Citation, Usage
from storage.text import minute
from tasks.algorithms.flow.refinement import gate
from tasks.asking.calls import call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import PathReading, Question, Verdict

STATUS_WORDS = {
    AnswerStatus.ANSWERED: "answered",
    AnswerStatus.PARTIAL: "answered in part",
    AnswerStatus.EVIDENCE: "evidence",
    AnswerStatus.NOT_FOUND: "not found",
}
EVIDENCE_FOUND = "Evidence found, not read by a model:"
NOT_PROVEN = "The model says, and no quote proves it:"
NOTHING = "Nothing in these documents answers the question."
WITHHELD = "The answer is not shown: it holds words of a document that was removed."


def words_of(answer: Answer) -> str:
    """Return the answer, or why there is none; of evidence what stands above its quotes."""
    if answer.answer.strip():
        return f"{NOT_PROVEN} {answer.answer.strip()}" if answer.is_unproven else answer.answer.strip()
    if answer.status is AnswerStatus.NOT_FOUND:
        return NOTHING
    return WITHHELD if was_withheld(answer) else EVIDENCE_FOUND


def was_withheld(answer: Answer) -> bool:
    """Say whether what was found is not shown any more: a document of its was removed."""
    if answer.status is AnswerStatus.EVIDENCE and not answer.is_unproven:
        return not any(citation.quote for citation in answer.citations)
    return not answer.answer.strip() and answer.status is not AnswerStatus.NOT_FOUND


def verdict_of(answer: Answer) -> str:
    """Return "answered in part: " and the reason, where it still has one."""
    return ": ".join(filter(None, (STATUS_WORDS[answer.status], answer.why)))


def place_of(citation: Citation) -> str:
    """Return "report.pdf, page 2, probability 0.62, box 0.10 0.20 0.90 0.33, Revenue > 2024", without what it does not have."""
    known = "" if citation.probability is None else f", probability {citation.probability:.2f}"
    box = f", box {' '.join(f'{edge:.2f}' for edge in citation.box)}" if citation.box else ""
    section = f", {' > '.join(citation.section)}" if citation.section else ""
    return f"{citation.document.name}, page {citation.page}{known}{box}{section}"


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
    moment = minute(answer.asked)
    return f"; kept from {moment} UTC, when the same was asked (--fresh asks anew)" if answer.cached else ""


def money_in_words(cost: float) -> str:
    """Return "$0.0123", nothing at all as "$0"."""
    return f"${cost:,.4f}" if cost else "$0"


@question_step(
    "judge",
    lambda verdict: {
        "consistency": f"{verdict.consistency:.4f}",
        "saturation": "" if verdict.saturation is None else f"{verdict.saturation:.4f}",
        "trigger": verdict.trigger or "",
    },
    retries=0,
    reads=True,
)
def judge(question: Question, readings: Sequence[PathReading], saturation: float | None, context: AskContext) -> Verdict:
    """Judge what was read; `saturation` is that of the flow, None where all of it fits by itself."""
    settings = context.settings.gate
    supported = [reading for reading in readings if reading.supported]
    consistency = context.reader.consistency(question, supported)
    trigger = gate(
        supported=len(supported),
        saturation=1.0 if saturation is None else saturation,
        consistency=consistency,
        saturation_below=settings.saturation,
        consistency_below=settings.consistency,
    )
    # Where the model is of no more use, nothing would be read of what a second routing finds.
    refines = settings.enabled
    if refines and trigger is not None and context.reader.model and (book := call_book.get()).over:
        refines = False
        # Most often what made it so is noted.
        if not book.notes:
            book.notes.append("nothing was read once more, because the time of the question was up")
    return Verdict(consistency=consistency, saturation=saturation, trigger=trigger if refines else None)
