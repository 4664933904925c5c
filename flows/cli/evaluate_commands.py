"""The commands `flowreader evaluate`. Only measuring needs Prefect."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_core import to_jsonable_python
from rich.console import Console

from flows.display.output import Output
from flows.display.progress import every, format_seconds, print_news
from storage.errors import RequestError
from storage.evaluations import find_evaluation, list_evaluations
from storage.locations import corpus_location, evaluations_file
from storage.records.evaluations import BenchmarkQuestion, Evaluation
from storage.text import counted, list_names, minute
from tasks.events import CallEnded, Event, subscribe
from tasks.models.chat.errors import Outcome
from tasks.progress import Progress, listening, stop_requested
from tasks.settings.ask import load_settings, set_values
from tasks.settings.base import change_settings
from tasks.settings.readers import READER_OF_PRESET

if TYPE_CHECKING:
    from tasks.evaluation.arms import EvaluationRequest
    from tasks.evaluation.plan import EvaluationPlan

WELL, STOPPED = 0, 130
ARMS_SHOWN = 2
"""Of thirty ablations; the first is the whole method."""
NAMED_ALIKE = (
    *("what", "dataset", "fitted_on", "corpus", "scope", "limit", "only", "out", "judge", "repeats", "probe"),
    *("table", "answers"),
)
MOVED = ("arm", "metric", "before", "after", "difference (95 %)", "")


def evaluate(arguments: argparse.Namespace, output: Output) -> int:
    request = _request(arguments)
    plan = _plan(request, estimated=arguments.estimate)
    if request.what == "table":
        _show_work(plan, output, alone=arguments.estimate)
    if arguments.estimate:
        return WELL
    evaluation = _measure(plan, output)
    if evaluation is None:
        output.side.print("finished questions are kept; the same command goes on with the rest", markup=False)
        return STOPPED
    _show(evaluation, output, plan.questions if request.what == "probe" else ())
    if request.what == "fit":
        _show_fitted(request.out, output)
    elif request.out is not None:
        output.side.print(f"a line for each question is in {request.out}", markup=False, soft_wrap=True)
    return WELL


def _show_work(plan: EvaluationPlan, output: Output, *, alone: bool) -> None:
    """Show what a table takes: what is left to read in, and how often its questions may ask a model."""
    from flows.readers import most_calls
    from tasks.ingest.estimate import estimate
    from tasks.ingest.request import survey_for

    left = [estimate(survey_for(plan.reading(corpus, arms[0])).plan.work, arms[0].ingest) for corpus, arms in plan.by_corpus()]
    calls = sum(most_calls(arm.reader, arm.ask) for arm in plan.arms)
    named = ("documents", "pages", "calls", "input_tokens", "output_tokens")
    work = {name: sum(getattr(one, name) for one in left) for name in named}
    work |= {"questions": len(plan.questions), "rows": len(plan.arms), "most_calls_of_questions": calls * len(plan.questions)}
    work["notes"] = plan.request.published.unprinted(plan.benchmark.name) if plan.request.published else ()
    if not output.as_json:
        output.show("table_work.j2", work=work)
    elif alone:
        output.data(work)


def _show_fitted(out: str | None, output: Output) -> None:
    from tasks.evaluation.arms import WEIGHTS_FILE

    path = Path(out or WEIGHTS_FILE)
    output.side.print(
        f"the weights are in {path}; to use them, ask with --settings FILE.toml, a file that says\n\n"
        f"[ask]\nweights = {json.dumps(str(path.absolute()))}\n",
        markup=False,
        soft_wrap=True,
    )


def _plan(request: EvaluationRequest, *, estimated: bool) -> EvaluationPlan:
    """Open what is to be measured, and refuse what cannot be before Prefect takes seconds to start."""
    from tasks.evaluation.arms import WEIGHTS_FILE
    from tasks.evaluation.judging import judge_server
    from tasks.evaluation.lines import check_out
    from tasks.evaluation.plan import plan_evaluation
    from tasks.reading.choice import chat_server_of

    check_out(request.out or (WEIGHTS_FILE if request.what == "fit" else None))
    plan = plan_evaluation(request)
    for corpus, _arms in plan.by_corpus():
        corpus_location(corpus)
    judge_server(request)
    for arm in () if estimated else plan.arms:
        chat_server_of(arm.ask, arm.reader)
    return plan


def _measure(plan: EvaluationPlan, output: Output) -> Evaluation | None:
    """Run the evaluation and show its progress; return None if the user stopped it."""
    from flows.cli.run import RunEndedError, run_evaluation

    with show_progress(len(plan.questions) * len(plan.arms), console=output.side, quiet=output.as_json):
        try:
            return run_evaluation(plan.request)
        except RunEndedError as error:
            raise RequestError(str(error), remedy="the same command goes on with the rest") from error


def _request(arguments: argparse.Namespace) -> EvaluationRequest:
    from tasks.evaluation.arms import EvaluationRequest
    from tasks.evaluation.tables.published import find_table

    table, own = find_table(arguments.table) if arguments.table else None, dict(arguments.set)
    preset = table.preset if table else arguments.preset
    # An estimate of a model's answers asks no model, so that none need be there.
    by = arguments.by or ("model" if arguments.estimate and table and table.what == "answers" else None)
    settings = set_values(load_settings(arguments.settings, preset, hurry=False), own)
    usual = arguments.usual.replace("flow", READER_OF_PRESET[preset])
    asked = {name: getattr(arguments, name) for name in NAMED_ALIKE} | {
        "preset": preset,
        "readers": [name.strip() for name in (arguments.reader or usual).split(",")],
        "questions_at_once": arguments.at_once,
        "set": own,
        "settings": change_settings(settings, {"ask.reading.by": by} if by else {}),
    }
    try:
        return EvaluationRequest.model_validate(asked)
    except ValidationError as error:
        first = error.errors()[0]
        named = {"readers": "--reader", "limit": "--limit", "repeats": "--repeats", "questions_at_once": "--at-once"}.get(
            str(first["loc"][0]), "evaluate"
        )
        message = f"{named} {first['input']!r}: {first['msg'][:1].lower()}{first['msg'][1:]}"
        raise RequestError(message, str(first["input"]), "see `flowreader evaluate --help`") from error


def list_kept(_arguments: argparse.Namespace, output: Output) -> int:
    evaluations = list_evaluations(evaluations_file())
    if output.as_json:
        names = ("run_id", "what", "started", "benchmark", "benchmark_hash", "corpus", "snapshot", "scope", "code")
        heads = [{name: getattr(one, name) for name in names} | {"arms": _arms(one)} for one in evaluations]
        output.data({"evaluations": heads})
    elif evaluations:
        rows = [
            (one.run_id[:8], minute(one.started), one.what, one.benchmark, one.scope, list_names(_arms(one), ARMS_SHOWN))
            for one in evaluations
        ]
        output.table(("run", "started (UTC)", "what", "benchmark", "scope", "arms"), rows)
    else:
        output.line("no evaluations yet; begin with: flowreader evaluate probe --corpus NAME")
    return WELL


def show(arguments: argparse.Namespace, output: Output) -> int:
    evaluation = find_evaluation(evaluations_file(), arguments.evaluation)
    if arguments.markdown and not output.as_json:
        from tasks.views.evaluations import evaluation_markdown

        sys.stdout.write(evaluation_markdown(evaluation))
    else:
        _show(evaluation, output)
    return WELL


def compare(arguments: argparse.Namespace, output: Output) -> int:
    from tasks.views.evaluations import rows_moved, view_comparison

    named = (arguments.before, arguments.after)
    comparison = view_comparison(*(find_evaluation(evaluations_file(), name) for name in named))
    if output.as_json:
        output.data(to_jsonable_python(comparison))
        return WELL
    moved = rows_moved(comparison)
    output.show("comparison.j2", (MOVED, moved, MOVED[2:5]), comparison=comparison, moved=len(moved))
    return WELL


def _show(evaluation: Evaluation, output: Output, probes: Sequence[BenchmarkQuestion] = ()) -> None:
    from tasks.views.evaluations import context_of, view_evaluation

    view = view_evaluation(evaluation)
    if output.as_json:
        output.data(to_jsonable_python(view))
        return
    context = context_of(view, probes, width=output.console.width)
    tables = [(cells.columns, cells.rows(), cells.columns[1:]) for _, _, cells, _ in context["tables"]]
    output.show("evaluation.j2", *tables, **context)
    for path in view.pictures:
        output.line(f"picture: {path}", style="dim")


def _arms(evaluation: Evaluation) -> list[str]:
    return evaluation.figures["arm"].unique(maintain_order=True).to_list()


class AskingMeter:
    def __init__(self, questions: int) -> None:
        self._questions, self._asked, self._read, self._calls, self._now = questions, 0, 0, 0, "starting"
        self._lock = threading.Lock()

    def hear(self, progress: Progress) -> None:
        with self._lock:
            if progress.step == "ask":
                self._asked += progress.done
                self._now = f"asking: {progress.subject}"
            else:
                self._read += progress.step == "done"
                self._now = f"reading documents, {self._read} done; {progress.step}"

    def count(self, event: Event) -> None:
        """Count what a model was asked: a question may take minutes, and its calls show that it goes on."""
        if isinstance(event, CallEnded) and event.call.outcome is not Outcome.CACHED:
            with self._lock:
                self._calls += 1

    def describe(self) -> str:
        if stop_requested():
            return "stopping; a second Ctrl-C ends it at once"
        calls = f", {counted(self._calls, 'call')}" if self._calls else ""
        return f"{self._asked} of {self._questions} questions asked{calls}; {self._now}"


@contextlib.contextmanager
def show_progress(questions: int, *, console: Console, quiet: bool) -> Iterator[None]:
    """Show how far an evaluation is inside the block: a line that changes on a terminal, a line every so often elsewhere."""
    meter = AskingMeter(questions)
    with listening(meter.hear), subscribe(meter.count):
        if quiet:
            yield
        elif console.is_terminal:
            began = time.monotonic()

            def describe() -> str:
                """Add the time, which says that it goes on before the first call ends; on a pipe it would be news each time."""
                return f"{meter.describe()} ({format_seconds(time.monotonic() - began)})"

            with console.status("starting", spinner="dots") as line, every(0.2, lambda: line.update(describe())):
                yield
        else:
            with print_news(meter.describe, console):
                yield
