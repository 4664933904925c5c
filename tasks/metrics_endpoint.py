"""The metrics, for Prometheus to fetch: `FLOWREADER_METRICS=127.0.0.1:9464`, or a port alone, of this machine only.

A process that works shows its own numbers. Where one starts many they count together, and one that `shows_all` shows the sums; with
them counts who finds it at the port. A port that somebody else has is told of in a line: watching stops no work.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks import network_address
from tasks.happenings import heard_by
from tasks.metrics import Metrics
from tasks.metrics_files import SHARED_FOLDER, fold_ended, reserve, share_counting
from tasks.metrics_joining import counting_in, note_where, shown_at

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Metric

METRICS = "FLOWREADER_METRICS"
HOST = "127.0.0.1"


class MetricsError(ValueError):
    """The address that FLOWREADER_METRICS names is none."""


class PortTakenError(MetricsError):
    """It cannot be listened at."""


_told: set[str] = set()


def share_metrics() -> None:
    """Let processes that are started from here on count together, where metrics are wanted; one of them `shows_all`."""
    if os.environ.get(METRICS):
        share_counting()


def check_metrics_address() -> None:
    """Raise MetricsError where metrics are wanted at what is no address."""
    if address := os.environ.get(METRICS):
        host_and_port(address)


@contextmanager
def shows_all() -> Iterator[None]:
    """Show the sums of all processes that this one or its parent starts, where the environment wants metrics."""
    address = os.environ.get(METRICS)
    if not address:
        yield
        return
    from prometheus_client import CollectorRegistry

    registry, folder = CollectorRegistry(), share_counting()
    registry.register(_Sums(folder))
    with ExitStack() as opened:
        try:
            opened.enter_context(_served(address, registry))
            note_where(folder, *host_and_port(address))
        except PortTakenError as error:
            _say_once(error)
        yield


@contextmanager
def counting(address: str) -> Iterator[None]:
    """Count what happens inside the block; shown there by this process, or by one of the same home that shows all."""
    from prometheus_client import CollectorRegistry

    registry, shared = CollectorRegistry(), os.environ.get(SHARED_FOLDER)
    with ExitStack() as opened:
        try:
            if shared:
                reserve(Path(shared))
            else:
                opened.enter_context(_served(address, registry))
        except PortTakenError as error:
            folder = shown_at(*host_and_port(address))
            if folder is None:
                _say_once(error)
                yield
                return
            opened.enter_context(counting_in(folder))
            reserve(folder)
        opened.enter_context(heard_by(Metrics(registry).hear))
        yield


def host_and_port(address: str) -> tuple[str, int]:
    """Return what "HOST:PORT", "[HOST]:PORT" or "PORT" names; raise MetricsError where it is none of these."""
    meant = network_address.host_and_port(address)
    if meant is None:
        raise MetricsError(f"{METRICS} is {address!r}; give HOST:PORT or a port, such as {HOST}:9464")
    return meant[0] or HOST, meant[1]


@contextmanager
def _served(address: str, registry: CollectorRegistry) -> Iterator[None]:
    from prometheus_client import start_http_server

    host, port = host_and_port(address)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        raise PortTakenError(
            f"port {port} of {host!r}, where {METRICS} wants the metrics, cannot be used ({error.strerror or error}); "
            "the work goes on and is not shown there; name another port to see it"
        ) from error
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _say_once(error: PortTakenError) -> None:
    if str(error) not in _told:
        _told.add(str(error))
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()


class _Sums:
    """What all processes counted that share a folder; what Prefect counts beside is left out."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = folder, threading.Lock()

    def collect(self) -> Iterable[Metric]:
        """Return the sums, for one scrape at a time."""
        from prometheus_client import multiprocess

        untyped: Any = multiprocess
        with self._lock:
            fold_ended(self._folder)
            summed = untyped.MultiProcessCollector(None, path=str(self._folder)).collect()
            return [metric for metric in summed if metric.name.startswith("flowreader_")]
