"""A reranker behind a server that takes requests of Cohere's shape, as vLLM, llama.cpp and Jina do."""

import json
from collections.abc import Sequence
from contextlib import aclosing

import numpy as np
from pydantic import BaseModel, FiniteFloat, ValidationError

from tasks.algorithms.arrays import FloatArray
from tasks.models.chat.errors import ChatEndedError, ChatError
from tasks.models.chat.request import Request, text_tokens
from tasks.models.chat.service import on_the_loop
from tasks.models.client import ServerClient
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError
from tasks.settings.models import ModelSettings

REMEDY = "check FLOWREADER_RERANK_BASE_URL (it mostly ends in /v1), _MODEL and _API_KEY"


class _Result(BaseModel):
    index: int
    relevance_score: FiniteFloat


class _Results(BaseModel):
    results: list[_Result]


class ServedReranker:
    """Asks once for all passages: without an answer the ranking stands as it was, and nobody waits for a second try."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self._endpoint, self._settings = endpoint, settings
        self._source = f"reranker {endpoint.base_url}" + (f" ({endpoint.model})" if endpoint.model else "")

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """Return the scores of the passages; raise EmbeddingError where they cannot be had or compared, or take too long."""
        if not passages:
            return np.zeros(0)
        return _scores_of(on_the_loop(self._ask(question, passages)).result(), len(passages), self._source)

    async def _ask(self, question: str, passages: Sequence[str]) -> bytes:
        query, *documents = (text.encode("utf-8", "replace").decode() for text in (question, *passages))
        named = {"model": self._endpoint.model} if self._endpoint.model else {}
        body = json.dumps({**named, "query": query, "documents": documents})
        tokens = text_tokens(sum(map(len, documents)), len(documents), self._settings.estimates)
        try:
            async with aclosing(ServerClient(self._endpoint, self._settings)) as client:
                return await client.rerank(Request(body.encode("ascii"), tokens, 0))
        except (FaultError, ChatError, ChatEndedError) as error:
            problem = str(error).partition("; ")[0].removeprefix(f"{self._endpoint.base_url} ")
            raise EmbeddingError(f"{self._source} cannot be asked: it {problem}", remedy=REMEDY) from error


def _scores_of(body: bytes, count: int, source: str) -> FloatArray:
    """Return the score of each passage, in the order of the passages; servers put the best first."""
    try:
        results = _Results.model_validate_json(body).results
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        found = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
        raise EmbeddingError(f"{source} gave no scores as Cohere's protocol has them ({found})", remedy=REMEDY) from error
    if sorted(one.index for one in results) != list(range(count)):
        raise EmbeddingError(f"{source} gave {len(results)} scores for {count} passages", remedy=REMEDY)
    return np.array([one.relevance_score for one in sorted(results, key=lambda one: one.index)], np.float64)
