"""A run as a whole: what it was asked, what its steps and calls came to, which documents it read, which answers it gave."""

from __future__ import annotations

from collections.abc import Mapping

from storage.answer_glimpses import glimpses
from storage.answer_records import NamedDocument
from storage.memo import HEXADECIMAL
from storage.run_traces import lines_with, trace
from storage.runs import EntryKind
from tasks.happening_lines import step_outcome
from tasks.lineage_documents import wordless
from tasks.lineage_names import Shelf, shown_parameters
from tasks.lineage_records import DocumentInRun, RunKind, RunWalk
from tasks.lineage_runs import RunStory, story_of, sum_of_calls, sum_of_steps
from tasks.lineage_unpublished import NOT_ANY_MORE, why_unpublished
from tasks.lineage_uses import line_of

ALL_BUT_ANSWERS = tuple(f'"kind": "{kind}"'.encode() for kind in EntryKind if kind is not EntryKind.ANSWER)
"""Answers are seen by a glimpse: their lines are most of the file."""


def run_walk(shelf: Shelf, run_id: str) -> RunWalk:
    """Return all that a run's file tells of it; what is not published any more has no name, and its errors no words."""
    path = shelf.snapshot.location.runs / f"{run_id}.jsonl"
    story = story_of(trace(path, ALL_BUT_ANSWERS))
    answers = [answer for seen in glimpses(lines_with([path], [b""]), [b""]) for answer in seen.answers]
    used = (place.document.id for answer in answers for place in (*answer.cited, *answer.read))
    return RunWalk(
        corpus=shelf.snapshot.location.name,
        run=story.head,
        parameters=shown_parameters(story.parameters, shelf),
        settings=story.settings,
        steps=sum_of_steps(story.steps),
        failed=tuple(
            step if step.subject in shelf.records or not _is_document(story, step.subject) else wordless(step)
            for step in story.steps
            if step_outcome(step) == "failed"
        ),
        calls=sum_of_calls(story.calls),
        documents=_documents(shelf, dict.fromkeys(used, NOT_ANY_MORE) | _read(shelf, story)),
        answers=tuple(line_of(answer, run_id) for answer in answers),
        damaged=(story.damage,) if story.damage else (),
    )


def _is_document(story: RunStory, subject: str) -> bool:
    """Say whether a step worked on a document: others work on questions, on batches of them or on the corpus."""
    return story.head.kind in {RunKind.INGEST, RunKind.UNKNOWN} and HEXADECIMAL.fullmatch(subject) is not None


def _read(shelf: Shelf, story: RunStory) -> dict[str, str]:
    """Return the documents that the run read, each with why it is not published, "" where it is."""
    read = dict.fromkeys(step.subject for step in story.steps if _is_document(story, step.subject))
    return {each: "" if each in shelf.records else why_unpublished(story, each) for each in read}


def _documents(shelf: Shelf, whys: Mapping[str, str]) -> tuple[DocumentInRun, ...]:
    return tuple(
        DocumentInRun(shelf.named(NamedDocument(each, "")), is_there := each in shelf.records, "" if is_there else why)
        for each, why in whys.items()
    )
