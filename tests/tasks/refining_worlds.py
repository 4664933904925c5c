"""A question half way, over a document of islands, and a reader that rates every step the same."""

from dataclasses import dataclass, field, replace

import numpy as np

from storage.graph.candidates import CandidateGraph
from storage.records.documents import EdgeKind
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, Question
from tests.asking_worlds import Passage, at_place, candidates_of, ordinals_of, written

SIMILAR = EdgeKind.SEMANTIC
ISLANDS = written(
    "islands",
    Passage("the tide of spring", arcs=((1, SIMILAR, 0.5),)),
    Passage("the tide and the steel", page=2, arcs=((0, SIMILAR, 0.5), (2, SIMILAR, 0.4))),
    Passage("the blade and the tide", page=3, arcs=((1, SIMILAR, 0.4),)),
    Passage("the tide turns the blade of steel", page=9, arcs=((4, SIMILAR, 0.9),)),
    Passage("steel for the blade in the tide", page=9, arcs=((3, SIMILAR, 0.9),)),
    Passage("a harbour", page=12),
    # As long as a model in bfloat16 may make it: a cosine of two such passes 1.
    evolved=np.float32(1.0004)
    * np.array([[1, 1, 0, 0, 0, 0, 0, 1]] * 5 + [[0, 0, 0, 0, 0, 3**0.5, 0, 0]], np.float32)
    / np.float32(3**0.5),
)
TEXT = "What does the tide do to the steel of the blade?"


@dataclass(frozen=True)
class Rating:
    """A reader that rates every step the same, and remembers which it was shown."""

    rate: float
    shown: list[tuple[str, str]] = field(default_factory=list)
    bridges: list[tuple[str, str]] = field(default_factory=list)
    model: str = ""

    def rate_pairs(self, _question, pairs, similarities, *, bridges):
        assert all(-1.0 <= similarity <= 1.0 for similarity in similarities) and len(similarities) == len(pairs)
        self.shown.extend((first.id, second.id) for first, second in pairs)
        self.bridges.extend((first.id, second.id) for first, second in pairs if bridges)
        return [self.rate] * len(pairs)


@dataclass(frozen=True)
class Begun:
    """A question whose candidates are scored."""

    question: Question
    graph: CandidateGraph
    scores: NodeScores
    context: AskContext

    def place(self, ordinal):
        return ordinals_of(self.graph, self.context).index(ordinal)


def begun(context, text=TEXT, *, rate=1.0, **settings):
    place = replace(at_place(context, **settings), reader=Rating(rate))
    return Begun(*candidates_of(text, place), place)


def edits_of(refined, kind):
    return [edit for edit in refined.edits if edit.kind == kind]
