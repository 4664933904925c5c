"""The one event loop on which all calls of this process run, whatever thread asks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

R = TypeVar("R")

_starting = threading.Lock()
_loops: list[asyncio.AbstractEventLoop] = []


def on_the_loop(work: Coroutine[Any, Any, R]) -> Future[R]:
    """Start the work on the loop, which is started with the first; the result may be waited for in any other thread."""
    with _starting:
        if not _loops:
            _loops.append(asyncio.new_event_loop())
            threading.Thread(target=_loops[0].run_forever, name="chat", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, _loops[0])
