"""The metrics, for Prometheus to fetch: `FLOWREADER_METRICS=127.0.0.1:9464`, or a port alone, of this machine only.

A process that works shows its own numbers. Those of a service are `counting_together` as in prometheus_client's multiprocess mode:
in files of one folder, whose sums one of them shows. A port that is taken is named in a line: watching stops no work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from storage.errors import RequestError
from storage.records.steps import StepRecord
from storage.system import is_running
from tasks import address as network_address
from tasks.events import (
    CallEnded,
    DocumentEnded,
    Event,
    QuestionBegan,
    QuestionEnded,
    QuestionRefused,
    QueueSeen,
    RunBegan,
    RunEnded,
    StepEnded,
    subscribe,
)
from tasks.watching.json_log import error_kind, step_outcome

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

METRICS = "FLOWREADER_METRICS"
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus_client itself, as it is imported: set before a process is started."""

HOST = "127.0.0.1"


STEP_SECONDS = (0.01, 0.05, 0.25, 1.0, 5.0, 20.0, 60.0, 300.0, 1200.0)
"""From a step of a question to the parsing of a book."""
QUESTION_SECONDS = (0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 1.0, 1.5, 3.0, 10.0, 60.0)
"""Fine about what a question is promised in: 0.15, 0.6 and 1.5 s."""
CALL_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)
"""From a word to a page of a slow model."""


class Metrics:
    """Counts events. In a process whose environment names PROMETHEUS_MULTIPROC_DIR the numbers go to files there."""

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

    def count(self, event: Event) -> None:
        match event:
            case StepEnded(record=record):
                self._count_step(record)
            case CallEnded():
                self._count_call(event)
            case DocumentEnded():
                self._documents.labels(event.state).inc()
                self._pages.inc(event.pages)
                self._nodes.inc(event.nodes)
            case RunBegan():
                self._at_work.inc()
            case RunEnded(flow=flow, outcome=outcome):
                self._at_work.dec()
                self._runs.labels(flow, outcome).inc()
            case _:
                self._count_question(event)

    def _count_question(self, event: Event) -> None:
        match event:
            case QuestionBegan():
                self._in_flight.inc()
            case QuestionEnded(reader=reader, status=status, seconds=spent):
                self._in_flight.dec()
                self._questions.labels(reader, status).observe(spent)
            case QueueSeen(inside=inside):
                self._inside.set(inside)
            case QuestionRefused(reason=reason, requests=requests):
                self._refused.labels(reason.value).inc(requests)

    def _count_step(self, record: StepRecord) -> None:
        outcome = step_outcome(record)
        self._steps.labels(record.step, outcome).observe(record.seconds)
        if outcome == "failed":
            self._errors.labels(record.step, error_kind(record)).inc()

    def _count_call(self, event: CallEnded) -> None:
        call = event.call
        self._calls.labels(call.purpose, call.outcome.value).inc()
        self._tokens.labels(call.purpose, "input").inc(call.input_tokens)
        self._tokens.labels(call.purpose, "output").inc(call.output_tokens)
        self._cost.labels(call.purpose).inc(call.cost)
        if call.attempts:
            self._call_seconds.labels(call.purpose).observe(call.seconds)


def check_metrics_address() -> None:
    if address := os.environ.get(METRICS):
        host_and_port(address)


@contextmanager
def counting_together() -> Iterator[None]:
    """Let processes that are started inside the block count in one folder, where metrics are wanted and none is named already."""
    if not os.environ.get(METRICS) or os.environ.get(SHARED_FOLDER):
        yield
        return
    with TemporaryDirectory(prefix="flowreader-metrics-") as folder:
        os.environ[SHARED_FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[SHARED_FOLDER]


@contextmanager
def shows_all() -> Iterator[None]:
    """Show the sums of all processes that count together with those that this one starts, where the environment wants metrics."""
    address = os.environ.get(METRICS)
    if not address:
        yield
        return
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    with counting_together():
        registry.register(_Sums(os.environ[SHARED_FOLDER]))
        with _serve(address, registry):
            yield


@contextmanager
def counting(address: str) -> Iterator[None]:
    """Count what happens inside the block; shown at the address by this process, or by the one that shows all."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    if os.environ.get(SHARED_FOLDER):
        with subscribe(Metrics(registry).count):
            yield
        return
    with _serve(address, registry), subscribe(Metrics(registry).count):
        yield


@contextmanager
def as_text() -> Iterator[Callable[[], bytes]]:
    """Give what returns the metrics in Prometheus' words: of all processes that count together, else of this one in the block."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    if folder := os.environ.get(SHARED_FOLDER):
        registry.register(_Sums(folder))
        yield lambda: generate_latest(registry)
        return
    with subscribe(Metrics(registry).count):
        yield lambda: generate_latest(registry)


def host_and_port(address: str) -> tuple[str, int]:
    """Return what "HOST:PORT", "[HOST]:PORT" or "PORT" names; raise RequestError where it is none of these."""
    meant = network_address.host_and_port(address)
    if meant is None:
        raise RequestError(f"{METRICS} is {address!r}", address, f"give HOST:PORT or a port, such as {HOST}:9464")
    return meant[0] or HOST, meant[1]


@contextmanager
def _serve(address: str, registry: CollectorRegistry) -> Iterator[None]:
    """Show the registry while the block runs; where the port cannot be used, warn once, and show nothing."""
    from prometheus_client import start_http_server

    host, port = host_and_port(address)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        _warn_once(
            f"port {port} of {host!r}, where {METRICS} wants the metrics, cannot be used ({error.strerror or error}); "
            "the work goes on and is not shown there; name another port to see it"
        )
        yield
        return
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@cache
def _warn_once(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


class _Sums:
    """What all processes counted that share a folder; of those that ended, or were killed, nothing is at work any more."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        from prometheus_client import multiprocess

        untyped: Any = multiprocess
        for path in Path(self._folder).glob("gauge_live*_*.db"):
            process = path.stem.rpartition("_")[2]
            if not (process.isdecimal() and is_running(int(process))):
                untyped.mark_process_dead(process, self._folder)
        summed: Iterable[Metric] = untyped.MultiProcessCollector(None, path=self._folder).collect()
        return summed
