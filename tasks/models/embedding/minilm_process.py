"""all-MiniLM-L6-v2 in a process of its own, for an ingest: torch and its buffers stay out of the parent's memory."""

import base64
import json
import threading
from collections.abc import Sequence

import numpy as np

from storage.records.documents import EmbedderIdentity, Vectors
from tasks.models.embedding.minilm import NAME
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.process import READY, ModelProcess
from tasks.progress import StoppedError, stop_requested

START_SECONDS = 120.0
SECONDS_PER_TEXT = 10.0
"""A text of 256 tokens takes a fiftieth of a second; what takes so much longer hangs."""


class MiniLMProcess:
    """The model behind two pipes; it loads while its owner does something else, and is started again once where it ends."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        """Start it; `identity` is one of this model's."""
        self.identity = identity
        self._asking = threading.Lock()
        self._process: ModelProcess | None = self._start()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in their order; raise EmbeddingError where that fails, StoppedError where the user asked for the end."""
        with self._asking:
            said = self._ask(texts) or self._ask(texts)
        if said is None:
            raise EmbeddingError(f"{NAME} ended or hung twice on the same {len(texts)} texts; ingest again with more free memory")
        if "error" in said:
            raise EmbeddingError(said["error"])
        return np.frombuffer(base64.b64decode(said["vectors"]), dtype=np.float32).reshape(len(texts), self.identity.dimension)

    def _start(self) -> ModelProcess:
        return ModelProcess("tasks.models.embedding.minilm_worker", self.identity.precision, environment={})

    def _ask(self, texts: Sequence[str]) -> dict[str, str] | None:
        """Return what the process says, None where it ended or hangs; then the next question starts another one."""
        if stop_requested():
            raise StoppedError
        self._process = self._process or self._start()
        reply = None
        try:
            if self._process.greeting(START_SECONDS) == READY:
                reply = self._process.ask(list(texts), (), seconds=SECONDS_PER_TEXT * max(1, len(texts)))
            else:
                return self._refusal(self._process)
        finally:
            # also when the user interrupts: a reply that nobody took would answer the next request
            if reply is None:
                self._process.close()
                self._process = None
        if reply is None and stop_requested():
            raise StoppedError
        said: dict[str, str] | None = None if reply is None else json.loads(reply)
        return said

    def _refusal(self, process: ModelProcess) -> dict[str, str]:
        """Return why the model does not load; raise StoppedError where it was told to end."""
        if stop_requested():
            raise StoppedError
        greeting = process.greeting(0.0)
        unsaid = {"error": f"the embedder does not start; {process.how_to_see_why} says why"}
        refusal: dict[str, str] = json.loads(greeting) if greeting else unsaid
        return refusal
