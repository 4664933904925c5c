"""What a model makes of questions: FlowReader with it, beside the same model given the best page, and beside rules.

Two parts of `make bench-models`: the forty questions of tests/corpus, and sixty of MMLongBench-Doc where that is. The model is the
one at FLOWREADER_CHAT_BASE_URL (by its name in FLOWREADER_CHAT_MODEL), else the local one.

An answer is right as `flowreader evaluate` judges it by rules. Rules give none: with them is compared what is shown, which is right
where the answer is, or where in its place a quote has all words of a known one; where nothing answers, if nothing is shown.
"""

import asyncio
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

import numpy as np
import openai

from flows.ask import ask
from storage.corpus.snapshot import open_for_reading
from storage.locations import calls_folder, corpus_location
from storage.records.answers import Answer, AnswerStatus
from storage.records.documents import Modality
from storage.records.evaluations import Asked, BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.algorithms.metrics.answers import answer_words
from tasks.algorithms.metrics.bootstrap import bootstrap_interval
from tasks.asking.request import AskRequest
from tasks.evaluation.benchmarks.opening import open_benchmark
from tasks.evaluation.judging import judge_answers
from tasks.events import CallEnded, DraftGrown, Event, subscribe
from tasks.models.chat.errors import Outcome
from tasks.models.endpoints import Endpoint, chat_endpoint
from tasks.models.local import local_model, reachable
from tasks.settings.readers import Reader
from tests.bench.measuring import CORPUS, ROOT, Figure, Part, flowreader

PLAIN = "{page}\n\nAnswer this question from the text above, as shortly as you can: {question}"
PAGE_CHARACTERS = 12_000
"""Of the best page; more does not fit a context of 8,192 tokens, nor so much where it is all numbers."""
PLAIN_TOKENS = 150
SEED = 1
MMLONGBENCH = ROOT.parent / "shared" / "data" / "mmlongbench"
UNSEEN = 60
SHORT_ANSWERS = ("Str", "Int", "Float")
FLOW, PAGE, RULES = "FlowReader", "best page", "rules"
"""Who reads: the model in FlowReader, the model by hand, nobody."""


@dataclass(frozen=True)
class Reading:
    """What somebody said to a question and quoted, and what it took; `first` are the seconds until there were words to read."""

    said: str
    status: AnswerStatus
    seconds: float
    first: float | None = None
    read: int = 0
    written: int = 0
    quotes: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        return self.status is not AnswerStatus.UNVERIFIED


@dataclass(frozen=True)
class Compared:
    """A question with its readings, and which of them are right: the answer, and what is shown."""

    question: BenchmarkQuestion
    readings: dict[str, Reading]
    right: dict[str, bool]
    shown: dict[str, bool]


class Heard:
    """Hears how each call of a model ended, and when the draft of an answer began."""

    def __init__(self) -> None:
        self.outcomes, self.draft = Counter[Outcome](), 0.0

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallEnded):
            self.outcomes[event.call.outcome] += 1
        if isinstance(event, DraftGrown) and event.text and not self.draft:
            self.draft = time.monotonic()


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


def unseen_questions() -> list[BenchmarkQuestion]:
    """Return sixty questions with a short answer; which documents they are of, a hash of the names decides."""
    short = [one for one in open_benchmark(MMLONGBENCH).questions if one.answer_format in SHORT_ANSWERS and one.judgeable]
    return sorted(short, key=lambda one: hashlib.sha256(one.documents[0].encode()).hexdigest())[:UNSEEN]


def reading_model() -> Endpoint:
    """Return the served model that the environment names, else the local one."""
    return chat_endpoint() or local_model()


async def answered(
    question: BenchmarkQuestion, corpus: str, heard: Heard, *, by_model: bool, reader: Reader = "flow"
) -> tuple[Answer, Reading]:
    """Ask FlowReader, with the model or by rules."""
    asked = {"questions": (question.text,), "corpus": corpus, "documents": question.documents, "reader": reader}
    settings = {"reading": {"by": "auto" if by_model else "rules"}}
    request = AskRequest(**asked, fresh=True, local=by_model and chat_endpoint() is None, settings=settings)
    heard.draft, began = 0.0, time.monotonic()
    async with aclosing(ask(request)) as answers:
        (answer,) = [answer async for answer in answers]
    seconds, first = time.monotonic() - began, heard.draft - began if heard.draft else None
    quotes, used = tuple(citation.quote for citation in answer.citations), answer.usage
    return answer, Reading(answer.answer, answer.status, seconds, first, used.input_tokens, used.output_tokens, quotes)


