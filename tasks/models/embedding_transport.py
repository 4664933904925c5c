"""One request to an embeddings server; its reply comes in one piece."""

from __future__ import annotations

import asyncio

from tasks.models.chat_faults import Answered, FaultError, FaultKind
from tasks.models.chat_request import Request
from tasks.models.chat_stream import Gathering
from tasks.models.chat_transport import ChatTransport, _answered


class EmbeddingTransport(ChatTransport):
    """The connections to one server, which are kept and used as those to a chat server."""

    async def embed(self, request: Request) -> Answered:
        """Return the answer, whatever its status; raise FaultError where none comes in time, or more than is right."""
        limits = self._settings.embeddings
        limit = int(limits.reply_megabytes * 1_000_000)
        with self._explained(f"gave no vectors in {limits.reply_seconds:g} s", Gathering(0)):
            async with asyncio.timeout(limits.reply_seconds), self._answer("POST", "embeddings", request.body) as (head, body):
                answered = await _answered(head, body, limit)
        if len(answered.body) == limit:
            message = f"{self._endpoint.base_url} gave more than {limits.reply_megabytes:g} MB for one request"
            raise FaultError(FaultKind.UNWELL, message)
        return answered
