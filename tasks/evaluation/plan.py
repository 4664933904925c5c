"""What an evaluation is made of: the benchmark's questions, the arms, and which corpus each arm asks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location, evaluations_folder
from storage.records.documents import DocumentState, identify
from storage.records.evaluations import Asked, Benchmark, BenchmarkQuestion
from storage.runs.asked_questions import count_variants
from tasks.asking.deciding import fitting_identity
from tasks.asking.request import QuestionError, check_questions
from tasks.evaluation.arms import Arm, EvaluationRequest, arms_of
from tasks.evaluation.benchmarks.opening import open_benchmark
from tasks.evaluation.probing import make_probes, names_of, with_questions_of_others
from tasks.evaluation.scoring import Judged, document_of
from tasks.ingest.model import reader_identity
from tasks.ingest.request import IngestRequest, embedder_for, look, survey, survey_for
from tasks.reading.choice import settle_reading
from tasks.settings.ask import method_of
from tasks.settings.base import change_settings
from tasks.settings.readers import PRESETS, Preset

HASH_DIGITS, SHOWN_DIGITS = 8, 12
FITTED_ON = "fitted on"
LONGEST_NAME = 64
SHOWN = 5
FEWEST_DOCUMENTS, ENOUGH_DOCUMENTS = 2, 10
"""Weights of fewer documents are refused, and warned of: what holds in a few may hold nowhere else."""


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """The questions in their order, and the arms that are to answer them, the reference first.

    `fitted_on` is what the weights are fitted on, where that is another benchmark.
    """

    request: EvaluationRequest
    benchmark: Benchmark
    questions: tuple[BenchmarkQuestion, ...]
    arms: tuple[Arm, ...]
    fitted_on: EvaluationPlan | None = None

    @property
    def with_evidence(self) -> tuple[BenchmarkQuestion, ...]:
        return tuple(question for question in self.questions if question.evidence)

    @property
    def scope(self) -> str:
        return " and ".join(dict.fromkeys("corpus" if arm.whole_corpus else "document" for arm in self.arms))

    def by_corpus(self) -> Iterator[tuple[str, tuple[Arm, ...]]]:
        """Yield the name of each corpus with the arms that ask it: those that want documents read alike share one.

        What an experiment sets of reading goes into a corpus of its own, never into one that people ask.
        """
        plain, sets_reading = self.request.settings.reading, any(name.startswith("reading.") for name in self.request.set)
        apart = "" if (preset := _read_as(self.request.preset)) == "default" else f"-{preset}"
        for reading in dict.fromkeys(arm.read_alike for arm in self.arms):
            own = re.sub(r"[^A-Za-z0-9._-]+", "-", f"evaluate-{self.benchmark.name}{apart}")[:LONGEST_NAME]
            name = probed_corpus(self.request) if self.request.of_probes else self.request.corpus or own
            if reading != identify(plain.deciding()) or sets_reading:
                name = f"{name[: LONGEST_NAME - HASH_DIGITS - 1]}-{reading[:HASH_DIGITS]}"
            yield name, tuple(arm for arm in self.arms if arm.read_alike == reading)

    def reading(self, corpus: str, arm: Arm) -> IngestRequest:
        """Return what reads documents into an arm's corpus: those that are asked, or all where each question is asked of all."""
        asked = {name for question in self.questions for name in question.documents}
        whole = any(one.whole_corpus for one in self.arms)
        wanted = self.benchmark.documents if whole else sorted(asked)
        return IngestRequest(paths=tuple(self.benchmark.documents[name] for name in wanted), corpus=corpus, settings=arm.ingest)


def _read_as(preset: Preset) -> Preset:
    """Return the first preset that has documents read as this one has: they share a corpus."""
    return next(other for other in PRESETS if method_of(other).reading == method_of(preset).reading)


@dataclass(frozen=True, slots=True)
class Results:
    """What came of the questions, and the verdicts on the answers, by arm and by question.

    `snapshot` was asked, and `models` read and judged, for the first arm; `embedder` is what weights call it.
    """

    asked: Mapping[str, Mapping[str, Asked]] = field(default_factory=dict)
    judged: Mapping[str, Mapping[str, Judged]] = field(default_factory=dict)
    snapshot: int = 0
    models: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    embedder: str = ""

    def merge(self, other: Results) -> Results:
        asked, judged = {**self.asked, **other.asked}, {**self.judged, **other.judged}
        notes = tuple(dict.fromkeys((*self.notes, *other.notes)))
        first = (self.snapshot or other.snapshot, self.models or other.models, notes, self.embedder or other.embedder)
        return Results(asked, judged, *first)


