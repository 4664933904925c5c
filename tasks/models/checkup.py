"""What is found when a model's server is looked at: one line for each thing that must be right there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.models.chat_faults import without_key
from tasks.models.endpoints import Endpoint


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """One thing that was looked at; `remedy` says what to do where it is wrong, and is empty where all is well."""

    check: str
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that was looked at of one server, which is `chat` or `embeddings`."""

    server: str
    address: str
    checks: tuple[ServerCheck, ...]

    @property
    def wrong(self) -> tuple[ServerCheck, ...]:
        """What is to be mended."""
        return tuple(check for check in self.checks if check.remedy)


def told(server: str, endpoint: Endpoint, checks: Sequence[ServerCheck]) -> Checkup:
    """Return the checkup without the API key, whatever the server repeated."""
    shown = [ServerCheck(check.check, without_key(check.found, endpoint), without_key(check.remedy, endpoint)) for check in checks]
    return Checkup(server, endpoint.base_url, tuple(shown))


def problem(check: str, error: Exception, remedy: str) -> ServerCheck:
    """Return what is wrong as an error says it; its own remedy goes before the one that is given."""
    found, _, own = str(error).partition("; ")
    return ServerCheck(check, found, own or remedy)
