"""What the small local model makes of questions, by each reader, beside rules: two parts of `make bench-models`.

An answer is right as `flowreader evaluate` judges it by rules. Rules give none: with them is compared what is shown, which is right
where the answer is, or where in its place a quote has all words of a known one; where nothing answers, if nothing is shown.
"""

import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from math import inf
from pathlib import Path
from statistics import mean, median

import numpy as np

from flows.ask import ask
from storage.locations import calls_folder
from storage.records.answers import Answer
from storage.records.evaluations import Asked, BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.algorithms.metrics.answers import answer_words
from tasks.algorithms.metrics.bootstrap import bootstrap_interval
from tasks.asking.request import AskRequest
from tasks.evaluation.judging import judge_answers
from tasks.events import CallEnded, Event, subscribed
from tasks.models.chat.errors import Outcome
from tasks.models.local import local_model, reachable
from tasks.settings.readers import READERS, Reader
from tests.bench.measuring import CORPUS, ROOT, Figure, Part, flowreader

SEED = 1
UNUSABLE_SHARE = 5.0
"""Of the calls, at most, in per cent."""
PROMISED = {"flow": (2400.0, 400.0, 15.0)}
"""Tokens read and written, on average, and the median of the seconds."""


def corpus_questions() -> list[BenchmarkQuestion]:
    """Return the questions of tests/corpus, each asked of all of it; in parentheses an answer says how it comes about."""
    return [
        BenchmarkQuestion(
            id=str(number),
            text=one["question"],
            documents=(),
            answerable=bool(one["evidence"]),
            answers=tuple(dict.fromkeys((one["answer"], one["answer"].split(" (")[0]))) if one["evidence"] else (),
        )
        for number, one in enumerate(json.loads((ROOT / "tests" / "corpus_questions.json").read_text("utf-8")))
    ]


async def answers_of(
    questions: Sequence[BenchmarkQuestion], corpus: str, reader: Reader, *, local: bool
) -> list[tuple[Answer, float]]:
    """Ask one after the other, with the local model or by rules; return the answers and their seconds."""
    found = []
    for question in questions:
        asked = {"questions": (question.text,), "corpus": corpus, "documents": question.documents, "reader": reader}
        began = time.monotonic()
        async with aclosing(ask(AskRequest(**asked, fresh=True, local=local))) as answers:
            found += [(answer, time.monotonic() - began) async for answer in answers]
    return found


def is_right(question: BenchmarkQuestion, answer: Answer) -> bool:
    asked = Asked("", question.id, "", (), (), 0.0, answer.answer, answer.status.value)
    return judge_answers([(question, asked)], None)[0].correct


def is_shown_right(question: BenchmarkQuestion, answer: Answer) -> bool:
    """Say whether the answer is right, or in the place of one a quote; nothing quoted is right where nothing answers."""
    if answer.answer:
        return is_right(question, answer)
    quotes = [{*answer_words(citation.quote)} for citation in answer.citations]
    known = [{*answer_words(one)} for one in question.answers]
    return any(one <= quote for one in known for quote in quotes) if question.answerable else not quotes


def share(what: str, values: Sequence[bool]) -> Figure:
    return Figure(what, 100 * mean(values), "%")


def paired(what: str, differences: Sequence[int]) -> list[Figure]:
    """Return a mean difference, and between what it lies with 95 %, questions drawn anew."""
    values = 100 * np.array(differences, dtype=np.float64)
    found = bootstrap_interval(values=values, clusters=np.arange(len(values)), resamples=2000, confidence=0.95, seed=SEED)
    return [Figure(what, found.mean, "%"), Figure("  from", found.low, "%"), Figure("  to", found.high, "%")]


def measure_reader(corpus: str, questions: Sequence[BenchmarkQuestion], reader: Reader) -> Part:
    """Ask by rules, then by the model, which is loaded, with no reply kept from before."""
    CallCache(calls_folder()).forget(questions_owner(corpus))
    outcomes = Counter[Outcome]()

    def hear(event: Event) -> None:
        if isinstance(event, CallEnded):
            outcomes[event.call.outcome] += 1

    ruled = asyncio.run(answers_of(questions, corpus, reader, local=False))
    with subscribed(hear):
        found = asyncio.run(answers_of(questions, corpus, reader, local=True))
    answers, used = [answer for answer, _ in found], [answer.usage for answer, _ in found]
    shown, by_rules = (
        [is_shown_right(question, answer) for question, (answer, _) in zip(questions, some, strict=True)] for some in (found, ruled)
    )
    lost = sum(count for outcome, count in outcomes.items() if outcome not in {Outcome.OK, Outcome.CACHED})
    read, written, seconds = PROMISED.get(reader, (inf, inf, inf))
    rows = [
        share(f"{reader}: answered", [bool(one.answer) for one in answers]),
        share(f"{reader}: right", [is_right(question, one) for question, one in zip(questions, answers, strict=True)]),
        share(f"{reader}: shown and right", shown),
        *paired(f"{reader}: the same, less by rules", [ours - theirs for ours, theirs in zip(shown, by_rules, strict=True)]),
        Figure(f"{reader}: calls, mean", mean(one.calls + one.cached for one in used)),
        Figure(f"{reader}: calls, most of a question", max(one.calls + one.cached for one in used), most=used[0].most_calls),
        Figure(f"{reader}: tokens read, mean", mean(one.input_tokens for one in used), most=read),
        Figure(f"{reader}: tokens written, mean", mean(one.output_tokens for one in used), most=written),
        Figure(f"{reader}: a question, median", median(took for _, took in found), "s", most=seconds),
        Figure(f"{reader}: calls without a usable reply", 100 * lost / max(1, outcomes.total()), "%", most=UNUSABLE_SHARE),
    ]
    said = [(one.question, one.answer, one.status, one.notes) for one in answers]
    return rows, {"said": said, "shown and right": shown, "outcomes": dict(outcomes)}


def measure(readers: Sequence[Reader] = READERS, step: int = 3) -> Part:
    """Ask each reader every so many of the forty questions of tests/corpus, read in for it."""
    rows, raw = list[Figure](), dict[str, object]()
    with tempfile.TemporaryDirectory() as folder:
        flowreader(Path(folder), "ingest", ROOT / "tests" / "corpus")
        os.environ["FLOWREADER_HOME"] = folder
        with reachable(local_model()):
            for reader in readers:
                of_reader, raw[reader] = measure_reader(CORPUS, corpus_questions()[::step], reader)
                rows += of_reader
    return rows, raw
