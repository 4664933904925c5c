"""Ways of answering: one file each, its name in `tasks/settings/readers.py`. All read the same index and return `Findings`."""

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from typing import Protocol, cast

from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.reading.synthesis import Findings
from tasks.settings.ask import AskSettings
from tasks.settings.readers import READERS, Reader


class ReaderModule(Protocol):
    """`GATED`: a gate looks at what was read first, and the model may be called for a second reading."""

    GATED: bool
    read: Callable[[Question, AskContext], Awaitable[Findings]]


READER_MODULES: Mapping[str, ReaderModule] = {
    name: cast(ReaderModule, import_module(f"flows.readers.{name.replace('-', '_')}")) for name in (*READERS, "paper")
}


def reader_module(reader: Reader, settings: AskSettings) -> ReaderModule:
    """Return the way of answering; `flow` has two, that of the default and the paper's."""
    return READER_MODULES["paper" if reader == "flow" and settings.routing.network == "paper" else reader]
