"""What an answer looks like: on a terminal the words, their places, how sure they are and why; JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence

from flows.showing import Output
from storage.answer_json import answer_json
from storage.answer_records import Answer, AnswerStatus, Citation
from storage.wording import shortened
from tasks.verdict import STATUS_WORDS, told_calls, told_sureness

STATUS_STYLE = {AnswerStatus.ANSWERED: "bold green", AnswerStatus.PARTIAL: "bold yellow", AnswerStatus.NOT_FOUND: "bold red"}
QUESTION_SHOWN = 70
QUOTE_SHOWN = 400
"""A row of a table is quoted whole, with the header of every cell."""


def show_answer(answer: Answer, output: Output, *, with_question: bool) -> None:
    """Show an answer with its citations."""
    if output.as_json:
        output.data(answer_json(answer))
        return
    if with_question:
        output.paragraph(answer.question, style="bold")
    output.paragraph(answer.answer or "the words of this answer are gone with the document that it quoted")
    output.line()
    for number, citation in enumerate(answer.citations, 1):
        before = f"[{number}] "
        output.paragraph(place_of(citation), style="cyan", first=before)
        if citation.quote and citation.quote not in answer.answer:
            output.paragraph(shortened(citation.quote, QUOTE_SHOWN), style="dim", first=" " * len(before))
    if answer.answer:
        output.paragraph(verdict(answer), style=STATUS_STYLE[answer.status])
    for note in answer.notes:
        output.paragraph(note, style="dim")
    spent = sum(answer.usage.seconds.values())
    output.paragraph(f"answer {answer.answer_id[:8]}, {told_calls(answer.usage)}, {spent:.2f} s of work", style="dim")
    if with_question:
        output.line()


def verdict(answer: Answer) -> str:
    """Return how much was found, how sure that is, and why."""
    said = ", ".join(filter(None, (STATUS_WORDS[answer.status], told_sureness(answer))))
    return f"{said}: {answer.confidence.why}"


def place_of(citation: Citation) -> str:
    """Return where a citation stands: document, page, section."""
    section = " > ".join(citation.section)
    return f"{citation.document.name}, page {citation.page}" + (f", {section}" if section else "")


def show_answers(corpus: str, answers: Sequence[Answer], output: Output) -> None:
    """Show a list of answers."""
    if output.as_json:
        output.data({"corpus": corpus, "answers": [answer_json(answer) for answer in answers]})
        return
    if not answers:
        output.line(f'corpus {corpus} was not asked yet; ask: flowreader ask "QUESTION" --corpus {corpus}')
        return
    rows = [
        (answer.answer_id[:8], answer.asked.replace("T", " ")[:16], state(answer), shortened(answer.question, QUESTION_SHOWN))
        for answer in answers
    ]
    output.table(("id", "asked (UTC)", "status", "question"), rows)


def state(answer: Answer) -> str:
    """Return the status, or that the words are gone."""
    return answer.status.value if answer.answer else "removed"