def page_texts(corpus: str) -> dict[tuple[str, int], str]:
    """Return what stands on each page, as somebody would copy it."""
    texts: dict[tuple[str, int], str] = {}
    with open_for_reading(corpus_location(corpus)) as snapshot:
        for record in snapshot.documents():
            for node in snapshot.nodes(record.id):
                words = (node.picture_text or node.content) if node.modality is Modality.FIGURE else node.content
                texts[record.id, node.page] = "\n".join(filter(None, [texts.get((record.id, node.page)), node.caption, words]))
    return texts


def read_plainly(server: Endpoint, page: str, question: str) -> Reading:
    """Have the model answer from a page: what anybody would do by hand. Of a page that is too long for it nothing is said."""
    client, began = openai.OpenAI(base_url=server.base_url, api_key=server.api_key, max_retries=0), time.monotonic()
    said, first, read, written = "", None, 0, 0
    with suppress(openai.BadRequestError):
        for chunk in client.chat.completions.create(
            model=server.model,
            messages=[{"role": "user", "content": PLAIN.format(page=page[:PAGE_CHARACTERS], question=question)}],
            max_tokens=PLAIN_TOKENS,
            temperature=0,
            stream=True,
            stream_options={"include_usage": True},
        ):
            if chunk.choices and (words := chunk.choices[0].delta.content):
                said, first = said + words, first or time.monotonic() - began
            if chunk.usage:
                read, written = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
    status = AnswerStatus.ANSWERED if said.strip() else AnswerStatus.NOT_FOUND
    return Reading(said, status, time.monotonic() - began, first, read, written)


async def compared(
    question: BenchmarkQuestion, corpus: str, page_of: dict[tuple[str, int], str], heard: Heard, reader: Reader
) -> Compared:
    """Ask by rules, by the model in FlowReader, and by the model of the page that rules found best."""
    by_rules, ruled = await answered(question, corpus, heard, by_model=False)
    _answer, modelled = await answered(question, corpus, heard, by_model=True, reader=reader)
    best = [page_of.get((page.document.id, page.page), "") for page in by_rules.pages[:1]]
    with reachable(reading_model()) as server:
        plain = await asyncio.to_thread(read_plainly, server, "".join(best), question.text)
    readings = {FLOW: modelled, PAGE: plain, RULES: ruled}
    right = {name: is_right(question, reading) for name, reading in readings.items()}
    shown = {name: is_shown_right(question, reading) for name, reading in readings.items()}
    return Compared(question, readings, right, shown)


def is_right(question: BenchmarkQuestion, reading: Reading) -> bool:
    asked = Asked("", question.id, "", (), (), reading.seconds, reading.said, reading.status.value)
    return judge_answers([(question, asked)], None)[0].correct


def holds(question: BenchmarkQuestion, quotes: Sequence[str]) -> bool:
    """Say whether a quote has all words of an answer, in any order; nothing quoted is right where nothing answers."""
    if not question.answerable:
        return not quotes
    return any({*answer_words(answer)} <= {*answer_words(quote)} for answer in question.answers for quote in quotes)


def unusable(outcomes: Counter[Outcome]) -> float:
    """Return the share of calls without a usable reply, in per cent."""
    lost = sum(count for outcome, count in outcomes.items() if outcome not in {Outcome.OK, Outcome.CACHED})
    return 100 * lost / max(1, outcomes.total())


def is_shown_right(question: BenchmarkQuestion, reading: Reading) -> bool:
    """Say whether the answer is right, or in the place of one a quote."""
    return is_right(question, reading) if reading.said else holds(question, reading.quotes)


