"""The evaluation flow: from a benchmark, or a corpus's own words, to figures with intervals.

open the exam -> (read in what is missing) -> ask, twenty questions a step -> (judge) -> score -> keep -> show
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled

from flows.ask import answer_one
from flows.ingest import ingest
from flows.interruption import ending_in_order
from storage.asked_questions import AskedQuestions
from storage.disk import check_writable
from storage.evaluation_records import Asked, Evaluation
from storage.evaluations import keep_evaluation
from storage.locations import corpus_location, evaluations_file, home
from storage.snapshot import open_for_reading
from tasks.benchmark_asking import ExamDesk, ask_batch, batches, recalled
from tasks.evaluating import summed_up
from tasks.evaluation_arms import Arm
from tasks.evaluation_request import EvaluationRequest
from tasks.exam import Exam, open_exam, work_to_do
from tasks.lineage import lineage_of_run, working_at
from tasks.models.embedder import open_question_embedder
from tasks.progress import StoppedError
from tasks.reader_choice import chat_server_of, open_reader


@flow(name="evaluate", persist_result=False)
async def evaluate(request: EvaluationRequest) -> Evaluation | State[None]:
    """Ask every question under every arm, and keep and show what that was worth; what an earlier run asked is not asked again."""
    check_writable(home())
    started = datetime.now(UTC).isoformat(timespec="seconds")
    exam = open_exam(request)
    asked: dict[str, Mapping[str, Asked]] = {}
    with ending_in_order():
        try:
            for corpus, arms in exam.by_corpus():
                missing, ids = work_to_do(exam, corpus, arms[0])
                if missing is not None:
                    await ingest(missing)
                asked |= await ask_all(corpus, arms, exam, ids)
        except StoppedError:
            return Cancelled(message=f"stopped; {sum(map(len, asked.values()))} answers are kept, the same command goes on")
    if request.out is not None:
        write_lines(request.out, exam, asked, judged)
    evaluation = summed_up(exam, asked, run_id=flow_run.id, started=started, judged=judged)
    keep_evaluation(evaluations_file(), evaluation)
    await show_in_prefect(evaluation, write_pictures(evaluation))
    return evaluation


async def ask_all(corpus: str, arms: Sequence[Arm], exam: Exam, ids: Mapping[str, str]) -> dict[str, Mapping[str, Asked]]:
    """Ask the questions of one corpus under each arm; return what came of them, by arm and question."""
    location, request = corpus_location(corpus), exam.request
    asked: dict[str, Mapping[str, Asked]] = {}
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
    ):
        for arm in arms:
            embedder = open_question_embedder(snapshot.embedder, models=arm.ask.models)
            with open_reader(chat_server_of(arm.ask), arm.ask, snapshot) as reader:
                desk = ExamDesk(
                    arm=arm,
                    snapshot=snapshot,
                    embedder=embedder,
                    reader=reader,
                    ids=ids,
                    whole_corpus=request.scope == "corpus",
                    kept=AskedQuestions(location.evaluations),
                    answer=answer_one,
                    at_once=request.questions_at_once,
                )
                found = recalled(exam.questions, desk)
                for batch in batches([question for question in exam.questions if question.id not in found]):
                    found |= {one.question_id: one for one in await ask_batch.submit(batch, desk)}
            asked[arm.name] = found
    return asked
