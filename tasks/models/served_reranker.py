"""A reranker behind a server that takes requests of Cohere's shape, as vLLM, llama.cpp and Jina do."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import aclosing

import numpy as np
from pydantic import BaseModel, FiniteFloat, ValidationError

from tasks.algorithms.arrays import FloatArray
from tasks.models.chat.errors import ChatEndedError, ChatError, ContextTooLongError
from tasks.models.chat.request import Request, text_tokens
from tasks.models.chat.service import on_the_loop, result_unless_stopped
from tasks.models.client import ServerClient
from tasks.models.embedding.served import SOON
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError, FaultKind
from tasks.models.patience import Patience
from tasks.settings.models import ModelSettings

LATER = "ask again when it is up, or less busy"
CHECK = "check FLOWREADER_RERANK_BASE_URL (it mostly ends in /v1), _MODEL and _API_KEY"


class _Result(BaseModel):
    index: int
    relevance_score: FiniteFloat


class _Results(BaseModel):
    results: list[_Result]


class ServedReranker:
    """Asks for all passages at once, while a user waits: a single failure is forgiven, a server that is down is given up."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings, *, until: float | None = None) -> None:
        """Prepare; no reply is waited for after the moment `until` of time.monotonic()."""
        self._endpoint, self._settings, self._until = endpoint, settings, until
        self._source = f"reranker {endpoint.base_url} ({endpoint.model})"

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """Return the scores of the passages; raise EmbeddingError where they cannot be had or compared, or take too long."""
        if not passages:
            return np.zeros(0)
        return self._scores_of(result_unless_stopped(on_the_loop(self._ask(question, passages))), len(passages))

    async def _ask(self, question: str, passages: Sequence[str]) -> bytes:
        """Return the reply; passages that are too long for the model are cut, to half as much until they fit."""
        seconds, most = self._settings.embeddings.question_seconds, max(map(len, passages))
        if self._until is not None:
            seconds = max(0.0, min(seconds, self._until - time.monotonic()))
        try:
            async with asyncio.timeout(seconds), aclosing(ServerClient(self._endpoint, self._settings)) as client:
                while True:
                    try:
                        return await self._reply(client, question, [passage[:most] for passage in passages])
                    except ContextTooLongError:
                        if most < 2:
                            raise
                        most //= 2
        except TimeoutError as error:
            raise EmbeddingError(f"{self._source} gave no scores in {seconds:.3g} s", remedy=LATER) from error
        except (FaultError, ChatError, ChatEndedError) as error:
            problem = str(error).partition("; ")[0].removeprefix(f"{self._endpoint.base_url} ")
            remedy = LATER if isinstance(error, FaultError) else CHECK
            raise EmbeddingError(f"{self._source} cannot be asked: it {problem}", remedy=remedy) from error

    async def _reply(self, client: ServerClient, question: str, passages: Sequence[str]) -> bytes:
        query, *documents = (text.encode("utf-8", "replace").decode() for text in (question, *passages))
        body = json.dumps({"model": self._endpoint.model, "query": query, "documents": documents})
        tokens = text_tokens(sum(map(len, documents)), len(documents), self._settings.estimates)
        patience = Patience(SOON)
        while True:
            try:
                return await client.rerank(Request(body.encode("ascii"), tokens, 0))
            except FaultError as fault:
                if fault.kind is FaultKind.DOWN or not await patience.after(fault):
                    raise

    def _scores_of(self, body: bytes, count: int) -> FloatArray:
        """Return the score of each passage, in the order of the passages; servers put the best first."""
        try:
            results = _Results.model_validate_json(body).results
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            found = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
            raise EmbeddingError(f"{self._source} gave no scores as Cohere's protocol has them ({found})", remedy=CHECK) from error
        if sorted(one.index for one in results) != list(range(count)):
            raise EmbeddingError(f"{self._source} gave {len(results)} scores for {count} passages", remedy=CHECK)
        return np.array([one.relevance_score for one in sorted(results, key=lambda one: one.index)], np.float64)
