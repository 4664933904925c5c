"""`plan`: a question as several, each with the evidence around its best passages; what no quote holds is asked for once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import TraceKind
from storage.records.documents import DocumentState, PageKey
from storage.text import counted
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.graphs.communities import readout
from tasks.algorithms.graphs.plan_graph import PlanStep, layers, match_earlier_steps, validate_plan
from tasks.algorithms.questions.kinds import list_uncovered_stems, sub_questions
from tasks.algorithms.scores import dense_relevance
from tasks.algorithms.text.stems import stems_in
from tasks.asking.calls import Stage, call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.asking.relevance import own_vectors
from tasks.readers.graph_indexes import is_layout
from tasks.readers.plan_model import first_plan, mend_plan, missing_of
from tasks.reading.paths import with_one_text
from tasks.reading.rules import quote_words
from tasks.reading.synthesis import Evidence
from tasks.routing.way import ChosenPath, Way, places_of
from tasks.settings.ask import AskSettings


@dataclass(frozen=True, slots=True)
class StepRead:
    """What was found for a step: its evidence, its pages with their scores, what was read there; its number in the way."""

    path: ChosenPath
    pages: Mapping[PageKey, float]
    reading: PathReading
    number: int


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan at work: what its steps look for and what was found, by their ids.

    `rounds` are how often it was mended, `mended` is the number in the way of what it was last made from (0: the question), `known`
    the pages before;
    `before` is the plan that a model replaced.
    """

    steps: tuple[PlanStep, ...]
    asked: Mapping[str, Question] = field(default_factory=dict)
    read: Mapping[str, StepRead] = field(default_factory=dict)
    way: Way = field(default_factory=Way)
    rounds: int = 0
    mended: int = 0
    known: frozenset[PageKey] = frozenset()
    before: Plan | None = None

    @property
    def layer(self) -> tuple[Question, ...]:
        """The steps to take next, all at once: those that are not read and need none that is not; none where all are read."""
        return tuple(self.asked[step.id] for step in self.open_steps)

    @property
    def open_steps(self) -> tuple[PlanStep, ...]:
        lacking = (tuple(step for step in layer if step.id not in self.read) for layer in layers(self.steps))
        return next(filter(None, lacking), ())

    @property
    def unread(self) -> tuple[Question, ...]:
        """The steps that were not read."""
        return tuple(self.asked[step.id] for step in self.steps if step.id not in self.read)

    def move_to(self, before: CandidateGraph, after: CandidateGraph) -> Plan:
        """Return the plan for a graph that has all nodes of the one before."""
        if before is after:
            return self
        places = {name: place for place, name in enumerate(after.ids)}
        read = {
            name: replace(one, path=replace(one.path, nodes=tuple(places[before.ids[node]] for node in one.path.nodes)))
            for name, one in self.read.items()
        }
        return replace(self, read=read, before=self.before and self.before.move_to(before, after))

    @property
    def readings(self) -> dict[str, PathReading]:
        return {name: one.reading for name, one in self.read.items()}

    @property
    def best(self) -> Plan:
        """This plan, or the one before where that has more answers."""
        supported = [sum(reading.supported for reading in plan.readings.values()) for plan in (self, self.before or self)]
        return self.before.best if self.before and supported[1] > supported[0] else self

    @property
    def pages(self) -> dict[PageKey, float]:
        """Every page with evidence, and its best score."""
        found: dict[PageKey, float] = {}
        for one in self.read.values():
            found |= {page: max(score, found.get(page, score)) for page, score in one.pages.items()}
        return found


