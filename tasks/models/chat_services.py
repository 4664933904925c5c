"""The servers that this process talks to: runs side by side share one's connections and limits. All of it runs on the one loop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from tasks.model_settings import ChatBudget, ChatPrices, ModelSettings
from tasks.models.chat_service import ChatService
from tasks.models.endpoints import ChatEndpoint


@dataclass(slots=True)
class Shared:
    """A service and how many runs use it."""

    service: ChatService
    users: int = 0


_shared: dict[tuple[ChatEndpoint, ModelSettings], Shared] = {}
_opening = asyncio.Lock()


async def borrow(endpoint: ChatEndpoint, settings: ModelSettings) -> Shared:
    """Return the service, opened with its first user; raise ChatEndedError where nothing answers or no model fits."""
    key = endpoint, settings.model_copy(update={"budget": ChatBudget(), "prices": ChatPrices()})
    async with _opening:
        shared = _shared.get(key)
        if shared is None or shared.service.given_up:
            shared = Shared(ChatService(endpoint, settings))
            try:
                await shared.service.open()
            except BaseException:
                await shared.service.close()
                raise
            _shared[key] = shared
        shared.users += 1
        return shared


async def give_back(shared: Shared) -> None:
    """Let go; the last user closes the connections."""
    shared.users -= 1
    if shared.users == 0:
        for key in [key for key, known in _shared.items() if known is shared]:
            del _shared[key]
        await shared.service.close()
