"""What a small local model makes of questions: FlowReader with it, beside the same model given the best page, and beside rules.

A part of `make bench-models`; on other documents, read in before:

    python -m tests.bench.local_model --home HOME --corpus NAME --questions FILE.jsonl

An answer is right by the rules of `flowreader evaluate`; where only evidence is given, its quotes are looked at in the same way.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
import openai

from flows.ask import ask
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import Modality
from tasks.algorithms.metrics.answers import judge_by_rules
from tasks.algorithms.metrics.bootstrap import bootstrap_interval
from tasks.algorithms.text.standing import find_words
from tasks.asking.request import AskRequest
from tasks.events import CallEnded, Event, subscribed
from tasks.models.chat.errors import Outcome
from tasks.models.endpoints import Endpoint
from tasks.models.local import run_model, weights
from tasks.settings.ask import AskSettings
from tests.bench.measuring import ROOT, Figure, Part, flowreader, measure_parts

PLAIN = "{page}\n\nAnswer this question from the text above, as shortly as you can: {question}"
PAGE_CHARACTERS = 12_000
"""Of the best page; what is longer does not fit a context of 8,192 tokens."""
PLAIN_TOKENS = 150


@dataclass(frozen=True)
class Asked:
    """A question as the file has it; whether each way of reading it is right, and what it said."""

    asked: Mapping[str, Any]
    right: Mapping[str, bool]
    said: Mapping[str, str]
    seconds: float
    read: int
    written: int


def questions_of(path: Path) -> list[Mapping[str, Any]]:
    text = path.read_text("utf-8")
    return json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines() if line]


def known_answers(asked: Mapping[str, Any]) -> list[str]:
    return [str(one) for one in (asked["answer"] if isinstance(asked["answer"], list) else [asked["answer"]])]


def evidence_of(asked: Mapping[str, Any]) -> Sequence[Any]:
    return asked["evidence"] if "evidence" in asked else asked["evidence_pages"]


def is_right(asked: Mapping[str, Any], said: str) -> bool:
    return judge_by_rules(
        predicted=said,
        answers=known_answers(asked),
        answer_format=asked.get("answer_format", ""),
        answerable=bool(evidence_of(asked)),
        found=bool(said.strip()),
    ).correct


async def answers(corpus: str, questions: Sequence[Mapping[str, Any]], settings: AskSettings) -> list[tuple[Answer, float]]:
    """Ask each question, of its own document where it names one; return the answers with their seconds."""
    found = []
    for asked in questions:
        documents = (asked["document"],) if "document" in asked else ()
        request = AskRequest(questions=(asked["question"],), corpus=corpus, documents=documents, fresh=True, settings=settings)
        began = time.monotonic()
        async with aclosing(ask(request)) as answered:
            found += [(answer, time.monotonic() - began) async for answer in answered]
    return found


def page_texts(corpus: str) -> dict[tuple[str, int], str]:
    """Return what stands on each page, as somebody would copy it."""
    texts: dict[tuple[str, int], str] = {}
    with open_for_reading(corpus_location(corpus)) as snapshot:
        for record in snapshot.documents():
            for node in snapshot.nodes(record.id):
                words = (node.picture_text or node.content) if node.modality is Modality.FIGURE else node.content
                texts[record.id, node.page] = "\n".join(filter(None, [texts.get((record.id, node.page)), node.caption, words]))
    return texts


def read_plainly(server: Endpoint, page: str, question: str) -> tuple[str, float]:
    """Return what the model says to the page and the question, and the seconds: what anybody would do by hand."""
    client, began = openai.OpenAI(base_url=server.base_url, api_key=server.api_key, max_retries=0), time.monotonic()
    reply = client.chat.completions.create(
        model=server.model,
        messages=[{"role": "user", "content": PLAIN.format(page=page[:PAGE_CHARACTERS], question=question)}],
        max_tokens=PLAIN_TOKENS,
        temperature=0,
    )
    return reply.choices[0].message.content or "", time.monotonic() - began


def compared(corpus: str, questions: Sequence[Mapping[str, Any]]) -> tuple[list[Asked], list[float], Counter[Outcome]]:
    """Ask every question by rules, by the model in FlowReader, and of the best page alone; return also the seconds of the last."""
    texts = page_texts(corpus)
    outcomes, plain_seconds, found = Counter[Outcome](), list[float](), list[Asked]()

    def note(event: Event) -> None:
        if isinstance(event, CallEnded):
            outcomes[event.call.outcome] += 1

    by_model = AskSettings.model_validate({"reading": {"by": "model", "model": {"forms": "small"}}})
    ruled = asyncio.run(answers(corpus, questions, AskSettings()))
    with run_model(weights()) as model, pointed_at(model.endpoint), subscribed(note):
        modelled = asyncio.run(answers(corpus, questions, by_model))
        for asked, (by_rules, _), (answer, seconds) in zip(questions, ruled, modelled, strict=True):
            best = by_rules.pages[0]
            plain, took = read_plainly(model.endpoint, texts.get((best.document.id, best.page), ""), asked["question"])
            plain_seconds.append(took)
            quotes, shown = (" \n".join(citation.quote for citation in one.citations) for one in (by_rules, answer))
            right = {
                "the model in FlowReader": is_right(asked, answer.answer),
                "the model with the best page": is_right(asked, plain),
                "its answer, or else the quotes": is_right(asked, answer.answer) if answer.answer else holds(asked, shown),
                "the quotes of rules": holds(asked, quotes),
            }
            said = {"model": answer.answer, "status": answer.status.value, "plain": plain, "rules": quotes}
            found.append(Asked(asked, right, said, seconds, answer.usage.input_tokens, answer.usage.output_tokens))
    return found, plain_seconds, outcomes


def holds(asked: Mapping[str, Any], quotes: str) -> bool:
    """Say whether one of the quotes holds the answer, by whatever other words; nothing quoted is right where nothing answers."""
    if not evidence_of(asked):
        return not quotes
    return any(find_words(quotes, str(known).split("(")[0]) for known in known_answers(asked))


@contextmanager
def pointed_at(server: Endpoint) -> Iterator[None]:
    names = {
        "FLOWREADER_CHAT_BASE_URL": server.base_url,
        "FLOWREADER_CHAT_MODEL": server.model,
        "FLOWREADER_CHAT_API_KEY": server.api_key,
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def figures_of(found: Sequence[Asked], plain_seconds: Sequence[float], outcomes: Counter[Outcome]) -> list[Figure]:
    shown = [one for one in found if one.said["model"]]
    unusable = 100 * outcomes[Outcome.INVALID] / max(1, outcomes.total())
    rows = [Figure(f"right, of {len(found)}: {name}", 100 * mean(one.right[name] for one in found), "%") for name in found[0].right]
    for one, other in combinations(found[0].right, 2):
        if (one, other) in PAIRED:
            low, high = difference(found, one, other)
            rows += [Figure(f"{one} over {other}, 95 % from", low, "%"), Figure("to", high, "%")]
    return [
        *rows,
        Figure("answers shown", 100 * len(shown) / len(found), "%"),
        Figure("of these right", 100 * mean([one.right["the model in FlowReader"] for one in shown] or [0]), "%"),
        Figure("unusable replies", unusable, "%", most=2),
        Figure("tokens read by a question, on average", mean(one.read for one in found), most=2400),
        Figure("tokens written", mean(one.written for one in found), most=400),
        Figure("seconds of a question, median", median(one.seconds for one in found), "s", most=15),
        Figure("seconds of the best page alone, median", median(plain_seconds), "s"),
    ]


def difference(found: Sequence[Asked], one: str, other: str) -> tuple[float, float]:
    """Return between which per cent the one is better than the other, over documents."""
    documents = [
        str(asked.asked.get("document") or [place["document"] for place in asked.asked["evidence"]][:1]) for asked in found
    ]
    clusters = np.unique(documents, return_inverse=True)[1]
    values = np.array([100.0 * (asked.right[one] - asked.right[other]) for asked in found])
    interval = bootstrap_interval(values=values, clusters=clusters, resamples=2000, confidence=0.95, seed=1)
    return interval.low, interval.high


PAIRED = {
    ("the model in FlowReader", "the model with the best page"),
    ("its answer, or else the quotes", "the quotes of rules"),
}


def measure_of(corpus: str, questions: Path, most: int) -> Part:
    found, plain_seconds, outcomes = compared(corpus, questions_of(questions)[:most])
    details = [
        {"question": one.asked["question"], "known": one.asked["answer"], **one.said, "right": dict(one.right)} for one in found
    ]
    return figures_of(found, plain_seconds, outcomes), {"questions": details, "outcomes": dict(outcomes)}


def measure() -> Part:
    """Measure on the questions of tests/corpus, read in for it."""
    with tempfile.TemporaryDirectory() as folder:
        flowreader(Path(folder), "ingest", ROOT / "tests" / "corpus", "--corpus", "small")
        os.environ["FLOWREADER_HOME"] = folder
        return measure_of("small", ROOT / "tests" / "corpus_questions.json", 40)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="local_model", description=__doc__)
    parser.add_argument("--home", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--most", type=int, default=50)
    chosen = parser.parse_args()
    os.environ["FLOWREADER_HOME"] = chosen.home
    measure_parts("bench-local", {"local": lambda: measure_of(chosen.corpus, chosen.questions, chosen.most)}, None)