@question_step("decompose", lambda plan: {"steps": hash_bytes(repr(plan.steps).encode())}, retries=0, reads=True)
def decompose(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Plan:
    """Take the question apart; one that asks one thing is a plan of one step."""
    most = most_steps(context.settings)
    if context.reader.model and most > 1 and (planned := first_plan(question, graph, scores, context, most=most)):
        steps, seen = planned
        ids, places = [graph.ids[node] for node in seen], places_of(graph, seen, context.names)
        way = Way().then(TraceKind.SEARCH, question.text, "a first look, for the plan", nodes=ids, pages=places)
        return Plan(steps, way=way, mended=way.last)
    texts = sub_questions(question.text, titles=title_stems(context), most=most)
    return Plan(validate_plan(steps_of_round(0, texts), most=most))


def most_steps(settings: AskSettings) -> int:
    """Return how many steps are taken in a round, at most."""
    return min(settings.plan.subquestions, settings.selection.read)


def title_stems(context: AskContext) -> frozenset[str]:
    """Return the stems of the title and the name of the only document in the scope: all of it is about that; none for several."""
    inside = context.scope.documents
    asked = [
        record
        for record in context.snapshot.documents()
        if record.state is DocumentState.READY and (not inside or record.id in inside)
    ]
    return stems_in(f"{asked[0].name} {asked[0].title}") if len(asked) == 1 else frozenset()


def steps_of_round(number: int, texts: Sequence[str]) -> list[PlanStep]:
    """Return a step for each text, with an id that no other round gives; by rules none needs the answer of another."""
    return [PlanStep(f"s{number}.{place}", text) for place, text in enumerate(texts, 1)]


@dataclass(frozen=True, slots=True)
class LayerEvidence:
    """The evidence of the steps of a layer; `scores` are the question's, but each node is worth what it is to any of them."""

    paths: tuple[ChosenPath, ...]
    scores: NodeScores


@question_step("find-evidence", lambda evidence: {"paths": hash_bytes(repr(evidence.paths).encode())}, retries=0)
def find_evidence(
    _question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    layer: Sequence[tuple[Question, NodeScores]],
    context: AskContext,
) -> LayerEvidence:
    """Read out the graph around the best nodes of each step; arcs of little likeness join nothing."""
    settings = context.settings.plan
    alike = graph.weights >= context.settings.routing.minimum_similarity
    joining = alike | is_layout(graph.arc_kinds)
    paths = []
    for step, own in layer:
        found = readout(
            order=np.argsort(-seed_scores(step, own, graph, context), kind="stable")[: settings.nodes],
            tails=graph.tails[joining],
            heads=graph.heads[joining],
            strengths=graph.weights[joining],
            scores=own.combined,
            neighbours=settings.neighbours,
            nodes=settings.nodes,
        )
        paths.append(ChosenPath(tuple(found.tolist()), flow=1.0, quality=float(own.combined[found].max(initial=0.0))))
    worth = np.max([scores.combined, *(own.combined for _step, own in layer)], axis=0)
    return LayerEvidence(tuple(paths), replace(scores, combined=worth))


def seed_scores(step: Question, own: NodeScores, graph: CandidateGraph, context: AskContext) -> FloatArray:
    if context.settings.plan.rank == "score":
        return own.combined
    return dense_relevance(query=step.vector, vectors=own_vectors(graph, context.settings.relevance))


def add_readings(
    plan: Plan, graph: CandidateGraph, evidence: LayerEvidence, readings: Sequence[PathReading], context: AskContext
) -> Plan:
    """Return the plan with what was found for the steps of its layer, in the order in which they were taken."""
    way, read = plan.way, dict(plan.read)
    for step, path, reading in zip(plan.open_steps, evidence.paths, readings, strict=True):
        pages = page_scores(path, graph, evidence.scores.combined)
        size = f"{counted(len(path.nodes), 'passage')} on {counted(len(pages), 'page')}"
        way = way.then(
            TraceKind.SUB_QUESTION,
            step.question,
            f"{size}: {reading.answer or 'nothing that answers it'}",
            needs=[*([plan.mended] if plan.mended else []), *(read[need].number for need in step.needs)],
            nodes=[graph.ids[node] for node in path.nodes],
            pages=places_of(graph, path.nodes, context.names),
        )
        read[step.id] = StepRead(path, pages, reading, way.last)
    return replace(plan, read=read, way=way)


def page_scores(path: ChosenPath, graph: CandidateGraph, scores: FloatArray) -> dict[PageKey, float]:
    found: dict[PageKey, float] = {}
    for node in path.nodes:
        page = graph.document_ids[graph.documents[node]], int(graph.pages[node])
        found[page] = max(float(scores[node]), found.get(page, 0.0))
    return found


@question_step("check-plan", lambda plan: {"steps": hash_bytes(repr(plan.steps).encode())}, retries=0, reads=True)
def check_plan(question: Question, scores: NodeScores, plan: Plan, context: AskContext) -> Plan:
    """Look for what no quote holds; add steps that ask for it, unless the last such steps brought no new page."""
    if plan.rounds == context.settings.plan.rounds:
        return plan
    call_book.get().stage = Stage.REFINED
    if context.reader.model and (found := missing_of(question, plan.steps, plan.readings, context)) is not None:
        return mend_by_model(question, plan, found, context)
    gaps, pages = list(gaps_of(plan, scores, context)), frozenset(plan.pages)
    useless = pages <= plan.known
    missing = quote_words(list(dict.fromkeys(word for words, _text in gaps for word in words))) or "none that counts"
    way = plan.way.then(
        TraceKind.CHECK,
        "words of the question that no quote holds",
        missing + useless * "; looking for more brought no new page",
        needs=[one.number for one in plan.read.values()],
    )
    room = min(most_steps(context.settings), context.settings.selection.read - len(plan.steps))
    more = steps_of_round(plan.rounds + 1, [] if useless else [text for _words, text in gaps][:room])
    steps = validate_plan([*plan.steps, *more], most=len(plan.steps) + len(more))
    if len(steps) == len(plan.steps):
        return replace(plan, way=way)
    way = way.then(TraceKind.REPLAN, missing, f"{counted(len(steps) - len(plan.steps), 'question')} more", needs=[way.last])
    read = {name: plan.read[before] for name, before in match_earlier_steps(steps, plan.steps).items()}
    return replace(plan, steps=steps, read=read, way=way, rounds=plan.rounds + 1, mended=way.last, known=pages)


def mend_by_model(question: Question, plan: Plan, missing: Sequence[str], context: AskContext) -> Plan:
    """Return the plan as the model mends it; steps that it keeps keep what they read."""
    numbers = [one.number for one in plan.read.values()]
    told = f"not yet: {quote_words(missing)}" if missing else "yes"
    way = plan.way.then(TraceKind.CHECK, "is what was found enough?", told, needs=numbers)
    if not missing:
        return replace(plan, way=way)
    steps = mend_plan(question, plan.steps, plan.readings, missing, context, most=most_steps(context.settings))
    same = match_earlier_steps(steps, plan.steps)
    if len(same) == len(steps):
        return replace(plan, way=way)
    way = way.then(TraceKind.REPLAN, quote_words(missing), f"{counted(len(steps) - len(same), 'new question')}", needs=[way.last])
    return Plan(
        steps=steps,
        asked={name: plan.asked[before] for name, before in same.items()},
        read={name: plan.read[before] for name, before in same.items()},
        way=way,
        rounds=plan.rounds + 1,
        mended=way.last,
        known=frozenset(plan.pages),
        before=plan,
    )


def gaps_of(plan: Plan, scores: NodeScores, context: AskContext) -> Iterator[tuple[list[str], str]]:
    """For each step without a sufficient quote, yield the words that are missing, and a question for them and its names.

    Words that stand nowhere in the scope are not looked for.
    """
    quotes = [quote for one in plan.read.values() for quote in one.reading.quotes]
    covered = [quote.covered | quote.beside | stems_in(quote.text) for quote in quotes]
    for step in plan.steps:
        terms = plan.asked[step.id].terms
        weights = {stem: weight for stem, weight in scores.rarity.items() if stem in scores.present.intersection(terms.stems)}
        lacking = list_uncovered_stems(weights=weights, covered=covered, least=1.0 - context.settings.reading.whole_support)
        if lacking:
            written = dict(zip(terms.stems, terms.words, strict=True))
            asked = dict.fromkeys(word for stem, word in written.items() if stem in {*lacking, *terms.anchors})
            yield [written[stem] for stem in lacking], " ".join(asked)


def evidence_of(plan: Plan) -> Evidence:
    """Return what was found for all steps, in the order of the plan; if a mended plan found less, that of the one before."""
    best = plan.best
    found = [best.read[step.id] for step in best.steps]
    pages = sorted(best.pages.items(), key=lambda item: (-item[1], item[0]))
    counts = {"sub-questions": float(len(found)), "rounds": float(plan.rounds)}
    return Evidence(
        [replace(one.path, share=1.0 / len(found)) for one in found],
        with_one_text([one.reading for one in found]),
        doubtful=True,
        way=replace(plan.way, pages=tuple(pages), counts=counts),
    )
