"""A report with two tables' worth of answers, whose passages are paths, and a model that reads them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from storage.records.documents import DocumentGraph, NodeKind
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.calls import CallBook
from tasks.asking.question import AskContext
from tasks.asking.records import PathReader, PathReading, PathText, Question, Synthesis, Verdict
from tasks.reading.paths import fetch_texts
from tasks.routing.way import ChosenPath
from tests.asking_worlds import Passage, candidates_of, written
from tests.chat_server import ChatServer
from tests.scripted_answers import booked, read_by

REPORT = written(
    "report",
    Passage("The harbour is 20 metres deep.", 1, section="2 Depths"),
    Passage("Place: Depth\nHarbour: 20 metres\nSound: 35 metres", 2, NodeKind.TABLE),
    Passage("The harbour was 18 metres deep in 1950.", 3),
    Passage("Pilots measure it every spring.", 4),
    Passage("Nobody knows.", 5),
)
QUESTION = "How deep is the harbour?"
FACTS = {"harbour is 20 metres": "20 metres", "Harbour: 20 metres": "20 Metres.", "18 metres deep": "18 metres"}
QUIET = Verdict(consistency=1.0, saturation=0.9, trigger=None)
FIRED = Verdict(consistency=0.5, saturation=0.9, trigger=Trigger.LOW_CONSISTENCY)


@dataclass(frozen=True)
class Reading:
    """A question whose paths a model may read: each path names passages of the report by their places."""

    question: Question
    reader: PathReader
    paths: tuple[PathText, ...]
    rarity: dict[str, float]
    server: ChatServer
    book: CallBook

    def read(self) -> tuple[PathReading, ...]:
        return self.reader.read(self.question, self.paths)

    def synthesized(self, readings: tuple[PathReading, ...] | None = None, verdict: Verdict | None = FIRED) -> Synthesis:
        return self.reader.synthesize(self.question, self.read() if readings is None else readings, self.rarity, verdict)


@contextmanager
def reading(
    context: AskContext, reply: Any, *paths: tuple[int, ...], text: str = QUESTION, report: DocumentGraph = REPORT, **more: Any
) -> Iterator[Reading]:
    """Give the paths of a question before they are read; all calls inside the block are in one book."""
    question, graph, scores = candidates_of(text, context)
    places = [tuple(graph.ids.index(report.nodes[place].id) for place in path) for path in paths]
    texts = fetch_texts(question, graph, scores, [ChosenPath(nodes, 1.0, 1.0, 0.5) for nodes in places], context)
    with read_by(context, reply, **more) as (place, server), booked(place) as book:
        yield Reading(question, place.reader, texts, dict(scores.rarity), server, book)
