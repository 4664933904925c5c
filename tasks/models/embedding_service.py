"""An embeddings server: texts in, rows of numbers out. Requests go side by side and are sent again by the rules of the chat."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import wait

from storage.records import Vectors
from tasks.model_settings import ModelSettings
from tasks.models.chat_errors import ChatEndedError, ChatError, ContextTooLongError
from tasks.models.chat_faults import Answered, FaultError, problem_of
from tasks.models.chat_loop import on_the_loop
from tasks.models.chat_request import Request, text_tokens
from tasks.models.chat_retries import Patience
from tasks.models.embedding_reply import rows_of
from tasks.models.embedding_transport import EmbeddingTransport
from tasks.models.endpoints import Endpoint
from tasks.models.served_models import ServedModel, chosen_model
from tasks.models.vector_checks import EmbeddingError
from tasks.progress import StoppedError, stop_requested

STOP_POLL_SECONDS = 0.2
TOO_LARGE = 413
"""What some servers say of a text that is too long."""
NO_REQUEST = Request(b"", 0, 0)

Reply = tuple[int, bytes]
"""How many texts were asked for, and the body that came back."""


class EmbeddingService:
    """One server as one embedder uses it; any thread may ask."""

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        """Prepare; nothing is sent."""
        self.source = f"embeddings server {endpoint.base_url}" + (f" ({endpoint.model})" if endpoint.model else "")
        self._endpoint, self._settings = endpoint, settings
        self._transport = EmbeddingTransport(endpoint, settings)
        self._places = asyncio.Semaphore(settings.embeddings.in_flight)

    def served_model(self) -> ServedModel:
        """Return the model that the server has for us; raise EmbeddingError, within its deadline, where it has none."""
        return on_the_loop(self._served_model()).result()

    def rows(self, texts: Sequence[str], *, seconds: float | None = None) -> list[Vectors]:
        """Return the vector of each text as it came; a text that is too long for the model is cut.

        Blocks this thread, for at most `seconds`. Raises EmbeddingError where a vector cannot be had, StoppedError where the user
        ended the run.
        """
        work = on_the_loop(self._replies(texts, seconds))
        try:
            while not wait([work], timeout=STOP_POLL_SECONDS).done:
                if stop_requested():
                    raise StoppedError
        finally:
            work.cancel()
        told = [rows_of(body, texts=count, model=self._endpoint.model, source=self.source) for count, body in work.result()]
        return [row for rows in told for row in rows]

    async def _served_model(self) -> ServedModel:
        try:
            answered = await self._transport.models()
            if answered.status != 200:
                raise self._problem(answered, NO_REQUEST)
            return chosen_model(answered.body, self._endpoint)
        except (FaultError, ChatError, ChatEndedError) as error:
            raise self._refused(error, "does not say which model it has") from error
        finally:
            self._transport.close()

    async def _replies(self, texts: Sequence[str], seconds: float | None) -> list[Reply]:
        """Ask for all texts, so many in a request and so many requests at a time; the first that is lost ends the others."""
        size = self._settings.embeddings.texts_per_request
        try:
            async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
                parts = [group.create_task(self._part(texts[first : first + size])) for first in range(0, len(texts), size)]
        except TimeoutError as error:
            raise EmbeddingError(f"{self.source} gave no vector in {seconds:g} s; ask again when it is less busy") from error
        except BaseExceptionGroup as lost:
            raise lost.exceptions[0] from None
        finally:
            self._transport.close()
        return [reply for part in parts for reply in part.result()]

    async def _part(self, texts: Sequence[str]) -> list[Reply]:
        """Ask for some texts in one request; where they are too long, in two, and a single one for its first half."""
        try:
            async with self._places:
                return [(len(texts), await self._body(texts))]
        except ContextTooLongError as error:
            if len(texts) > 1:
                middle = len(texts) // 2
                return [*await self._part(texts[:middle]), *await self._part(texts[middle:])]
            if len(texts[0]) < 2:
                raise self._refused(error, "takes no text at all") from error
            return await self._part([texts[0][: len(texts[0]) // 2]])

    async def _body(self, texts: Sequence[str]) -> bytes:
        """Return the reply to one request, however many it takes."""
        request = self._request(texts)
        patience, attempts = Patience(self._settings.retries), 0
        while True:
            attempts += 1
            try:
                answered = await self._transport.embed(request)
                if answered.status == 200:
                    return answered.body
                raise self._problem(answered, request)
            except ContextTooLongError:
                raise
            except FaultError as fault:
                if not await patience.after(fault):
                    raise self._refused(fault, f"did not embed {len(texts)} texts in {attempts} attempts") from fault
            except (ChatError, ChatEndedError) as error:
                raise self._refused(error, f"did not embed {len(texts)} texts") from error

    def _request(self, texts: Sequence[str]) -> Request:
        """Return the request; half signs, which no JSON reader takes, go as question marks."""
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        body = json.dumps({"model": self._endpoint.model, "input": sent, "encoding_format": "float"})
        return Request(body.encode("ascii"), text_tokens(sum(map(len, sent)), len(sent), self._settings.estimates), 0)

    def _problem(self, answered: Answered, request: Request) -> Exception:
        problem = problem_of(answered, request=request, endpoint=self._endpoint, limit_tokens=0)
        if answered.status == TOO_LARGE:
            return ContextTooLongError(str(problem), input_tokens=request.input_tokens, limit_tokens=0)
        return problem

    def _refused(self, error: Exception, what: str) -> EmbeddingError:
        """Return the error in the words of an embedder: the variables are named as those of the chat server but for one word."""
        told = str(error).replace("FLOWREADER_CHAT_", "FLOWREADER_EMBED_").removeprefix(f"{self._endpoint.base_url} ")
        what, _, remedy = f"{self.source} {what}: it {told}".partition("; ")
        return EmbeddingError(f"{what}; {remedy or 'check that it is up'}")