def plan_evaluation(request: EvaluationRequest) -> EvaluationPlan:
    """Open the benchmark and lay out the arms; raise RequestError or BenchmarkError where there is nothing to measure."""
    benchmark, request = _benchmark(request), _with_reading_settled(request)
    arms = arms_of(request)
    _require_given_pages(arms, benchmark, request)
    measurable = [one for one in benchmark.questions if _measurable(one, request, arms)]
    limit = None if request.of_probes else request.limit  # `make_probes` has applied it
    questions = _evenly(list(benchmark.questions) if request.what == "fit" else measurable, limit)
    if not measurable:
        wanted = "an answer or is marked as unanswerable" if request.of_answers else "evidence pages"
        other = "retrieval" if request.of_answers else "answers"
        raise RequestError(
            f"none of the {len(benchmark.questions)} questions of {benchmark.name!r} has {wanted}",
            benchmark.name,
            f"`flowreader evaluate {other}` needs none",
        )
    for question in questions:
        try:
            check_questions([question.text])
        except QuestionError as error:
            raise RequestError(
                f"question {question.id!r} of {benchmark.name!r}: {error.what}", question.id, error.remedy
            ) from error
    fitted_on = None
    if request.what == "transfer":
        elsewhere = {"what": "retrieval", "dataset": request.fitted_on, "fitted_on": None, "readers": ("flow",), "corpus": None}
        fitted_on = plan_evaluation(request.model_copy(update=elsewhere))
    plan = EvaluationPlan(request, benchmark, questions, arms, fitted_on)
    if request.what in {"fit", "transfer"}:
        _require_fittable(fitted_on or plan)
    return plan


def _with_reading_settled(request: EvaluationRequest) -> EvaluationRequest:
    """Return the request with `auto` settled: answers, and a paper's table, are read as `ask` reads; other pages ask no model."""
    ask = request.settings.ask
    if ask.reading.by == "auto":
        asks = request.of_answers or request.what == "table"
        ask = settle_reading(ask) if asks else change_settings(ask, {"reading.by": "rules"})
    if request.what == "table" and request.of_answers and ask.reading.by != "model":
        raise RequestError(
            f"the table {request.table!r} is of a model's answers, and no model reads",
            request.table or "",
            "name one by FLOWREADER_CHAT_BASE_URL, or run `flowreader model serve`",
        )
    return request.model_copy(update={"settings": request.settings.model_copy(update={"ask": ask})})


def _require_given_pages(arms: Sequence[Arm], benchmark: Benchmark, request: EvaluationRequest) -> None:
    """Raise RequestError where a reader is not given the pages that it goes by, or their number."""
    readers = {arm.reader for arm in arms}
    if "oracle" in readers and not any(question.evidence for question in benchmark.questions):
        what = f"no question of {benchmark.name!r} has evidence pages, which 'oracle' reads"
        raise RequestError(what, "oracle", "leave it out of --reader")
    if "oracle" in readers and request.scope == "corpus":
        raise RequestError("'oracle' reads pages of a question's own documents", "oracle", "leave out --scope corpus")
    if "adjusted" in readers and "agent" not in readers:
        remedy = "--reader agent" if request.what == "ablations" else "--reader adjusted,agent"
        raise RequestError("'adjusted' reads as many pages as 'agent', which is not asked", "adjusted", remedy)


def _require_fittable(plan: EvaluationPlan) -> None:
    documents = set(map(document_of, plan.with_evidence))
    if len(documents) < FEWEST_DOCUMENTS:
        raise RequestError(
            f"nothing can be fitted to {plan.benchmark.name!r}: its {len(plan.with_evidence)} questions with evidence "
            f"pages are of {len(documents)} document",
            plan.benchmark.name,
            f"take questions about at least {FEWEST_DOCUMENTS} documents, better {ENOUGH_DOCUMENTS}",
        )


def work_to_do(plan: EvaluationPlan, corpus: str, arm: Arm) -> tuple[IngestRequest | None, Mapping[str, str]]:
    """Return what must be read in first, None where all is there, and the ids of the benchmark's documents by their names."""
    if plan.request.of_probes:
        return None, _ids_in(corpus)
    request = plan.reading(corpus, arm)
    found = survey_for(request)
    by_path = {file.path: file.document_id for file in found.found.files}
    refused = [f"{item.path!r}: {item.reason}" for item in found.found.skipped]
    if refused:
        raise RequestError(
            f"{len(refused)} documents of {plan.benchmark.name!r} cannot be read ({refused[0]})",
            plan.benchmark.name,
            "put plain files there",
        )
    return (request if found.plan.work else None), {
        name: by_path[os.path.realpath(path)]
        for name, path in plan.benchmark.documents.items()
        if os.path.realpath(path) in by_path
    }


