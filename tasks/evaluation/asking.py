"""Asking a benchmark's questions, twenty to a step; what was asked before, of the same documents by the same code, is kept."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from storage.artifacts import hash_bytes
from storage.codec import to_json
from storage.corpus.snapshot import Snapshot
from storage.graph.search import Scope
from storage.records.answers import Answer, AnswerStatus, NamedDocument, TraceKind
from storage.records.documents import DocumentState, PageKey, identify
from storage.records.evaluations import Asked, BenchmarkQuestion, PageOf
from storage.records.language import language
from storage.runs.asked_questions import AskedQuestions
from tasks.algorithms.flow.sizes import WEIGHED_PAGES
from tasks.algorithms.metrics.answers import alternatives_of, items_of
from tasks.algorithms.refusal import FEATURES
from tasks.algorithms.text.standing import find_words
from tasks.asking import second_look
from tasks.asking.deciding import code_identity, deciding_settings
from tasks.asking.question import AskContext, context_of
from tasks.asking.records import PathReader
from tasks.asking.request import AskRequest, check_questions
from tasks.asking.weights import weights_of
from tasks.evaluation.arms import Arm, EvaluationRequest
from tasks.evaluation.looks import look_rows
from tasks.evaluation.pieces import piece_rows
from tasks.evaluation.plan import Results, weights_named
from tasks.evaluation.scoring import GATE_OPENED, REFLECTIONS
from tasks.models.embedding.embedder import QuestionEmbedder
from tasks.models.reranker import name_of_reranker
from tasks.progress import report
from tasks.reading import evidence
from tasks.reading.answer import UnansweredError
from tasks.settings.base import change_settings
from tasks.settings.readers import READ_BY
from tasks.step import MODEL, StepKey, Workplace, step, workplace

BATCH = 20
"""Questions in one step: it costs Prefect's server some 30 ms, whatever it does."""

STANDING_FORMATS = frozenset({"", "Str", "Int", "Float", "List"})
"""Formats of answers that can stand in a text; where none is given, an answer is taken for words."""

