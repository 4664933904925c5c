"""Ways of reading: one file each. All read the same index and return the same `Findings`."""

from collections.abc import Awaitable, Callable, Mapping

from flows.readers import flow_routing, top_k
from tasks.path_reader import Question
from tasks.question import AskDesk
from tasks.synthesis import Findings

READERS: Mapping[str, Callable[[Question, AskDesk], Awaitable[Findings]]] = {"flow": flow_routing.read, "top-k": top_k.read}
"""By the name that --reader takes."""
