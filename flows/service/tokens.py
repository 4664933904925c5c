"""The token that requests must bring, where the service has one, and the brake on whoever guesses it."""

import asyncio
import hmac
import time
from base64 import b64decode
from collections import OrderedDict
from dataclasses import dataclass, field

from fastapi import Request

from flows.display.output import RefusedError
from tasks.events import QuestionRefused, RefusalReason, emit

FREE_GUESSES = 9
GUESSES_SECONDS = 60.0
MOST_ADDRESSES = 10_000
WHO = {"WWW-Authenticate": 'Basic realm="FlowReader"'}
"""A browser asks its user then; programs need not be told how."""
NEWS_SECONDS = 60.0
"""Between lines of the log that say how many were refused."""


@dataclass
class TokenCheck:
    """What wrong tokens came from where: `guesses` holds the moment of the first in a minute and how many, by address."""

    token: str
    guesses: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    untold: int = 0

    def require(self, request: Request) -> None:
        """Raise RefusedError for another token, none, or one too many from its address; the right one always passes."""
        given = request.headers.get("Authorization", "")
        if hmac.compare_digest(token_in(given).encode(), self.token.encode()):
            return
        self._count()
        if given and self.count_guess(request.client.host if request.client else "") > FREE_GUESSES:
            what = "too many wrong tokens came from this address"
            remedy, wait = "and bring the token of the service", f"{GUESSES_SECONDS:.0f}"
            raise RefusedError(429, what, "", f"wait {wait} seconds, {remedy}", why="token", headers={"Retry-After": wait})
        how = "with another token" if given else "without its token"
        remedy = "set FLOWREADER_ASK_TOKEN to the token that the service was started with"
        raise RefusedError(401, f"the query service takes no question {how}", "", remedy, why="token", headers=WHO)

    def count_guess(self, address: str) -> int:
        """Return how many wrong tokens came from the address in its minute, this one included."""
        began, count = self.guesses.pop(address, (0.0, 0))
        now = time.monotonic()
        if not count or now - began > GUESSES_SECONDS:
            began, count = now, 0
        self.guesses[address] = began, count + 1
        if len(self.guesses) > MOST_ADDRESSES:
            self.guesses.popitem(last=False)
        return count + 1

    def _count(self) -> None:
        if not self.untold:
            asyncio.get_running_loop().call_later(NEWS_SECONDS, self.tell)
        self.untold += 1

    def tell(self) -> None:
        """Log how many were refused since the last line, if any."""
        requests, self.untold = self.untold, 0
        if requests:
            emit(QuestionRefused(RefusalReason.TOKEN, requests))


def token_in(authorization: str) -> str:
    """Return the token that a program brings, or the password that a browser does; "" for none."""
    scheme, _, given = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return given
        case "basic":
            try:
                return b64decode(given).decode().partition(":")[2]
            except ValueError:
                return ""
    return ""
