"""The evaluation flow: from a benchmark, or a corpus's own words, to figures with intervals.

plan -> (read in what is missing) -> ask, twenty questions a step -> (judge) -> score -> keep -> show
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from prefect import flow
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.exceptions import CancelledRun, FailedRun
from prefect.runtime import flow_run
from prefect.states import Cancelled, Failed

from flows.ask import answer_one
from flows.ingest import ingest
from flows.prefect_runs.interruption import end_in_order
from flows.prefect_runs.labels import name_measuring_run, tag_run
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.evaluations import keep_evaluation
from storage.locations import corpus_location, evaluations_file, home
from storage.records.evaluations import Asked, Evaluation
from storage.runs.asked_questions import AskedQuestions
from storage.system import check_writable
from storage.text import as_markdown
from tasks.asking.weights import model_of, write_weights
from tasks.evaluation.arms import WEIGHTS_FILE, Arm, EvaluationRequest
from tasks.evaluation.asking import EvaluationContext, ask_batch, batches, models_of, recall_asked, sizes_for, why_absent
from tasks.evaluation.figures import sum_up
from tasks.evaluation.judging import ModelJudge, judge_batch, notes_on_judge, open_judge
from tasks.evaluation.lines import write_lines
from tasks.evaluation.pictures import write_pictures
from tasks.evaluation.plan import (
    EvaluationPlan,
    Results,
    notes_of,
    plan_evaluation,
    require_read,
    variants_of,
    work_to_do,
)
from tasks.evaluation.scoring import Judged
from tasks.evaluation.sizing import fit_weights, weights_of_flow
from tasks.lineage.writing import lineage_of_run, working_at
from tasks.models.chat.errors import ChatEndedError
from tasks.models.embedding.embedder import open_question_embedder
from tasks.progress import StoppedError, report
from tasks.reading.choice import chat_server_of, open_reader
from tasks.views.evaluations import evaluation_markdown

ask_unkept = partial(answer_one, recorded=False)
"""A removal finds an evaluation's answers here, apart from the user's."""


@flow(name="evaluate", flow_run_name=name_measuring_run, persist_result=False)
async def evaluate(request: EvaluationRequest) -> Evaluation | State[None]:
    """Ask every question under every arm, keep and show the figures; reuse what an earlier run asked."""
    check_writable(home())
    started = datetime.now(UTC).isoformat(timespec="seconds")
    plan = plan_evaluation(request)
    await tag_run(request.table or request.what, *dict.fromkeys(arm.reader for arm in plan.arms))
    with end_in_order():
        try:
            weights = weights_of_flow(plan.fitted_on, await ask_plan(plan.fitted_on)) if plan.fitted_on else None
            found = await ask_plan(plan)
        except (StoppedError, CancelledRun):
            return Cancelled(message="stopped; what was asked is kept, the same command goes on")
        except (ChatEndedError, FailedRun) as error:
            return Failed(message=str(error))
    if request.what == "fit":
        write_weights(Path(request.out or WEIGHTS_FILE), fit_weights(plan, found))
    elif request.out is not None:
        write_lines(request.out, plan, found)
    found = found.merge(Results(notes=variants_of(plan, started)))
    evaluation = sum_up(plan, found, run_id=str(flow_run.id), started=started, weights=weights)
    keep_evaluation(evaluations_file(), evaluation)
    await show_in_prefect(evaluation, write_pictures(evaluation))
    return evaluation


async def ask_plan(plan: EvaluationPlan) -> Results:
    """Read in what is missing, and ask every question under every arm."""
    found = Results()
    for corpus, arms in plan.by_corpus():
        missing, ids = work_to_do(plan, corpus, arms[0])
        if missing is not None:
            await ingest(missing)
        found = found.merge(await ask_corpus(corpus, arms, plan, ids))
    return found


async def ask_corpus(corpus: str, arms: Sequence[Arm], plan: EvaluationPlan, ids: Mapping[str, str]) -> Results:
    """Ask the questions of one corpus under each arm, and judge the answers where that is asked for."""
    location, request = corpus_location(corpus), plan.request
    with (
        open_for_reading(location) as snapshot,
        lineage_of_run(
            location,
            parameters=request.model_dump(mode="json", exclude={"settings"}),
            settings=request.settings.model_dump(mode="json"),
            run_id=str(flow_run.id),
            snapshot=lambda: snapshot.number,
        ) as place,
        working_at(place),
        open_judge(request, corpus, place) as judge,
    ):
        require_read(plan, arms[0], snapshot)
        found = Results(notes=notes_of(plan, snapshot, ids))
        for arm in sorted(arms, key=lambda one: one.reader == "adjusted"):  # it goes by what another reader read
            found = found.merge(await ask_all(arm, snapshot, plan, ids, judge, sizes_for(arm, arms, found)))
            if request.of_answers and arm.name in found.asked:
                judged = await judge_all(found.asked[arm.name], plan, judge)
                found = found.merge(Results(judged={arm.name: judged}, notes=notes_on_judge(judge, found.models)))
    return replace(found, asked={arm.name: found.asked[arm.name] for arm in arms if arm.name in found.asked})


async def ask_all(
    arm: Arm,
    snapshot: Snapshot,
    plan: EvaluationPlan,
    ids: Mapping[str, str],
    judge: ModelJudge | None,
    sizes: Mapping[str, int],
) -> Results:
    """Return what came of each question under an arm, of this run or an earlier one; a note alone where it cannot be asked."""
    embedder = open_question_embedder(snapshot.embedder, models=arm.ask.models)
    kept, whole = AskedQuestions(snapshot.location.evaluations), arm.whole_corpus
    with open_reader(chat_server_of(arm.ask, arm.reader), arm.ask, snapshot) as reader:
        if plan.request.of_answers and (why := why_absent(arm, reader)):
            return Results(notes=(f"{arm.name_once} is not here: {why}",))
        at_once = plan.request.questions_at_once
        context = EvaluationContext(arm, snapshot, embedder, reader, ids, whole, kept, ask_unkept, at_once, sizes)
        asked = recall_asked(plan.questions, context)
        report(arm.name, "ask", len(asked), len(plan.questions))
        for batch in batches([question for question in plan.questions if question.id not in asked]):
            asked |= {one.question_id: one for one in await ask_batch.submit(batch, context)}
        models = models_of(context, plan.request, judge.model.name if judge else "")
        of_weights = model_of(snapshot.embedder)
        return Results({arm.name: asked}, {}, snapshot.number, models, embedder=of_weights)


async def judge_all(asked: Mapping[str, Asked], plan: EvaluationPlan, judge: ModelJudge | None) -> Mapping[str, Judged]:
    judged: dict[str, Judged] = {}
    for batch in batches(plan.questions):
        answered = [(question, asked[question.id]) for question in batch]
        judged |= {one.question_id: one for one in await judge_batch.submit(answered, judge)}
    return judged


async def show_in_prefect(evaluation: Evaluation, pictures: Sequence[Path]) -> None:
    """Leave a page with tables and pictures with the run."""
    await acreate_markdown_artifact(
        key=f"evaluate-{evaluation.what}-" + re.sub(r"[^a-z0-9-]", "-", evaluation.benchmark.lower()),
        markdown=evaluation_markdown(evaluation, pictures),
        description=as_markdown(f"Evaluation of {evaluation.what}: {evaluation.benchmark}"),
    )
