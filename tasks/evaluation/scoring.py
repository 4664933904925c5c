"""What each question was worth.

Of a retrieval: its ranking, its evidence, and what rankings cut to as many pages would have found.
Of an answer: whether it is right, where a model gave it, else whether the quotes show it; whether it cites the right page, or
refused rightly; what it cost.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from storage.records.answers import AnswerStatus
from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion, Figure, PageOf
from tasks.algorithms.metrics.answers import MatchKind
from tasks.algorithms.metrics.benchmark_scores import Rules, anls, anls_of_lists, benchmark_score, f1_score, word_scores
from tasks.algorithms.metrics.bootstrap import resampled_interval
from tasks.algorithms.metrics.rankings import (
    cut_of_mean,
    irrelevant_ratio,
    perfect_recall,
    ranking_metrics,
    recall,
    recall_at_mean,
)
from tasks.settings.readers import Reader

ALL = "all"
"""All questions, as a group of them."""
CONFIDENCE = 0.95
RATIO_RESAMPLES = 1_000
"""For what is no mean over questions: each resample is counted anew."""
SEED = 20260606
"""The same intervals every time: a figure that moves by itself cannot be compared."""
CUTOFFS = (1, 3, 5, 10)
FLOW: Reader = "flow"
BASELINE: Reader = "top-k"
PERFECT, IRRELEVANT, RETURNED, READABLE = "perfect recall", "irrelevant pages", "pages returned", "has a readable document"
RECALLED = "recall of the evidence"
OWN, GAIN = "own ranking", "gain over "
CUTS = SAME_EACH, CONST = "same each", "const"
"""Cut to the set's number question by question; at the one number that keeps the set's mean over all questions."""
AT_FLOW = "whole at flow's number"
OWN_IRRELEVANT = f"{IRRELEVANT} of {OWN}, {SAME_EACH}"

CORRECT = "accuracy"
PROVEN = "right with proof"
BY_THE_RULES = "accuracy by rules"
STRICT = "accuracy by rules, word for word, number or list"
ANSWERED, PRECISION = "answered where there is an answer", "right where an answer is given"
UNANSWERED = "without an answer of the model that counts"
CITED = "a cited page holds the answer"
REFUSED_RIGHTLY = "abstained where there is no answer"
REFUSED_WRONGLY = "abstained where there is an answer"
BY_MODEL = "judged by the model"
JUDGE_CALLS, JUDGE_COST = "calls of the judge", "cost of the judge"
GATE_OPENED, REFLECTIONS = "gate opened", "reflections"
RIGHT_REFLECTED = "right where it reflected"
SHOWN, SHOWN_FIRST = "answer stands in a quote", "answer stands in the first quote"
WORDS_SHOWN = "words shown"
ANLS, ANLS_OF_ALL = "ANLS", "ANLS by DUDE's rules"
SAME_WORDS, WORDS_F1 = "exact match by SlideVQA's rules", "F1 of words by SlideVQA's rules"
TO_THE_WORD = {MatchKind.EXACT, MatchKind.NUMERIC, MatchKind.LIST}
BY_RULES = "rules"

AskedBy = Mapping[str, Mapping[str, Asked]]
"""What came of the questions, by arm and by question."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether an answer is right.

    `by` is "rules" or the name of the model that judged; `kind` is what the rules found in either case. `reason` is the
    model's, or the error that it ended with. `calls` were sent for it: none where its verdict was known.
    """

    question_id: str
    correct: bool
    by: str
    kind: MatchKind
    reason: str = ""
    calls: int = 0
    cost: float = 0.0


def gain_over(ranking: str, cut: str) -> str:
    return f"{GAIN}{ranking}, {cut}"


def perfect_by(ranking: str, cut: str) -> str:
    return f"{PERFECT} of {ranking}, {cut}"


def accuracy_by(rules: Rules) -> str:
    return f"accuracy by {rules}'s rules"


def f1_by(rules: Rules) -> str:
    return f"F1 by {rules}'s rules"


def difference_of(metric: str) -> str:
    return f"{metric}, difference"


def deviation_of(metric: str) -> str:
    return f"{metric}, deviation over the repeats"


BY_WEIGHTS = frozenset(
    (
        *(PERFECT, RECALLED, IRRELEVANT, RETURNED, OWN_IRRELEVANT),
        *(name(ranking, cut) for name in (gain_over, perfect_by) for ranking in (OWN, BASELINE) for cut in CUTS),
        *(CORRECT, PROVEN, BY_THE_RULES, STRICT, ANSWERED, PRECISION, CITED, REFUSED_RIGHTLY, REFUSED_WRONGLY),
        *(SHOWN, SHOWN_FIRST, WORDS_SHOWN, ANLS, ANLS_OF_ALL, SAME_WORDS, WORDS_F1),
        *(f1_by(Rules.MMLONGBENCH), *map(accuracy_by, Rules)),
    )
)
"""What depends on the weights of the probabilities: how many pages are read, and what is refused."""


def document_of(question: BenchmarkQuestion) -> str:
    """Return the document that a question stands or falls with: that of its evidence, else the last, where loaders put it."""
    return question.evidence[0][0] if question.evidence else question.documents[-1]


def score_retrieval(questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> pl.DataFrame:
    """Score every arm on the questions whose evidence is known, in their order."""
    measured = [question for question in questions if question.evidence]
    return _frame_of_scores(worth for arm in asked if measured for worth in _worths_of_arm(arm, measured, asked))


def _frame_of_scores(worths: Iterable[tuple[str, BenchmarkQuestion, Mapping[str, float]]]) -> pl.DataFrame:
    """Return a frame of scores from what the questions were worth under arms, by metric."""
    rows = [
        (arm, question.id, document_of(question), metric, value)
        for arm, question, values in worths
        for metric, value in values.items()
    ]
    return pl.DataFrame(rows, schema=SCORED, orient="row")


def _worths_of_arm(
    arm: str, questions: Sequence[BenchmarkQuestion], asked: AskedBy
) -> Iterator[tuple[str, BenchmarkQuestion, Mapping[str, float]]]:
    own = asked[arm]
    rivals = {OWN: own} | ({BASELINE: asked[BASELINE]} if BASELINE in asked and arm != BASELINE else {})
    cuts = {name: _cut(rival, own, questions) for name, rival in rivals.items()}
    for question in questions:
        rankings = {name: rival[question.id].ranked for name, rival in rivals.items()}
        yield arm, question, _worth(question, own[question.id], rankings, cuts)


def _cut(rival: Mapping[str, Asked], own: Mapping[str, Asked], questions: Sequence[BenchmarkQuestion]) -> float:
    """Return where to cut a rival's rankings so that they keep as many pages as the sets on average, all where there are fewer."""
    lengths = np.array([len(rival[question.id].ranked) for question in questions], dtype=np.int64)
    mean = float(np.mean([len(own[question.id].evidence) for question in questions]))
    return cut_of_mean(lengths=lengths, mean=min(mean, float(lengths.mean())))


