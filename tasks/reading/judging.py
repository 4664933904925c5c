"""Judging the first reading: do the answers agree, does the flow fit, is anything supported? The gate of section 3.5.2."""

from collections.abc import Sequence

from storage.records.answers import Answer, AnswerStatus
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
