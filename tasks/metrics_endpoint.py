"""The metrics, for Prometheus to fetch: `FLOWREADER_METRICS=127.0.0.1:9464`, or a port alone, of this machine only.

A process that works shows its own numbers. Those of a service are `counting_together` as in prometheus_client's multiprocess mode:
in files of one folder, whose sums one of them shows. A port that somebody else has is named in a line: watching stops no work.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tasks import network_address
from tasks.happenings import heard_by
from tasks.metrics import Metrics

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

METRICS = "FLOWREADER_METRICS"
SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Read by prometheus_client itself, as it is imported: set before a process is started."""

HOST = "127.0.0.1"


class MetricsError(ValueError):
    """The address that FLOWREADER_METRICS names is none."""


def check_metrics_address() -> None:
    """Raise MetricsError where metrics are wanted at what is no address."""
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
        with _served(address, registry):
            yield


@contextmanager
def counting(address: str) -> Iterator[None]:
    """Count what happens inside the block; shown at the address by this process, or by the one that shows all."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry()
    if os.environ.get(SHARED_FOLDER):
        with heard_by(Metrics(registry).hear):
            yield
        return
    with _served(address, registry), heard_by(Metrics(registry).hear):
        yield


def host_and_port(address: str) -> tuple[str, int]:
    """Return what "HOST:PORT", "[HOST]:PORT" or "PORT" names; raise MetricsError where it is none of these."""
    meant = network_address.host_and_port(address)
    if meant is None:
        raise MetricsError(f"{METRICS} is {address!r}; give HOST:PORT or a port, such as {HOST}:9464")
    return meant[0] or HOST, meant[1]


@contextmanager
def _served(address: str, registry: CollectorRegistry) -> Iterator[None]:
    """Show the registry while the block runs; where the port cannot be used, say so once, and show nothing."""
    from prometheus_client import start_http_server

    host, port = host_and_port(address)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        _say_once(
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
def _say_once(line: str) -> None:
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
            if not Path("/proc", process).exists():
                untyped.mark_process_dead(process, self._folder)
        summed: Iterable[Metric] = untyped.MultiProcessCollector(None, path=self._folder).collect()
        return summed