def _worth(
    question: BenchmarkQuestion, own: Asked, rankings: Mapping[str, Sequence[PageOf]], cuts: Mapping[str, float]
) -> Mapping[str, float]:
    gold, pages = question.evidence, len(own.evidence)
    whole = perfect_recall(returned=own.evidence, gold=gold)
    values = ranking_metrics(ranked=own.ranked, gold=gold, cutoffs=CUTOFFS) | {
        PERFECT: whole,
        RECALLED: recall(returned=own.evidence, gold=gold),
        IRRELEVANT: irrelevant_ratio(returned=own.evidence, gold=gold),
        RETURNED: float(pages),
        READABLE: float(bool(own.ranked)),
        "seconds": own.seconds,
        OWN_IRRELEVANT: irrelevant_ratio(returned=own.ranked[:pages], gold=gold),
    }
    for name, ranked in rankings.items():
        at_number = perfect_recall(returned=ranked[:pages], gold=gold)
        at_const = recall_at_mean(ranked=ranked, gold=gold, mean_pages=cuts[name])
        for cut, found in zip(CUTS, (at_number, at_const), strict=True):
            values |= {perfect_by(name, cut): found, gain_over(name, cut): whole - found}
    return values


def score_at_flow(questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> pl.DataFrame:
    """Score the pages that more readers than the baseline read first, as many as flow returned: its set, then its ranking.

    What flow and the baseline gain over each other there is among their gains.
    """
    compared = asked if FLOW in asked and not asked.keys() <= {FLOW, BASELINE} else {}
    return _frame_of_scores(
        (arm, question, _worth_at_flow(question, arm, found[question.id], asked[FLOW][question.id].evidence))
        for arm, found in compared.items()
        for question in questions
    )


def _worth_at_flow(question: BenchmarkQuestion, arm: str, own: Asked, flow: Sequence[PageOf]) -> Mapping[str, float]:
    order = tuple(dict.fromkeys((*own.evidence, *own.ranked)))
    at_flow, of_flow = (perfect_recall(returned=pages, gold=question.evidence) for pages in (order[: len(flow)], flow))
    return {AT_FLOW: at_flow} | ({difference_of(AT_FLOW): at_flow - of_flow} if arm != FLOW else {})


def score_answers(
    questions: Sequence[BenchmarkQuestion], asked: AskedBy, judged: Mapping[str, Mapping[str, Judged]], *, by_model: bool
) -> pl.DataFrame:
    """Score every arm; whether an answer is right is measured where a model reads: rules quote, and answer nothing."""
    return _frame_of_scores(
        (arm, question, _worth_of_answer(question, found[question.id], judged[arm][question.id], by_model=by_model))
        for arm, found in asked.items()
        for question in questions
    )


def is_right_with_proof(asked: Asked, judged: Judged) -> bool:
    """Say whether an answer is right and proven, all of it or a part; a right refusal needs no proof."""
    proven = asked.status in {AnswerStatus.ANSWERED, AnswerStatus.PARTIAL}
    return judged.correct and (proven or judged.kind is MatchKind.ABSTAINED)


def _worth_of_answer(question: BenchmarkQuestion, asked: Asked, judged: Judged, *, by_model: bool) -> Mapping[str, float]:
    refused = judged.kind is MatchKind.ABSTAINED
    rightly_refused = refused and not question.answerable
    to_the_word = rightly_refused or judged.kind in TO_THE_WORD
    right = {
        CORRECT: float(judged.correct),
        PROVEN: float(is_right_with_proof(asked, judged)),
        BY_THE_RULES: float(to_the_word or judged.kind is MatchKind.CONTAINED),
        STRICT: float(to_the_word),
        **({RIGHT_REFLECTED: float(judged.correct)} if asked.counts.get(REFLECTIONS) else {}),
    }
    return {
        **(right | {UNANSWERED: float(asked.unanswered)} if by_model else {}),
        **({ANSWERED: float(bool(asked.answer))} if question.answerable else {}),
        **({PRECISION: float(judged.correct)} if asked.answer else {}),
        **({CITED: float(not set(question.evidence).isdisjoint(asked.cited))} if question.evidence else {}),
        (REFUSED_WRONGLY if question.answerable else REFUSED_RIGHTLY): float(refused),
        **({BY_MODEL: float(judged.by != BY_RULES)} if judged.by != BY_RULES or judged.reason else {}),
        **dict(sorted(asked.counts.items())),
        **(_cost(asked) if not asked.cached else {}),
        **({JUDGE_CALLS: float(judged.calls), JUDGE_COST: judged.cost} if judged.calls else {}),
    }


def _cost(asked: Asked) -> Mapping[str, float]:
    """Return what an answer took; it is not known of an answer that kept replies helped with."""
    return {
        "calls": float(asked.calls),
        "input tokens": float(asked.input_tokens),
        "output tokens": float(asked.output_tokens),
        "cost": asked.cost,
        "seconds": asked.seconds,
    }


def score_shown(questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> pl.DataFrame:
    """Score whether the quotes show the answer, where its pages are known and it can stand in a text."""
    return _frame_of_scores(
        (arm, question, _worth_of_quotes(found[question.id]))
        for arm, found in asked.items()
        for question in questions
        if question.evidence
    )


def _worth_of_quotes(asked: Asked) -> Mapping[str, float]:
    if asked.answer_shown is None or asked.answer_first is None:
        return {}
    return {SHOWN: float(asked.answer_shown), SHOWN_FIRST: float(asked.answer_first), WORDS_SHOWN: float(asked.words_shown)}


def score_by_benchmarks(
    questions: Sequence[BenchmarkQuestion], asked: AskedBy, judged: Mapping[str, Mapping[str, Judged]]
) -> tuple[pl.DataFrame, tuple[Figure, ...]]:
    """Score a model's answers by the rules of published benchmarks; F1, which is no mean over questions, stands apart.

    ANLS is of answerable questions that ask for no list, DUDE's of all. It, accuracy and F1 need questions that say in which format
    they are answered; SlideVQA's rules are for the others.
    """
    formatted = any(question.answer_format for question in questions)
    worths = {
        arm: [_worth_by_benchmarks(one, found[one.id], judged[arm][one.id], formatted=formatted) for one in questions]
        for arm, found in asked.items()
    }
    scored = _frame_of_scores((arm, *each) for arm, worth in worths.items() for each in zip(questions, worth, strict=True))
    f1 = (_f1(arm, questions, worth, judged[arm]) for arm, worth in worths.items() if formatted)
    return scored, tuple(f1)


def _worth_by_benchmarks(question: BenchmarkQuestion, asked: Asked, judged: Judged, *, formatted: bool) -> Mapping[str, float]:
    abstained = judged.kind is MatchKind.ABSTAINED
    given = "" if abstained or judged.kind is MatchKind.UNREAD else asked.answer
    values = {}
    for rules in Rules if formatted else ():
        score = benchmark_score(given=given, answers=question.answers, answer_format=question.answer_format, rules=rules)
        values[accuracy_by(rules)] = score if question.answerable else float(abstained)
    alike = anls_of_lists if question.answer_format == "List" else anls
    likeness = alike(given=given, answers=question.answers) if question.answerable else float(abstained)
    if question.answerable and question.answer_format != "List":
        values[ANLS] = likeness
    if formatted:
        values[ANLS_OF_ALL] = likeness
    elif question.answerable:
        values[SAME_WORDS], values[WORDS_F1] = word_scores(given=given, answers=question.answers, question=question.text)
    return values


def _f1(
    arm: str, questions: Sequence[BenchmarkQuestion], worths: Sequence[Mapping[str, float]], judged: Mapping[str, Judged]
) -> Figure:
    """Return the F1 by the rules of MMLongBench-Doc; an answer that was not read does not abstain."""
    scores = np.array([worth[accuracy_by(Rules.MMLONGBENCH)] for worth in worths])
    answerable = np.array([float(question.answerable) for question in questions])
    given = np.array([float(judged[question.id].kind is not MatchKind.ABSTAINED) for question in questions])
    names, clusters = np.unique([document_of(question) for question in questions], return_inverse=True)
    interval = resampled_interval(
        lambda drawn: f1_score(scores=scores[drawn], answerable=answerable[drawn], given=given[drawn]),
        clusters=clusters,
        resamples=RATIO_RESAMPLES,
        confidence=CONFIDENCE,
        seed=SEED,
    )
    return Figure(arm, ALL, f1_by(Rules.MMLONGBENCH), *interval, len(questions), len(names))
