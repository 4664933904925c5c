"""Ways of answering: one file each, its name in `tasks/settings/readers.py`. All read the same index and return `Findings`."""

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Protocol, cast

from tasks.asking.calls import Stage
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.reading.synthesis import Findings
from tasks.settings.ask import AskSettings
from tasks.settings.readers import READ_BY, READERS, MeasuredReader


class ReaderModule(Protocol):
    """`most_calls` bounds the model calls of a question in each stage."""

    most_calls: Callable[[AskSettings], Mapping[Stage, int]]
    read: Callable[[Question, AskContext], Awaitable[Findings]]


READER_MODULES: Mapping[str, ReaderModule] = {
    name: cast(ReaderModule, import_module(f"flows.readers.{name.replace('-', '_')}")) for name in (*READERS, "paper")
}


def reader_module(reader: MeasuredReader, settings: AskSettings) -> ReaderModule:
    """Return the reader's module; `flow` has two, the default and the paper's."""
    return READER_MODULES["paper" if reader == "flow" and settings.routing.network == "paper" else READ_BY[reader]]


def most_calls(reader: MeasuredReader, settings: AskSettings) -> int:
    """Return how often a question asks a model at most, in all stages."""
    return sum(reader_module(reader, settings).most_calls(settings).values())
