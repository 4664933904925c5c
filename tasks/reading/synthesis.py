"""Synthesis: one answer of all readings, with the paths, pages and figures that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.graph.candidates import CandidateGraph
from storage.records.answers import AnswerStatus, EvidencePath, GateReport, GraphEdit, NamedDocument, PagePlace, RankedPage
from tasks.algorithms.text.words import looks_english
from tasks.asking.candidates import page_scores
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question, Synthesis, Verdict
from tasks.routing.routing import ChosenPath

NO_WORD_SAID = "no word of the question stands in the documents; questions are best asked in the documents' language"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The chosen paths with what they say; `before` is what was read before System 2's edits. `top-k` has no verdict."""

    paths: Sequence[ChosenPath]
    readings: Sequence[PathReading]
    verdict: Verdict | None = None
    before: Evidence | None = None
    edits: tuple[GraphEdit, ...] = ()

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


@question_step("synthesize", lambda findings: {"answer": hash_bytes(to_json(findings.synthesis.answer))}, retries=0, reads=True)
def synthesize(question: Question, graph: CandidateGraph, scores: NodeScores, evidence: Evidence, context: AskContext) -> Findings:
    best = evidence.best
    names = context.names
    paths = tuple(
        EvidencePath(
            nodes=tuple(graph.ids[node] for node in path.nodes),
            pages=places_of(graph, path.nodes, names),
            flow=path.flow,
            quality=path.quality,
            share=path.share,
            answer=reading.answer,
        )
        for path, reading in zip(best.paths, best.readings, strict=True)
    )
    routed = evidence.verdict is not None
    synthesis = in_the_wrong_language(
        context.reader.synthesize(question, best.readings, scores.rarity, best.verdict), question, scores
    )
    missing = tuple(f"nothing in what was asked is called {name}" for name in scores.unknown)
    return Findings(
        synthesis=doubted(synthesis, missing) if missing else synthesis,
        paths=paths if routed else (),
        pages=ranked_pages(graph, scores, names),
        evidence_pages=places_of(graph, [node for path in best.paths for node in path.nodes], names),
        gate=gate_report(evidence),
    )


def in_the_wrong_language(synthesis: Synthesis, question: Question, scores: NodeScores) -> Synthesis:
    """Return what was not found with the language as the reason: a list of the words of a foreign question would say little."""
    if synthesis.status is not AnswerStatus.NOT_FOUND or scores.present or looks_english(question.text):
        return synthesis
    return replace(synthesis, why=NO_WORD_SAID)


def doubted(synthesis: Synthesis, missing: tuple[str, ...]) -> Synthesis:
    """Return an answer to a question that names what is not there: at best it answers a part."""
    status = AnswerStatus.PARTIAL if synthesis.status is AnswerStatus.ANSWERED else synthesis.status
    return replace(synthesis, status=status, notes=(*missing, *synthesis.notes))


def places_of(graph: CandidateGraph, nodes: Sequence[int], names: Mapping[str, NamedDocument]) -> tuple[PagePlace, ...]:
    """Return the pages of the nodes, each once, in the order of the nodes."""
    places = (PagePlace(names[graph.document_ids[graph.documents[node]]], int(graph.pages[node])) for node in nodes)
    return tuple(dict.fromkeys(places))


def ranked_pages(graph: CandidateGraph, scores: NodeScores, names: Mapping[str, NamedDocument]) -> tuple[RankedPage, ...]:
    """Return every page that has a candidate, the best first; equal scores by document and page."""
    found = page_scores(graph, scores)
    ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return tuple(RankedPage(names[document], page, score) for (document, page), score in ranked)


def gate_report(evidence: Evidence) -> GateReport | None:
    """Return what the gate saw first, why it fired, and what was edited then."""
    first = evidence.before.verdict if evidence.before else evidence.verdict
    if first is None:
        return None
    return GateReport(
        consistency=first.consistency, saturation=first.saturation, triggered=first.trigger or "", edits=evidence.edits
    )
