"""Ways of reading: one file each. All read the same index and return the same `Findings`."""

from collections.abc import Awaitable, Callable, Mapping

from flows.readers import flow_routing, top_k
from tasks.asking.question import AskContext
from tasks.asking.records import Question
from tasks.reading.synthesis import Findings

READERS: Mapping[str, Callable[[Question, AskContext], Awaitable[Findings]]] = {"flow": flow_routing.read, "top-k": top_k.read}
"""By the name that --reader takes."""
