"""Answers as people at a terminal and programs see them."""

from collections.abc import Sequence

from flows.display.output import Output
from storage.runs.answer_json import answer_json
from storage.text import minute, shorten
from tasks.views.answers import AnswerView

QUESTION_SHOWN = 70


def show_answer(answer: AnswerView, output: Output, *, with_question: bool) -> None:
    if output.as_json:
        output.data(answer_json(answer))
    else:
        output.show("answer.j2", answer=answer, with_question=with_question)


def show_answers(corpus: str, answers: Sequence[AnswerView], output: Output) -> None:
    if output.as_json:
        output.data({"corpus": corpus, "answers": [answer_json(answer) for answer in answers]})
        return
    if not answers:
        output.line(f'corpus {corpus} was not asked yet; ask: flowreader ask "QUESTION" --corpus {corpus}')
        return
    rows = [
        (one.answer_id[:8], minute(one.asked), "withheld" if one.withheld else one.status, shorten(one.asked_as, QUESTION_SHOWN))
        for one in answers
    ]
    output.table(("id", "asked (UTC)", "status", "question"), rows)
