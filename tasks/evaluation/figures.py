"""From questions to figures: means with intervals over documents, for all questions and for parts of them."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from storage.artifacts import write_durably
from storage.records.documents import identify
from storage.records.evaluations import Asked, BenchmarkQuestion, Evaluation, Figure, PageOf, Scored
from tasks.algorithms.metrics.bootstrap import Interval, bootstrap_interval
from tasks.evaluation.arms import FULL
from tasks.evaluation.asking import code_identity
from tasks.evaluation.exam import Exam, ExamError, Findings
from tasks.evaluation.scoring import (
    BASELINE,
    CORRECT,
    CUTOFFS,
    CUTS,
    OWN,
    PERFECT,
    REFUSED_RIGHTLY,
    REFUSED_WRONGLY,
    RETURNED,
    SAME_NUMBER,
    Judged,
    gain_over,
    scored_answers,
    scored_retrieval,
)


def check_out(path: str | None) -> None:
    """Refuse, before the work, a file that cannot be written; raise ExamError."""
    if path is None:
        return
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ExamError(f"folder {str(folder)!r} does not exist; make it, or name a file in a folder that exists")
    if Path(path).is_dir():
        raise ExamError(f"{path!r} is a folder; name a file for the lines")


def write_lines(path: str, exam: Exam, found: Findings) -> None:
    told = (
        _answer_line(question, arm, asked[question.id], found.judged[arm][question.id])
        if exam.request.what == "answers"
        else _page_line(question, arm, asked[question.id], exam)
        for arm, asked in found.asked.items()
        for question in exam.questions
    )
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    write_durably(Path(path).absolute(), lines.encode("utf-8", "backslashreplace"))


def _page_line(question: BenchmarkQuestion, arm: str, asked: Asked, exam: Exam) -> dict[str, Any]:
    alone = exam.request.scope == "document" and len(question.documents) == 1
    return {
        "id": question.id,
        "reader": arm,
        "question": question.text,
        "ranked_pages": list(_pages(asked.ranked, alone)),
        "evidence_pages_returned": list(_pages(asked.evidence, alone)),
        "gold_pages": list(_pages(question.evidence, alone)),
        "seconds": asked.seconds,
        "key": identify(exam.benchmark.hash, asked.key),
    }


def _answer_line(question: BenchmarkQuestion, arm: str, asked: Asked, judged: Judged) -> dict[str, Any]:
    return {
        "id": question.id,
        "reader": arm,
        "question": question.text,
        "answer": asked.answer,
        "status": asked.status,
        "gold": list(question.answers),
        "answerable": question.answerable,
        "correct": judged.correct,
        "judged_by": judged.by,
        "kind": judged.kind.value,
        "reason": judged.reason,
        "cited_pages": [list(page) for page in asked.cited],
        "calls": asked.calls,
        "input_tokens": asked.input_tokens,
        "output_tokens": asked.output_tokens,
        "cost": asked.cost,
        "seconds": asked.seconds,
    }


def _pages(pages: Sequence[PageOf], alone: bool) -> Iterator[int | list[str | int]]:
    for document, page in pages:
        yield page if alone else [document, page]


ALL = "all"
CONFIDENCE = 0.95
SEED = 20260606
"""The same intervals every time: a figure that moves by itself cannot be compared."""
FEWEST_DOCUMENTS = 2
"""One document, drawn anew, is always itself: its interval is a point, and that is no certainty."""


def groups_of(question: BenchmarkQuestion) -> tuple[str, ...]:
    pages = {0: (), 1: ("one page",)}.get(len(set(question.evidence)), ("several pages",))
    sources = tuple(f"source: {source}" for source in dict.fromkeys(question.evidence_sources))
    return (ALL, *pages, *sources, *((f"type: {question.document_type}",) if question.document_type else ()))


def figures_of(
    scored: Sequence[Scored],
    groups: Mapping[str, Sequence[str]],
    *,
    resamples: int,
    in_groups: Collection[str],
) -> tuple[Figure, ...]:
    """Return the mean of each metric for each arm, and of those that are named `in_groups` also for each part of the questions.

    `groups` are the parts of each question, by its id, `ALL` first. A metric that a question lacks is not measured on it.
    """
    values: dict[tuple[str, str, str], list[tuple[float, str]]] = defaultdict(list)
    for one in scored:
        for metric, value in one.values.items():
            for group in groups[one.question_id] if metric in in_groups else (ALL,):
                values[one.arm, group, metric].append((value, one.document))
    figures = []
    for name, found in values.items():
        interval, documents = mean_with_interval(found, resamples)
        figures.append(Figure(*name, interval.mean, interval.low, interval.high, len(found), documents))
    return tuple(figures)


def mean_with_interval(values: Sequence[tuple[float, str]], resamples: int) -> tuple[Interval, int]:
    """Return the mean of values that stand in documents, drawn anew `resamples` times, and how many documents there are."""
    numbers = {document: number for number, document in enumerate(dict.fromkeys(document for _, document in values))}
    interval = bootstrap_interval(
        values=np.array([value for value, _ in values], dtype=np.float64),
        clusters=np.array([numbers[document] for _, document in values], dtype=np.int64),
        resamples=resamples,
        confidence=CONFIDENCE,
        seed=SEED,
    )
    return interval, len(numbers)


def difference_of(metric: str) -> str:
    return f"{metric}, difference"


def more_than_luck(*, low: float, high: float, documents: int) -> bool:
    """Say whether a mean difference with this interval is no luck: it leaves out zero, and several documents were drawn from."""
    return documents >= FEWEST_DOCUMENTS and (low > 0.0 or high < 0.0)


ABLATED = ("recall@1", "recall@3", "recall@5", PERFECT, RETURNED, gain_over(OWN, SAME_NUMBER))
IN_GROUPS: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("recall@1", "recall@5", PERFECT, *(gain_over(ranking, cut) for ranking in (OWN, BASELINE) for cut in CUTS)),
    "answers": (CORRECT, REFUSED_RIGHTLY, REFUSED_WRONGLY),
    "ablations": (PERFECT, difference_of(PERFECT)),
    "probe": tuple(f"recall@{cutoff}" for cutoff in CUTOFFS),
}
"""Metrics that are told for parts of the questions, too; the others would only make the tables long."""


def summed_up(exam: Exam, found: Findings, *, run_id: str, started: str) -> Evaluation:
    if exam.request.what == "answers":
        scored = scored_answers(exam.questions, found.asked, found.judged)
    else:
        scored = scored_retrieval(exam.questions, found.asked)
    if exam.request.what == "ablations":
        scored = with_differences(scored)
    return Evaluation(
        run_id=run_id,
        what=exam.request.what,
        started=started,
        benchmark=exam.benchmark.name,
        benchmark_hash=exam.benchmark.hash,
        corpus=next(exam.by_corpus())[0],
        snapshot=found.snapshot,
        scope=exam.request.scope,
        code=code_identity(),
        settings=exam.request.settings.model_dump(mode="json"),
        figures=_figures(exam, scored),
        scored=scored,
        models=found.models,
        notes=found.notes,
    )


def with_differences(scored: Sequence[Scored]) -> tuple[Scored, ...]:
    """Return the scores with, beside each ablation's, what the question was worth more, or less, than under the whole method."""
    whole = {one.question_id: one.values for one in scored if one.arm == FULL}
    compared = []
    for one in scored:
        if one.arm != FULL:
            by = {difference_of(metric): one.values[metric] - whole[one.question_id][metric] for metric in ABLATED}
            one = replace(one, values={**one.values, **by})
        compared.append(one)
    return tuple(compared)


def _figures(exam: Exam, scored: Sequence[Scored]) -> tuple[Figure, ...]:
    groups = {question.id: groups_of(question) for question in exam.questions}
    what = exam.request.what
    if what == "ablations":
        # A column for each source and type of thirty arms would be read by nobody.
        groups = {name: tuple(group for group in found if ":" not in group) for name, found in groups.items()}
    return figures_of(scored, groups, resamples=exam.request.resamples, in_groups=IN_GROUPS[what])