def notes_of(plan: EvaluationPlan, snapshot: Snapshot, ids: Mapping[str, str]) -> tuple[str, ...]:
    """Return what the figures do not show: questions left out, documents that could not be read, evidence that no document has."""
    records = {record.id: record for record in snapshot.documents()}
    asked = sorted({name for question in plan.questions for name in question.documents})
    found = {name: records[ids[name]] for name in asked if ids.get(name) in records}
    unread = [
        f"{name} could not be read, questions about it count as not found: {record.state.value}, {record.reason}"
        for name, record in found.items()
        if record.state is not DocumentState.READY
    ]
    pages = {name: record.pages for name, record in found.items() if record.state is DocumentState.READY}
    beyond = [
        f"{question.id} (page {page} of {name})"
        for question in plan.questions
        for name, page in question.evidence
        if name in pages and not 1 <= page <= pages[name]
    ]
    left_out = sum(not _measurable(question, plan.request, plan.arms) for question in plan.benchmark.questions)
    lacking = "answer written down" if plan.request.of_answers else "evidence pages"
    lacking += ", or no pages for 'oracle'" if plan.request.of_answers and _by_evidence(plan.arms) else ""
    few = len(set(map(document_of, (plan.fitted_on or plan).with_evidence)))
    return (
        *(
            [f"fitted on {few} documents only: weights of fewer than {ENOUGH_DOCUMENTS} may not hold for others"]
            if plan.request.what in {"fit", "transfer"} and few < ENOUGH_DOCUMENTS
            else []
        ),
        *([f"{left_out} of {len(plan.benchmark.questions)} questions are left out: they have no {lacking}"] if left_out else []),
        *unread,
        *([f"{len(beyond)} evidence pages are not in their document: {', '.join(beyond[:SHOWN])}"] if beyond else []),
    )


def variants_of(plan: EvaluationPlan, started: str) -> tuple[str, ...]:
    """Log what is tried on the benchmark, and return how many variants were tried; probes and answers are not used to choose."""
    if plan.request.of_answers or plan.request.of_probes:
        return ()
    count = count_variants(
        evaluations_folder() / "variants.jsonl",
        benchmark=plan.benchmark.hash,
        code=fitting_identity(),
        variants=sorted({arm.variant for arm in plan.arms}),
        started=started,
        what=plan.request.what,
        name=plan.benchmark.name,
    )
    return (f"variant {count} of this benchmark measured here: {count} combinations of settings and code were tried on it",)


def weights_named(dataset: str, benchmark: str) -> dict[str, str]:
    """Return which weights an evaluation went by; the hash of their benchmark, as heads show it, where it is known."""
    return {"weights": dataset, FITTED_ON: benchmark[:SHOWN_DIGITS]}


def require_read(plan: EvaluationPlan, arm: Arm, snapshot: Snapshot) -> None:
    """Raise RequestError where documents are not in the snapshot as the arm wants them read: another wrote to it meanwhile."""
    if plan.request.of_probes:
        return
    request = plan.reading(snapshot.location.name, arm)
    documents = snapshot.documents()
    embedder = embedder_for(snapshot.embedder, request.settings.reading.embedding)
    found = survey(request, look(request), documents, embedder, reader_identity(request.settings))
    versions = {record.id: record.version for record in documents}
    other = [work for work in found.plan.work if versions.get(work.document_id) != work.version]
    if other:
        raise RequestError(
            f"{len(other)} documents of corpus {request.corpus!r} were removed or read differently during the evaluation",
            request.corpus,
            "evaluate again while nothing writes to it, or name another --corpus",
        )


def _ids_in(corpus: str) -> dict[str, str]:
    """Return the ids of all readable documents by the names that probes give them: most of a large corpus have no probe."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        records = snapshot.documents()
    names = names_of(records)
    return {names[record.id]: record.id for record in records if record.state is DocumentState.READY}


def _benchmark(request: EvaluationRequest) -> Benchmark:
    if not request.of_probes:
        if request.dataset is None:
            remedy = "name a folder with documents/ and questions.jsonl"
            remedy += ", or fit to probes of a corpus: --probe" if request.what == "fit" else ""
            raise RequestError(f"`evaluate {request.what}` has no dataset", remedy=remedy)
        return open_benchmark(Path(request.dataset))
    with open_for_reading(corpus_location(probed_corpus(request))) as snapshot:
        probes = make_probes(snapshot, limit=request.limit)
    return with_questions_of_others(probes) if request.what == "fit" else probes


def probed_corpus(request: EvaluationRequest) -> str:
    return request.corpus or "default"


def _measurable(question: BenchmarkQuestion, request: EvaluationRequest, arms: Sequence[Arm]) -> bool:
    if not request.of_answers:
        return bool(question.evidence)
    return question.judgeable and (bool(question.evidence) or not question.answerable or not _by_evidence(arms))


def _by_evidence(arms: Sequence[Arm]) -> bool:
    return any(arm.reader == "oracle" for arm in arms)


def _evenly(questions: Sequence[BenchmarkQuestion], limit: int | None) -> tuple[BenchmarkQuestion, ...]:
    """Return at most `limit` questions, at even distances: the first ones would all be about one document."""
    if limit is None or len(questions) <= limit:
        return tuple(questions)
    return tuple(questions[place * len(questions) // limit] for place in range(limit))
