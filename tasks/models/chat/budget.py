"""What a run may use: reserved before a request, retries among them, by what it may take at most, settled by what it took."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tasks.models.chat.call import Tally
from tasks.models.chat.errors import ChatEndedError
from tasks.models.chat.request import Request
from tasks.settings.models import ChatBudget, ChatPrices


def price(input_tokens: int, output_tokens: int, prices: ChatPrices) -> float:
    return (input_tokens * prices.input_per_million + output_tokens * prices.output_per_million) / 1e6


@dataclass(slots=True)
class Amount:
    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def add(self, other: Amount, sign: int = 1) -> None:
        """Add, or with -1 take away."""
        self.calls += sign * other.calls
        self.tokens += sign * other.tokens
        self.money += sign * other.money


@dataclass(slots=True)
class Budget:
    """What the run has used and what calls in flight may use; belongs to one event loop."""

    budget: ChatBudget
    prices: ChatPrices
    used: Amount = field(default_factory=Amount)
    _reserved: Amount = field(default_factory=Amount)
    _reservations: int = 0
    _settled: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def spending(self, request: Request, tally: Tally, calls: int) -> AsyncIterator[None]:
        """Reserve what the request may take, and settle by what the tally grew inside the block; `calls` is 0 where it is a retry.

        Raises ChatEndedError where it does not fit; while calls in flight hold what they may not need, it waits for them.
        """
        most = self._amount(calls, request.input_tokens, request.output_tokens)
        async with self._settled:
            while self._shortage(most, self._reserved):
                if shortage := self._shortage(most, Amount()):
                    remedy = "what is done is kept, give the same command a larger budget and it goes on"
                    raise ChatEndedError(shortage, remedy=remedy)
                await self._settled.wait()
            self._reserved.add(most)
            self._reservations += 1
        before = (tally.input_tokens, tally.output_tokens)
        try:
            yield
        finally:
            self._reserved.add(most, -1)
            self._reservations -= 1
            if not self._reservations:
                self._reserved = Amount()  # what rounding left of money would be waited for, for ever
            self.used.add(self._amount(calls, tally.input_tokens - before[0], tally.output_tokens - before[1]))
            async with self._settled:
                self._settled.notify_all()

    def _amount(self, calls: int, input_tokens: int, output_tokens: int) -> Amount:
        return Amount(calls, input_tokens + output_tokens, price(input_tokens, output_tokens, self.prices))

    def _shortage(self, most: Amount, reserved: Amount) -> str:
        """Return what is missing, in words; "" where the request fits with what is used and reserved."""
        for name in ("calls", "tokens", "money"):
            limit = getattr(self.budget, name)
            used, wanted = getattr(self.used, name), getattr(most, name)
            if limit is not None and used + getattr(reserved, name) + wanted > limit:
                return f"the budget of {limit:,} {name} is reached: {used:,.6g} used, the next call may take {wanted:,.6g}"
        return ""
