"""Reading the chosen paths: what stands on them is fetched once, then each is read by itself."""

from collections.abc import Sequence

import numpy as np

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.graph.candidates import CandidateGraph
from tasks.algorithms.text.stems import stems_in
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, PathText, Question
from tasks.routing.routing import ChosenPath


@question_step("fetch", lambda texts: {"texts": hash_bytes(to_json([node.id for text in texts for node in text.nodes]))})
def fetch_texts(
    question: Question, graph: CandidateGraph, scores: NodeScores, paths: Sequence[ChosenPath], context: AskContext
) -> tuple[PathText, ...]:
    """Fetch what stands on the paths, every node once, with what the routing knows of it."""
    places = sorted({place for path in paths for place in path.nodes})
    ids = [graph.ids[place] for place in places]
    passages, rows = context.snapshot.passages_and_rows(ids)
    nodes = {passage.id: passage for passage in passages}
    worth = dict(zip(ids, np.clip(scores.combined[places], 0.0, 1.0).tolist(), strict=True))
    owners = {node.document_id for node in nodes.values()}
    titles = {record.id: f"{record.name} {record.title}" for record in context.snapshot.documents() if record.id in owners}
    titled = {document: stems_in(title).intersection(question.terms.anchors) for document, title in titles.items()}
    present = present_anchors(question, scores, context).union(*titled.values())
    return tuple(
        PathText(
            nodes=tuple(nodes[graph.ids[place]] for place in path.nodes),
            rows=rows,
            rarity=scores.rarity,
            worth=worth,
            present=present,
            named=scores.named,
            titled=titled,
        )
        for path in paths
    )


def present_anchors(question: Question, scores: NodeScores, context: AskContext) -> frozenset[str]:
    """Return which anchors of the question stand anywhere in what is asked (the entity anchor of appendix B.2).

    Evidence that never names the subject of the question speaks of something else, however many other words it shares: this
    refuses 45 % of 65 questions that a real document does not answer, and 8 % of 237 others, one answered right among them.
    Of a large scope only some nodes are candidates, but full text brings in those that hold rare words, such as names. Where
    pages or a modality limit the scope the rest of a document is not at hand; it gets the benefit of the doubt.
    """
    anchors, scope = frozenset(question.terms.anchors), context.scope
    narrowed = scope.first_page is not None or scope.last_page is not None or scope.modality is not None
    return anchors if narrowed else anchors & scores.present


@question_step(
    "read",
    lambda readings: {str(number): hash_bytes(to_json(reading.answer)) for number, reading in enumerate(readings, 1)},
    version="2",
    retries=0,
    reads=True,
)
def read_paths(question: Question, texts: Sequence[PathText], context: AskContext) -> tuple[PathReading, ...]:
    return context.reader.read(question, texts)
