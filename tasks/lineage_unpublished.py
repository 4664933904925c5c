"""Why a document that an ingest read is not published: it is not any more, or the run never came so far."""

from __future__ import annotations

from datetime import datetime, timedelta

from storage.records import StepRecord
from tasks.happening_lines import step_outcome
from tasks.lineage_runs import KILLED, STILL_GOING, RunStory

NOT_ANY_MORE = "not published any more"
PUBLISHES = b'"step": "publish"'
"""What a line says of each batch that a run published."""


def why_unpublished(story: RunStory, document_id: str) -> str:
    """Return why a document that the run read is not in the published snapshot."""
    outcome = story.head.outcome
    if did_publish(story, document_id):
        return NOT_ANY_MORE
    if outcome == STILL_GOING:
        return "not published yet"
    ended = "was killed" if outcome.startswith(KILLED) else "was stopped" if outcome == "stopped" else outcome
    return f"not published: the run {ended} first"


def did_publish(story: RunStory, document_id: str) -> bool:
    """Say whether the run came to publish the document, or that it cannot be read; one that ended by itself published all."""
    if story.head.outcome == "ended":
        return True
    steps = [step for step in story.steps if step.subject == document_id]
    if not steps or not _is_last(steps[-1]):
        return False
    finished = _ended(steps[-1])
    batches = (step for step in story.steps if step.step == "publish" and not step.error)
    return any(datetime.fromisoformat(batch.started) >= finished for batch in batches)


def _is_last(step: StepRecord) -> bool:
    """Say whether a document is finished with this step, well or not."""
    outcome = step_outcome(step)
    return outcome == "failed" or (outcome != "stopped" and step.step == "evolve")


def _ended(step: StepRecord) -> datetime:
    return datetime.fromisoformat(step.started) + timedelta(seconds=step.seconds)
