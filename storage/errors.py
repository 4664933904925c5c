"""What all errors have in common that a user can mend, and what a check finds."""

import copyreg
from dataclasses import dataclass


class ExpectedError(Exception):
    """Something around the program is wrong, not the program: shown as what, value and remedy, without a traceback.

    `remedy` speaks of commands; `over_http` says the same to clients of the service, where that is something else.
    OSError is expected too. One that is a LookupError or a ValueError as well lies in what was asked for.
    """

    def __init__(self, what: str, value: object = "", remedy: str = "", *, over_http: str = "") -> None:
        super().__init__("; ".join(filter(None, (what, remedy))))
        self.what, self.value, self.remedy, self.over_http = what, str(value), remedy, over_http or remedy

    def __reduce__(self) -> tuple[object, ...]:
        # However a subclass is made, what it holds is what is sent.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class RequestError(ExpectedError, ValueError):
    """What is asked for, or set, cannot be."""


class UnknownError(ExpectedError, LookupError):
    """Nothing is called so."""


class AmbiguousError(ExpectedError, LookupError):
    """Several things are called so; the message names some of them."""


def parts_of(error: Exception) -> tuple[str, str]:
    """Return what is wrong and the remedy; an error that is not shown itself has them in one sentence, with `; ` between."""
    if isinstance(error, ExpectedError):
        return error.what, error.remedy
    what, _, remedy = str(error).partition("; ")
    return what, remedy


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check of a corpus found wrong."""

    check: str
    what: str
    remedy: str
