"""The verdict of an answer in words, as the terminal and the report say it."""

from __future__ import annotations

from storage.answer_records import Answer, AnswerStatus, Usage

STATUS_WORDS = {AnswerStatus.ANSWERED: "answered", AnswerStatus.PARTIAL: "answered in part", AnswerStatus.NOT_FOUND: "not found"}


def told_sureness(answer: Answer) -> str:
    """Return "75% sure"; nothing where nothing was found, for there is no answer to be sure of."""
    return "" if answer.status is AnswerStatus.NOT_FOUND else f"{answer.confidence.score:.0%} sure"


def told_calls(usage: Usage) -> str:
    """Return "12 model calls (of 48 at most, 3 more from the cache), 4,100 + 350 tokens, $0.02"; of rules the calls alone."""
    told = "1 model call" if usage.calls == 1 else f"{usage.calls} model calls"
    if not usage.most_calls:
        return told
    cached = f", {usage.cached} more from the cache" if usage.cached else ""
    money = f", {told_money(usage.cost)}" if usage.cost else ""
    return f"{told} (of {usage.most_calls} at most{cached}), {usage.input_tokens:,} + {usage.output_tokens:,} tokens{money}"


def told_money(cost: float) -> str:
    """Return "$0.0123", nothing at all as "$0"."""
    return f"${cost:,.4f}" if cost else "$0"
