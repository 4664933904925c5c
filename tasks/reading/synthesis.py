"""Synthesis: one answer of all readings, with the paths, pages and figures that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.graph.candidates import CandidateGraph
from storage.records.answers import AnswerStatus, EvidencePath, GateReport, GraphEdit, NamedDocument, PagePlace, RankedPage, Refusal
from storage.records.documents import PageKey
from tasks.algorithms.text.words import looks_english
from tasks.asking.candidates import page_ranking
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question, Synthesis, Verdict
from tasks.reading.refusal import doubt
from tasks.reading.rules import lost_names, not_found
from tasks.routing.sizes import Sized
from tasks.routing.way import ChosenPath, Way, places_of

NO_WORD_SAID = "no word of the question occurs in the documents; ask in the documents' language"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The chosen paths with what they say; `before` is what was read before System 2's edits.

    Without a verdict there was no gate. `sized` are the pages by their probability, where the method has one; `way` is that of a
    reader that finds its own. `doubtful`: where rules read it, it is refused where it is probable that nothing answers.
    """

    paths: Sequence[ChosenPath]
    readings: Sequence[PathReading]
    doubtful: bool = False
    sized: Sized | None = None
    verdict: Verdict | None = None
    before: Evidence | None = None
    edits: tuple[GraphEdit, ...] = ()
    way: Way | None = None

    @property
    def best(self) -> Evidence:
        """This evidence, or that before where the second reading supports nothing and the first did."""
        supported = any(reading.supported for reading in self.readings)
        return self if supported or self.before is None else self.before.best


@dataclass(frozen=True, slots=True)
class Findings:
    synthesis: Synthesis
    paths: tuple[EvidencePath, ...]
    pages: tuple[RankedPage, ...]
    evidence_pages: tuple[PagePlace, ...]
    gate: GateReport | None
    completeness: float | None
    refusal: Refusal | None = None
    way: Way = field(default_factory=Way)


@question_step("synthesize", lambda findings: {"answer": hash_bytes(to_json(findings.synthesis.answer))}, retries=0, reads=True)
def synthesize(question: Question, graph: CandidateGraph, scores: NodeScores, evidence: Evidence, context: AskContext) -> Findings:
    best = evidence.best
    names = context.names
    paths = tuple(
        EvidencePath(
            nodes=tuple(graph.ids[node] for node in (best_of_each_page(graph, scores, path.nodes) if best.way else path.nodes)),
            pages=places_of(graph, path.nodes, names),
            flow=path.flow,
            quality=path.quality,
            share=path.share,
            answer=reading.answer,
        )
        for path, reading in zip(best.paths, best.readings, strict=True)
    )
    synthesis = context.reader.synthesize(question, best.readings, scores.rarity, best.verdict)
    by_rules = not context.reader.model or (synthesis.status is AnswerStatus.EVIDENCE and not synthesis.answer)
    refusal = doubt(question, graph, scores, context) if by_rules and best.doubtful else None
    if refusal is not None and refusal.refuses:  # pages have a probability given that something answers
        synthesis = not_found(lost_names(question, best.readings), synthesis.quotes, refusal)
    synthesis = in_the_wrong_language(synthesis, question, scores)
    missing = tuple(f"nothing in these documents is called {name}" for name in scores.unknown)
    # A page is probable given that anything answers; of a question whose words stand nowhere nothing is known.
    sized, unknown = best.sized, not scores.present or (refusal is not None and refusal.refuses)
    return Findings(
        synthesis=mark_as_doubtful(synthesis, missing) if missing else synthesis,
        paths=tuple(path for path in paths if path.flow),
        pages=ranked_pages(graph, scores, names, None if unknown else sized, best.way.pages if best.way else ()),
        evidence_pages=(
            tuple(PagePlace(names[document], page) for document, page in sized.read)
            if sized
            else places_of(graph, [node for path in best.paths for node in path.nodes], names)
        ),
        gate=gate_report(evidence),
        completeness=sized.completeness if sized and not unknown else None,
        refusal=refusal,
        way=best.way or Way(),
    )


def in_the_wrong_language(synthesis: Synthesis, question: Question, scores: NodeScores) -> Synthesis:
    """Name the language as the reason for not_found: a list of the words of a foreign question would say little."""
    if synthesis.status is not AnswerStatus.NOT_FOUND or scores.present or looks_english(question.text):
        return synthesis
    return replace(synthesis, why=NO_WORD_SAID)


def mark_as_doubtful(synthesis: Synthesis, missing: tuple[str, ...]) -> Synthesis:
    """Return an answer to a question that names what is not there: at best it answers a part."""
    status = AnswerStatus.PARTIAL if synthesis.status is AnswerStatus.ANSWERED else synthesis.status
    return replace(synthesis, status=status, notes=(*missing, *synthesis.notes))


def best_of_each_page(graph: CandidateGraph, scores: NodeScores, nodes: Sequence[int]) -> list[int]:
    """Return of each page its best node, in the order in which the pages come: a chain of whole pages is no drawing."""
    best: dict[tuple[int, int], int] = {}
    for node in nodes:
        page = int(graph.documents[node]), int(graph.pages[node])
        best[page] = max(best.get(page, node), node, key=lambda one: scores.combined[one])
    return list(best.values())


def ranked_pages(
    graph: CandidateGraph,
    scores: NodeScores,
    names: Mapping[str, NamedDocument],
    sized: Sized | None,
    first: Sequence[tuple[PageKey, float]] = (),
) -> tuple[RankedPage, ...]:
    """Return every page that has a candidate with its probability, where it has one, in the order of the ranking.

    The `first` are those that a reader looked at, with its own score; the scores of all others are brought below these.
    """
    known, looked = sized.calibrated_pages if sized else {}, dict(first)
    lowest = min(looked.values(), default=1.0)
    ranked = [*first, *((place, lowest * score) for place, score in page_ranking(graph, scores) if place not in looked)]
    return tuple(RankedPage(names[place[0]], place[1], score, known.get(place)) for place, score in ranked)


def gate_report(evidence: Evidence) -> GateReport | None:
    """Return what the gate saw first, why it fired, and what was edited then."""
    first = evidence.before.verdict if evidence.before else evidence.verdict
    if first is None:
        return None
    return GateReport(
        consistency=first.consistency, saturation=first.saturation, triggered=first.trigger or "", edits=evidence.edits
    )
