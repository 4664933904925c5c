"""Judging the first reading: do the answers agree, does the flow fit, is anything supported? The gate of section 3.5.2."""

from collections.abc import Sequence

from tasks.algorithms.flow.refinement import gate
from tasks.asking.calls import call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import PathReading, Question, Verdict


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
