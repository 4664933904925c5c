"""What an answer looks like: on a terminal the words, the quotes with their places, the status and why; JSON for programs."""

from collections.abc import Sequence

from flows.display.output import Output
from storage.records.answers import Answer, AnswerStatus
from storage.runs.answer_json import answer_json
from storage.text import minute, shortened
from tasks.reading.judging import calls_in_words, kept_in_words, place_of, verdict_of, was_withheld, words_of
from tasks.routing.way import way_lines

STATUS_STYLE = {
    AnswerStatus.ANSWERED: "bold green",
    AnswerStatus.PARTIAL: "bold yellow",
    AnswerStatus.EVIDENCE: "bold yellow",
    AnswerStatus.NOT_FOUND: "bold red",
}
QUESTION_SHOWN = 70
QUOTE_SHOWN = 400
"""A row of a table is quoted whole, with the header of every cell."""


def show_answer(answer: Answer, output: Output, *, with_question: bool) -> None:
    if output.as_json:
        output.data(answer_json(answer))
        return
    if with_question:
        output.paragraph(answer.question, style="bold")
    is_evidence = answer.status is AnswerStatus.EVIDENCE
    output.paragraph(words_of(answer), style="bold" if is_evidence else "")
    if not is_evidence:
        output.line()
    for number, citation in enumerate(answer.citations, 1):
        before = f"[{number}] "
        output.paragraph(place_of(citation), style="cyan", first=before)
        if citation.quote and citation.quote not in answer.answer:
            output.paragraph(shortened(citation.quote, QUOTE_SHOWN), style="" if is_evidence else "dim", first=" " * len(before))
    output.paragraph(verdict_of(answer), style=STATUS_STYLE[answer.status])
    for line in (*way_lines(answer.trace), *answer.notes):
        output.paragraph(line, style="dim")
    spent = sum(answer.usage.seconds.values())
    made = f"answer {answer.answer_id[:8]}, {calls_in_words(answer.usage)}, {spent:.2f} s of work"
    output.paragraph(made + kept_in_words(answer), style="dim")
    if with_question:
        output.line()


def show_answers(corpus: str, answers: Sequence[Answer], output: Output) -> None:
    if output.as_json:
        output.data({"corpus": corpus, "answers": [answer_json(answer) for answer in answers]})
        return
    if not answers:
        output.line(f'corpus {corpus} was not asked yet; ask: flowreader ask "QUESTION" --corpus {corpus}')
        return
    rows = [
        (answer.answer_id[:8], minute(answer.asked), state(answer), shortened(answer.question, QUESTION_SHOWN))
        for answer in answers
    ]
    output.table(("id", "asked (UTC)", "status", "question"), rows)


def state(answer: Answer) -> str:
    return "removed" if was_withheld(answer) else answer.status.value