AnswerOne = Callable[[str, AskRequest, AskContext, Workplace], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class EvaluationContext:
    """What the questions of one arm share. `ids` are the documents' ids by their names in the benchmark.

    `sizes` are how many pages `agent` read of each question, by its id, where it was asked before.
    """

    arm: Arm
    snapshot: Snapshot
    embedder: QuestionEmbedder
    reader: PathReader
    ids: Mapping[str, str]
    whole_corpus: bool
    kept: AskedQuestions
    answer: AnswerOne
    at_once: int
    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        settings = deciding_settings(self.arm.ask)
        models = (self.reader.name, self.reader.model, self.embedder.identity.key, name_of_reranker(self.arm.ask))
        return identify(
            self.arm.reader, settings, *models, "corpus" if self.whole_corpus else "document", language(), code_identity()
        )


def models_of(context: EvaluationContext, request: EvaluationRequest, judge: str) -> dict[str, str]:
    reader = context.reader
    reranker = name_of_reranker(context.arm.ask)
    named = {"embedder": context.snapshot.embedder.key, "reranker": reranker}
    named |= {"reader": reader.name, "chat": reader.model, "judge": judge}
    if request.preset == "default":
        fitted = weights_of(context.arm.ask.weights, context.snapshot.embedder, reranker).fitted
        named |= weights_named(fitted.dataset, fitted.benchmark)
    return {what: name for what, name in named.items() if name}


def readable_versions(context: EvaluationContext) -> dict[str, str]:
    """Return the versions of the documents that can be asked, by their ids."""
    return {record.id: record.version for record in context.snapshot.documents() if record.state is DocumentState.READY}


def question_key(question: BenchmarkQuestion, context: EvaluationContext, versions: Mapping[str, str]) -> str:
    """Return a hash of the question, its known answers, its documents as they were read in, and the arm that reads."""
    asked = asked_documents(question, context, versions)
    known = (question.answer_format, *question.answers)
    given = repr((right_pages(question, context), context.sizes.get(question.id)))
    documents = (part for document in asked for part in (document, versions[document]))
    return identify(context.name, question.id, question.text, *known, given, *documents)


def sizes_for(arm: Arm, arms: Sequence[Arm], found: Results) -> Mapping[str, int]:
    """Return how many pages `agent` read of each question, for `adjusted`, which takes as many; nothing for all others."""
    if arm.reader != "adjusted":
        return {}
    agent = next((found.asked[one.name] for one in arms if one.reader == "agent" and one.name in found.asked), {})
    return {name: len(asked.evidence) for name, asked in agent.items()}


def why_absent(arm: Arm, reader: PathReader) -> str:
    """Say why no answer of an arm would mean anything, "" where it does: a model that does not see is shown nothing by pictures."""
    blind = reader.model and not reader.sees and arm.ask.reading.model.path_characters == 0
    why = f"it shows pages as pictures alone, and {reader.model} does not see, by what its server or its reply to a picture says"
    return why if blind else ""


def right_pages(question: BenchmarkQuestion, context: EvaluationContext) -> tuple[PageKey, ...] | None:
    """Return the pages of the evidence for `oracle`, which reads them; None for all others, who do not know them."""
    if context.arm.reader != "oracle":
        return None
    return tuple((context.ids[name], page) for name, page in question.evidence if name in context.ids)


def asked_documents(question: BenchmarkQuestion, context: EvaluationContext, versions: Mapping[str, str]) -> list[str]:
    """Return the ids of the documents that the question is asked of, without those that cannot be read."""
    named = context.ids.values() if context.whole_corpus else [context.ids.get(name, "") for name in question.documents]
    return sorted({document for document in named if document in versions})


def recall_asked(questions: Sequence[BenchmarkQuestion], context: EvaluationContext) -> dict[str, Asked]:
    kept, versions = context.kept.recall(context.name), readable_versions(context)
    found = {question.id: kept.get(question_key(question, context, versions)) for question in questions}
    return {name: asked for name, asked in found.items() if asked is not None}


def batches(questions: Sequence[BenchmarkQuestion]) -> Iterator[tuple[BenchmarkQuestion, ...]]:
    left = iter(questions)
    while batch := tuple(islice(left, BATCH)):
        yield batch


def batch_key(batch: Sequence[BenchmarkQuestion], context: EvaluationContext) -> StepKey:
    """Key by the questions and the arm; the answers are kept in a file of their own, where each question can be found."""
    name = identify(*(question.id for question in batch))
    return StepKey(name, identify(context.name, name), f"{context.arm.name}: {batch[0].id} and {len(batch) - 1} more")


@step(
    "ask-batch",
    version="1",
    retries=0,  # the steps of its questions are tried again themselves, and the next evaluation goes on from what is kept
    cache_key=batch_key,
    tag=lambda _batch, context: MODEL if context.reader.model else "",
    summary=lambda asked: {"asked": hash_bytes(to_json([one.key for one in asked]))},
)
def ask_batch(batch: Sequence[BenchmarkQuestion], context: EvaluationContext) -> tuple[Asked, ...]:
    """Ask the questions, some side by side, and keep what comes of each at once: a kill costs those in flight."""
    return tuple(asyncio.run(_ask_all(batch, context, readable_versions(context), workplace.get())))


async def _ask_all(
    batch: Sequence[BenchmarkQuestion], context: EvaluationContext, versions: Mapping[str, str], place: Workplace
) -> list[Asked]:
    free = asyncio.Semaphore(context.at_once)

    async def ask_in_turn(question: BenchmarkQuestion) -> Asked:
        async with free:
            asked = await _ask(question, context, versions, place)
        context.kept.keep(context.name, [asked])
        report(context.arm.name, "ask", 1, 1)
        return asked

    return list(await asyncio.gather(*(ask_in_turn(question) for question in batch)))


async def _ask(question: BenchmarkQuestion, context: EvaluationContext, versions: Mapping[str, str], place: Workplace) -> Asked:
    documents = asked_documents(question, context, versions)
    key = question_key(question, context, versions)
    if not documents:
        # None of its documents could be read: nothing is found, and that counts.
        nothing = Asked(key, question.id, context.arm.reader, (), (), 0.0, "", AnswerStatus.NOT_FOUND.value)
        return replace(nothing, answer_shown=shows_answer(question, ()), answer_first=shows_answer(question, ()))
    text, settings = check_questions([question.text])[0], context.arm.ask
    if context.arm.reader == "adjusted":
        settings = change_settings(settings, {"pages.pages": context.sizes[question.id]})
    request = AskRequest(
        questions=(text,),
        corpus=context.snapshot.location.name,
        reader=READ_BY[context.arm.reader],
        require_model=True,  # what rules quote in its place must not count as the model's
        settings=settings,
    )
    everything = context.whole_corpus and len(documents) == len(context.snapshot.documents())
    scope = Scope() if everything else Scope(documents=tuple(documents))
    began = time.perf_counter()
    asking = context_of(context.snapshot, scope, settings, context.embedder, context.reader)
    asking = replace(asking, right=right_pages(question, context))
    try:
        with evidence.recorder.watch() as seen, second_look.recorder.watch() as looked:
            answer, unanswered = await context.answer(text, request, asking, place), False
    except UnansweredError as error:
        # what is cited in its place, rules found; an answer that nothing proves is judged like any other
        unanswered = not error.answer.is_unproven
        answer = replace(error.answer, answer="" if unanswered else error.answer.answer, citations=(), refusal=None)
    asked = condense_answer(question, key, answer, context.ids, seconds=time.perf_counter() - began)
    pages = {(context.ids[name], page) for name, page in question.evidence if name in context.ids}
    ranked = [(page.document.id, page.page) for page in answer.pages]
    asked = replace(asked, reader=context.arm.reader, unanswered=unanswered)
    return replace(asked, pieces=piece_rows(question, pages, seen), looks=look_rows(ranked, looked))


def condense_answer(question: BenchmarkQuestion, key: str, answer: Answer, ids: Mapping[str, str], *, seconds: float) -> Asked:
    """Return what an evaluation keeps of an answer, the documents by the benchmark's names.

    Of the same file under two names the question's own is taken.
    """
    # The last name counts: of two copies that a question is asked of, the one with its evidence.
    proving = (name for name, _page in question.evidence if name in question.documents)
    named = (*sorted(ids, reverse=True), *question.documents, *proving)
    names = {ids[name]: name for name in named if name in ids}

    quotes = [cited.quote for cited in answer.citations]

    def page_of(place: tuple[NamedDocument, int]) -> PageOf:
        return names[place[0].id], place[1]

    return Asked(
        key=key,
        question_id=question.id,
        reader=answer.reader,
        ranked=tuple(page_of((page.document, page.page)) for page in answer.pages),
        evidence=tuple(page_of((page.document, page.page)) for page in answer.evidence_pages),
        seconds=round(seconds, 4),
        answer=answer.answer,
        status=answer.status.value,
        cited=tuple(dict.fromkeys(page_of((cited.document, cited.page)) for cited in answer.citations)),
        calls=answer.usage.calls,
        input_tokens=answer.usage.input_tokens,
        output_tokens=answer.usage.output_tokens,
        cost=answer.usage.cost,
        cached=answer.usage.cached,
        doubts=tuple(answer.refusal.features[name] for name in FEATURES) if answer.refusal else (),
        scores=tuple(page.score for page in answer.pages[:WEIGHED_PAGES]),
        words_shown=sum(len(quote.split()) for quote in quotes),
        answer_shown=shows_answer(question, quotes),
        answer_first=shows_answer(question, quotes[:1]),
        counts=counts_of(answer),
    )


def counts_of(answer: Answer) -> dict[str, float]:
    """Return what the reader counted, whether the gate opened, and how often it looked around for what stayed open."""
    kinds = [step.kind for step in answer.trace]
    gate = {GATE_OPENED: float(bool(answer.gate.triggered))} if answer.gate else {}
    reflections = {REFLECTIONS: float(kinds.count(TraceKind.WIDEN))} if TraceKind.REFLECT in kinds else {}
    return {**answer.usage.counts, **gate, **reflections}


def shows_answer(question: BenchmarkQuestion, quotes: Sequence[str]) -> bool | None:
    """Return whether a known answer stands in one of the quotes, of a list each item; None where it could stand in no text."""
    known = alternatives_of(question.answers) if question.answer_format in STANDING_FORMATS else []
    wanted = [items_of(answer) if question.answer_format == "List" else [answer] for answer in known]
    return any(items and all(_stands_in(quotes, item) for item in items) for items in wanted) if wanted else None


def _stands_in(quotes: Sequence[str], words: str) -> bool:
    return any(find_words(quote, words) is not None for quote in quotes)
