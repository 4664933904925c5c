"""What an evaluation is made of: the benchmark's questions, the arms, and which corpus each arm asks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.evaluation_records import Asked, Benchmark, BenchmarkQuestion
from storage.locations import corpus_location
from storage.snapshot import open_for_reading
from tasks.answer_judging import Judged
from tasks.benchmarks import open_benchmark
from tasks.evaluation_arms import Arm, ablation_arms, reader_arms
from tasks.evaluation_request import EvaluationRequest
from tasks.ingest_request import IngestRequest
from tasks.probing import DEFAULT_LIMIT, make_probes
from tasks.surveying import survey_for

HASH_DIGITS = 8
LONGEST_NAME = 64
PROBE_SEED = 1
"""The same corpus is probed by the same questions, so that two runs can be compared."""


class ExamError(ValueError):
    """An evaluation that cannot be made of what was asked for; the message says what is missing and the remedy."""


@dataclass(frozen=True, slots=True)
class Exam:
    """The questions in their order, and who is to answer them, the reference first."""

    request: EvaluationRequest
    benchmark: Benchmark
    questions: tuple[BenchmarkQuestion, ...]
    arms: tuple[Arm, ...]

    def by_corpus(self) -> Iterator[tuple[str, tuple[Arm, ...]]]:
        """Yield the name of each corpus with the arms that ask it: those that want documents read alike share one."""
        first = self.arms[0]
        for reading in dict.fromkeys(arm.read_alike for arm in self.arms):
            name = corpus_name(self.request, self.benchmark)
            if reading != first.read_alike:
                name = f"{name[: LONGEST_NAME - HASH_DIGITS - 1]}-{reading[:HASH_DIGITS]}"
            yield name, tuple(arm for arm in self.arms if arm.read_alike == reading)

    def reading(self, corpus: str, arm: Arm) -> IngestRequest:
        """Return what reads the benchmark's documents into an arm's corpus."""
        return IngestRequest(paths=tuple(self.benchmark.documents.values()), corpus=corpus, settings=arm.ingest)


@dataclass(frozen=True, slots=True)
class Findings:
    """What came of the questions, and what judges said of the answers, by arm and by question."""

    asked: Mapping[str, Mapping[str, Asked]]
    judged: Mapping[str, Mapping[str, Judged]]

    def joined(self, other: Findings) -> Findings:
        """Return these with those of other arms."""
        return Findings({**self.asked, **other.asked}, {**self.judged, **other.judged})


def open_exam(request: EvaluationRequest) -> Exam:
    """Open the benchmark and lay out the arms; raise ExamError, BenchmarkError or ProbeError where there is nothing to measure."""
    benchmark = _benchmark(request)
    questions = _evenly([one for one in benchmark.questions if _measurable(one, request)], request.limit)
    if not questions:
        wanted = "an answer or are marked as unanswerable" if request.what == "answers" else "evidence pages"
        other = "retrieval" if request.what == "answers" else "answers"
        raise ExamError(
            f"none of the {len(benchmark.questions)} questions of {benchmark.name!r} has {wanted}; "
            f"`flowreader evaluate {other}` needs none"
        )
    if request.what == "ablations":
        return Exam(request, benchmark, questions, ablation_arms(request.settings, request.readers[0], request.only))
    return Exam(request, benchmark, questions, reader_arms(request.readers, request.settings))


def corpus_name(request: EvaluationRequest, benchmark: Benchmark) -> str:
    """Return the corpus asked for, else one of the benchmark's own, apart from the user's documents."""
    if request.what == "probe":
        return probed_corpus(request)
    own = re.sub(r"[^A-Za-z0-9._-]+", "-", f"evaluate-{benchmark.name}")
    return request.corpus or own[:LONGEST_NAME]


def work_to_do(exam: Exam, corpus: str, arm: Arm) -> tuple[IngestRequest | None, Mapping[str, str]]:
    """Return what must be read in first, None where all is there, and the ids of the benchmark's documents by their names."""
    if exam.request.what == "probe":
        return None, _ids_in(corpus, exam.benchmark)
    request = exam.reading(corpus, arm)
    found = survey_for(request)
    by_path = {file.path: file.document_id for file in found.found.files}
    refused = [f"{item.path!r}: {item.reason}" for item in found.found.skipped]
    if refused:
        raise ExamError(
            f"{len(refused)} documents of {exam.benchmark.name!r} cannot be read in ({refused[0]}); put plain files there"
        )
    return (request if found.plan.work else None), {
        name: by_path[os.path.realpath(path)] for name, path in exam.benchmark.documents.items()
    }


def _ids_in(corpus: str, benchmark: Benchmark) -> dict[str, str]:
    """Return the ids of documents by where they were read from: the files themselves may be gone."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        by_path = {path: record.id for record in snapshot.documents() for path in record.paths}
    return {name: by_path[path] for name, path in benchmark.documents.items()}


def _benchmark(request: EvaluationRequest) -> Benchmark:
    if request.what != "probe":
        if request.dataset is None:
            raise ExamError(f"`evaluate {request.what}` has no dataset; name a folder with documents/ and questions.jsonl")
        return open_benchmark(Path(request.dataset))
    with open_for_reading(corpus_location(probed_corpus(request))) as snapshot:
        return make_probes(snapshot, limit=request.limit or DEFAULT_LIMIT, seed=PROBE_SEED)


def probed_corpus(request: EvaluationRequest) -> str:
    """Return the corpus that probes are made from and asked of."""
    return request.corpus or "default"


def _measurable(question: BenchmarkQuestion, request: EvaluationRequest) -> bool:
    if request.what == "answers":
        return bool(question.answers) or not question.answerable
    return bool(question.evidence)


def _evenly(questions: Sequence[BenchmarkQuestion], limit: int | None) -> tuple[BenchmarkQuestion, ...]:
    """Return at most so many, at even distances: the first ones would all be of one document."""
    if limit is None or len(questions) <= limit:
        return tuple(questions)
    return tuple(questions[place * len(questions) // limit] for place in range(limit))
