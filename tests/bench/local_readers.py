"""Each reader driven by the small local model, on every third question of tests/corpus: a part of `make bench-models`."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median

from storage.locations import calls_folder
from storage.records.answers import Answer
from storage.records.evaluations import BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.events import subscribe
from tasks.models.local import reachable
from tasks.settings.readers import READERS, Reader
from tests.bench.local_model import (
    Heard,
    Reading,
    answered,
    corpus_questions,
    is_right,
    is_shown_right,
    reading_model,
    share,
    unusable,
)
from tests.bench.measuring import CORPUS, ROOT, Figure, Part, flowreader

UNUSABLE_SHARE = 5.0
"""Of the calls, at most, in per cent."""


async def answers_of(reader: Reader, questions: Sequence[BenchmarkQuestion], heard: Heard) -> list[tuple[Answer, Reading]]:
    return [await answered(question, CORPUS, heard, by_model=True, reader=reader) for question in questions]


def rows_of(
    reader: Reader, found: Sequence[tuple[Answer, Reading]], questions: Sequence[BenchmarkQuestion], heard: Heard
) -> list[Figure]:
    readings, used = [reading for _, reading in found], [answer.usage for answer, _ in found]
    asked = list(zip(questions, readings, strict=True))
    return [
        share(f"{reader}: answered", [bool(reading.said) for reading in readings]),
        share(f"{reader}: right", [is_right(question, reading) for question, reading in asked]),
        share(f"{reader}: shown and right", [is_shown_right(question, reading) for question, reading in asked]),
        Figure(f"{reader}: calls, mean", mean(one.calls + one.cached for one in used), ""),
        Figure(f"{reader}: calls, most of a question", max(one.calls + one.cached for one in used), "", most=used[0].most_calls),
        Figure(f"{reader}: tokens read, mean", mean(reading.read for reading in readings), ""),
        Figure(f"{reader}: tokens written, mean", mean(reading.written for reading in readings), ""),
        Figure(f"{reader}: a question, median", median(reading.seconds for reading in readings), "s"),
        Figure(f"{reader}: calls without a usable reply", unusable(heard.outcomes), "%", most=UNUSABLE_SHARE),
    ]


def measure() -> Part:
    """Ask all questions of one reader after the other, with the model loaded and no reply kept from before."""
    rows, raw, questions = list[Figure](), dict[str, object](), corpus_questions()[::3]
    with tempfile.TemporaryDirectory() as folder:
        flowreader(Path(folder), "ingest", ROOT / "tests" / "corpus")
        os.environ["FLOWREADER_HOME"] = folder
        with reachable(reading_model()):
            for reader in READERS:
                CallCache(calls_folder()).forget(questions_owner(CORPUS))
                with subscribe(heard := Heard()):
                    found = asyncio.run(answers_of(reader, questions, heard))
                rows += rows_of(reader, found, questions, heard)
                said = [(answer.question, answer.answer, answer.status, answer.notes) for answer, _ in found]
                raw[reader] = {"said": said, "outcomes": dict(heard.outcomes)}
    return rows, raw
