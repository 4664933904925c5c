"""Each reader driven by the small local model, on every third question of tests/corpus: a part of `make bench-models`."""

import asyncio
import os
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from statistics import mean, median

from flows.ask import ask
from storage.locations import calls_folder
from storage.records.answers import Answer
from storage.records.evaluations import BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.asking.request import AskRequest
from tasks.events import CallEnded, Event, subscribed
from tasks.models.chat.errors import Outcome
from tasks.models.local import local_model, reachable
from tasks.settings.readers import READERS, Reader
from tests.bench.local_model import Reading, corpus_questions, holds, is_right, share
from tests.bench.measuring import CORPUS, ROOT, Figure, Part, flowreader

UNUSABLE_SHARE = 5.0
"""Of the calls, at most, in per cent."""


class Ends:
    """Counts how the calls of a model ended, by what they were for."""

    def __init__(self) -> None:
        self.counts = Counter[tuple[str, Outcome]]()

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallEnded):
            self.counts[event.call.purpose, event.call.outcome] += 1

    @property
    def unusable(self) -> float:
        """The share of calls without a usable reply, in per cent."""
        lost = sum(count for (_, outcome), count in self.counts.items() if outcome not in {Outcome.OK, Outcome.CACHED})
        return 100 * lost / max(1, self.counts.total())


async def answers_of(reader: Reader, questions: Sequence[BenchmarkQuestion]) -> list[tuple[Answer, float]]:
    """Return each answer with the seconds that it took."""
    found = []
    for question in questions:
        began = time.monotonic()
        request = AskRequest(questions=(question.text,), corpus=CORPUS, reader=reader, fresh=True, local=True)
        async with aclosing(ask(request)) as answers:
            found += [(answer, time.monotonic() - began) async for answer in answers]
    return found


def rows_of(
    reader: Reader, found: Sequence[tuple[Answer, float]], questions: Sequence[BenchmarkQuestion], ends: Ends
) -> list[Figure]:
    readings = [
        Reading(answer.answer, answer.status, seconds, quotes=tuple(cited.quote for cited in answer.citations))
        for answer, seconds in found
    ]
    asked = list(zip(questions, readings, strict=True))
    shown = [is_right(question, reading) if reading.said else holds(question, reading.quotes) for question, reading in asked]
    used = [answer.usage for answer, _ in found]
    return [
        share(f"{reader}: answered", [bool(reading.said) for reading in readings]),
        share(f"{reader}: right", [is_right(question, reading) for question, reading in asked]),
        share(f"{reader}: shown and right", shown),
        Figure(f"{reader}: calls, mean", mean(one.calls + one.cached for one in used), ""),
        Figure(f"{reader}: calls, most of a question", max(one.calls + one.cached for one in used), "", most=used[0].most_calls),
        Figure(f"{reader}: tokens read, mean", mean(one.input_tokens for one in used), ""),
        Figure(f"{reader}: tokens written, mean", mean(one.output_tokens for one in used), ""),
        Figure(f"{reader}: a question, median", median(seconds for _, seconds in found), "s"),
        Figure(f"{reader}: calls without a usable reply", ends.unusable, "%", most=UNUSABLE_SHARE),
    ]


def measure() -> Part:
    """Ask all questions of one reader after the other, with the model loaded and no reply kept from before."""
    rows, raw, questions = list[Figure](), dict[str, object](), corpus_questions()[::3]
    with tempfile.TemporaryDirectory() as folder:
        flowreader(Path(folder), "ingest", ROOT / "tests" / "corpus")
        os.environ["FLOWREADER_HOME"] = folder
        with reachable(local_model()):
            for reader in READERS:
                CallCache(calls_folder()).forget(questions_owner(CORPUS))
                with subscribed(ends := Ends()):
                    found = asyncio.run(answers_of(reader, questions))
                rows += rows_of(reader, found, questions, ends)
                raw[reader] = {
                    "said": [(answer.question, answer.answer, answer.status, answer.notes) for answer, _ in found],
                    "calls": [(purpose, outcome, count) for (purpose, outcome), count in ends.counts.items()],
                }
    return rows, raw
