"""The verdict of an answer in words, as the terminal and the report say it."""

from __future__ import annotations

from storage.answer_records import Answer, AnswerStatus

STATUS_WORDS = {AnswerStatus.ANSWERED: "answered", AnswerStatus.PARTIAL: "answered in part", AnswerStatus.NOT_FOUND: "not found"}


def told_sureness(answer: Answer) -> str:
    """Return "75% sure"; nothing where nothing was found, for there is no answer to be sure of."""
    return "" if answer.status is AnswerStatus.NOT_FOUND else f"{answer.confidence.score:.0%} sure"
