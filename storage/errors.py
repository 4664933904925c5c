"""What all errors have in common that a user can mend, and what a check finds."""

from dataclasses import dataclass


class ExpectedError(Exception):
    """Something around the program is wrong, not the program: shown as a message with its remedy, without a traceback.

    OSError is expected too. One that is a LookupError or a ValueError as well lies in what was asked for.
    """


class RequestError(ExpectedError, ValueError):
    """What is asked for, or set, cannot be; the message names the value and the remedy."""


class UnknownError(ExpectedError, LookupError):
    """Nothing is called so."""


class AmbiguousError(ExpectedError, LookupError):
    """Several things are called so; the message names some of them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check of a corpus found wrong."""

    check: str
    what: str
    remedy: str
