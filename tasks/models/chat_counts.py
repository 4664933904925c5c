"""What a run asked of the model, by purpose."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from tasks.models.chat_call import ModelCall
from tasks.models.chat_errors import Outcome


@dataclass(slots=True)
class PurposeUsage:
    """`calls` were sent and `cached` were not; `failed` of the sent ones gave no value; `requests` counts all that went out."""

    calls: int = 0
    cached: int = 0
    failed: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def add(self, call: ModelCall) -> None:
        """Count one more."""
        self.cached += call.outcome == Outcome.CACHED
        self.calls += call.attempts > 0
        self.failed += call.outcome not in {Outcome.OK, Outcome.CACHED}
        self.requests += call.attempts
        self.input_tokens += call.input_tokens
        self.output_tokens += call.output_tokens
        self.cost += call.cost
        self.seconds += call.seconds


@dataclass(slots=True)
class Counts:
    """The usage of each purpose; safe for many threads."""

    _usage: dict[str, PurposeUsage] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, call: ModelCall) -> None:
        """Count a call that ended."""
        with self._lock:
            self._usage.setdefault(call.purpose, PurposeUsage()).add(call)

    def by_purpose(self) -> dict[str, PurposeUsage]:
        """Return a copy, by name of the purpose."""
        with self._lock:
            return {purpose: replace(usage) for purpose, usage in sorted(self._usage.items())}