def figures_of(found: Sequence[Compared], outcomes: Counter[Outcome]) -> list[Figure]:
    rows = [Figure("calls without a usable reply", unusable(outcomes), "%", most=2)]
    rows += [row for name in (FLOW, PAGE) for row in cost_of(name, [one.readings[name] for one in found])]
    answerable = [one for one in found if one.question.answerable]
    for group, some in ((f"all {len(found)}", found), (f"{len(answerable)} answerable", answerable)):
        for name in (FLOW, PAGE):
            rows.append(share(f"{group}: answered, {name}", [bool(one.readings[name].said.strip()) for one in some]))
            rows.append(share(f"{group}: right, {name}", [one.right[name] for one in some]))
        rows.append(share(f"{group}: right with proof, {FLOW}", [one.right[FLOW] and one.readings[FLOW].is_proven for one in some]))
        rows += paired(f"{group}: right, {FLOW} less {PAGE}", [one.right[FLOW] - one.right[PAGE] for one in some])
        rows += [share(f"{group}: shown and right, {name}", [one.shown[name] for one in some]) for name in (FLOW, RULES)]
        rows += paired(f"{group}: shown and right, {FLOW} less {RULES}", [one.shown[FLOW] - one.shown[RULES] for one in some])
    return rows


def cost_of(name: str, readings: Sequence[Reading]) -> list[Figure]:
    """Return what a question takes; only FlowReader promised anything."""
    promised = name == FLOW
    most = (2400.0, 400.0, 15.0, 10.0) if promised else (float("inf"),) * 4
    first = [reading.first for reading in readings if reading.first is not None]
    return [
        Figure(f"{name}: tokens read, mean", mean(reading.read for reading in readings), most=most[0]),
        Figure(f"{name}: tokens written, mean", mean(reading.written for reading in readings), most=most[1]),
        Figure(f"{name}: a question, median", median(reading.seconds for reading in readings), "s", most=most[2]),
        Figure(f"{name}: first words, median of {len(first)}", median(first or [0.0]), "s", most=most[3]),
    ]


def share(what: str, values: Sequence[bool]) -> Figure:
    return Figure(what, 100 * mean(values), "%")


def paired(what: str, differences: Sequence[int]) -> list[Figure]:
    """Return a mean difference, and between what it lies with 95 %, questions drawn anew."""
    values = 100 * np.array(differences, dtype=np.float64)
    found = bootstrap_interval(values=values, clusters=np.arange(len(values)), resamples=2000, confidence=0.95, seed=SEED)
    return [Figure(what, found.mean, "%"), Figure("  from", found.low, "%"), Figure("  to", found.high, "%")]


def measure_of(corpus: str, questions: Sequence[BenchmarkQuestion], reader: Reader = "flow") -> Part:
    """Ask the questions one after the other, with the model loaded and no reply kept from before."""
    CallCache(calls_folder()).forget(questions_owner(corpus))
    texts, heard = page_texts(corpus), Heard()

    async def in_turn() -> list[Compared]:
        return [await compared(question, corpus, texts, heard, reader) for question in questions]

    with reachable(reading_model()), subscribe(heard):
        found = asyncio.run(in_turn())
    return figures_of(found, heard.outcomes), {"questions": [raw(one) for one in found], "outcomes": dict(heard.outcomes)}


def raw(one: Compared) -> dict[str, object]:
    said = {name: vars(reading) for name, reading in one.readings.items()}
    return {"question": one.question.text, "known": one.question.answers, **said, "right": one.right, "shown and right": one.shown}


def measure(home: Path, reader: Reader) -> Part:
    """Measure on the questions of tests/corpus."""
    return measure_of_documents(home / "corpus", [ROOT / "tests" / "corpus"], corpus_questions(), reader)


def measure_unseen(home: Path, reader: Reader) -> Part:
    """Measure on the sixty, each asked of its own document."""
    questions = unseen_questions()
    documents = dict.fromkeys(name for one in questions for name in one.documents)
    return measure_of_documents(home / "unseen", [MMLONGBENCH / "documents" / name for name in documents], questions, reader)


def measure_of_documents(home: Path, documents: Sequence[Path], questions: Sequence[BenchmarkQuestion], reader: Reader) -> Part:
    flowreader(home, "ingest", *documents)
    os.environ["FLOWREADER_HOME"] = str(home)
    return measure_of(CORPUS, questions, reader)
