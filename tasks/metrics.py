"""What happens, counted for Prometheus. Labels take few values: never a document, a question or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storage.records import StepRecord
from tasks.happenings import (
    CallEnded,
    DocumentEnded,
    Happening,
    QuestionBegan,
    QuestionEnded,
    QuestionRefused,
    QueueSeen,
    RunBegan,
    RunEnded,
    RunKilled,
    StepEnded,
)
from tasks.json_log import error_kind, step_outcome

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

STEP_SECONDS = (0.01, 0.05, 0.25, 1.0, 5.0, 20.0, 60.0, 300.0, 1200.0)
"""From a step of a question to the parsing of a book."""
QUESTION_SECONDS = (0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 1.0, 1.5, 3.0, 10.0, 60.0)
"""Fine about what a question is promised in: 0.15, 0.6 and 1.5 s."""
CALL_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)
"""From a word to a page of a slow model."""


class Metrics:
    """Counts what it hears. In a process whose environment names PROMETHEUS_MULTIPROC_DIR the numbers go to files there."""

    def __init__(self, registry: CollectorRegistry) -> None:
        from prometheus_client import Counter, Gauge, Histogram

        def counter(name: str, what: str, *labels: str) -> Counter:
            return Counter(f"flowreader_{name}", what, labels, registry=registry)

        def seconds(name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"flowreader_{name}", what, labels, registry=registry, buckets=buckets)

        def gauge(name: str, what: str) -> Gauge:
            return Gauge(f"flowreader_{name}", what, registry=registry, multiprocess_mode="livesum")

        self._runs = counter("runs_total", "Runs that ended.", "flow", "outcome")
        self._at_work = gauge("runs_at_work", "Runs at work.")
        self._documents = counter("documents_total", "Documents read, by the state they came to.", "state")
        self._pages = counter("pages_total", "Pages of documents that became ready.")
        self._nodes = counter("nodes_total", "Nodes of documents that became ready.")
        self._steps = seconds("step_seconds", "Seconds of a step.", STEP_SECONDS, "step", "outcome")
        self._errors = counter("step_errors_total", "Steps that failed, by kind of error.", "step", "error")
        self._calls = counter("model_calls_total", "Calls of the chat model.", "purpose", "outcome")
        self._call_seconds = seconds("model_call_seconds", "Seconds of a call that was sent.", CALL_SECONDS, "purpose")
        self._tokens = counter("model_tokens_total", "Tokens that the chat model read and wrote.", "purpose", "direction")
        self._cost = counter("model_cost_total", "Cost of calls, in the currency of the prices in the settings.", "purpose")
        self._questions = seconds("question_seconds", "Seconds of a question.", QUESTION_SECONDS, "reader", "status")
        self._in_flight = gauge("questions_in_flight", "Questions that are being answered.")
        self._inside = gauge("questions_inside", "Questions in the query service, those that wait included.")
        self._refused = counter("questions_refused_total", "Questions that the query service did not take, by reason.", "reason")

    def hear(self, happening: Happening) -> None:
        match happening:
            case StepEnded(record=record):
                self._count_step(record)
            case CallEnded():
                self._count_call(happening)
            case DocumentEnded():
                self._documents.labels(happening.state).inc()
                self._pages.inc(happening.pages)
                self._nodes.inc(happening.nodes)
            case RunBegan():
                self._at_work.inc()
            case RunEnded(flow=flow, outcome=outcome):
                self._at_work.dec()
                self._runs.labels(flow, outcome).inc()
            case RunKilled(flow=flow):
                self._runs.labels(flow, "killed").inc()
            case _:
                self._count_question(happening)

    def _count_question(self, happening: Happening) -> None:
        match happening:
            case QuestionBegan():
                self._in_flight.inc()
            case QuestionEnded(reader=reader, status=status, seconds=spent):
                self._in_flight.dec()
                self._questions.labels(reader, status).observe(spent)
            case QueueSeen(inside=inside):
                self._inside.set(inside)
            case QuestionRefused(reason=reason):
                self._refused.labels(reason.value).inc()

    def _count_step(self, record: StepRecord) -> None:
        outcome = step_outcome(record)
        self._steps.labels(record.step, outcome).observe(record.seconds)
        if outcome == "failed":
            self._errors.labels(record.step, error_kind(record)).inc()

    def _count_call(self, happening: CallEnded) -> None:
        call = happening.call
        self._calls.labels(call.purpose, call.outcome.value).inc()
        self._tokens.labels(call.purpose, "input").inc(call.input_tokens)
        self._tokens.labels(call.purpose, "output").inc(call.output_tokens)
        self._cost.labels(call.purpose).inc(call.cost)
        if call.attempts:
            self._call_seconds.labels(call.purpose).observe(call.seconds)
