"""Turns errors into replies, for every protocol: words, a status, and a count of refused questions."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from flows.service.paths import from_root
from storage.errors import AmbiguousError, ExpectedError, RequestError
from storage.lock import CorpusBusyError
from storage.text import escape_unprintable, printable_path
from tasks.events import QuestionRefused, RefusalReason, emit
from tasks.views.errors import ErrorView, RefusedError, view_error

STATUS: Mapping[type[Exception], int] = {
    AmbiguousError: 409,
    CorpusBusyError: 409,
    LookupError: 404,
    ValueError: 400,
}
"""Of errors from elsewhere: the first kind that fits, else 503, try again later."""


class Refusal(NamedTuple):
    """The reply to an error, with paths from their root."""

    status: int
    error: ErrorView
    why: RefusalReason
    headers: Mapping[str, str] | None = None


def refusal_of(error: Exception) -> Refusal:
    """Return the reply to an expected error; raise any other."""
    if not isinstance(error, ExpectedError | OSError):
        raise error
    view = from_root(view_error(error, over_http=True))
    if isinstance(error, RefusedError):
        return Refusal(error.status, view, error.why, error.headers)
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 503)
    return Refusal(status, view, RefusalReason.CANNOT if status >= 500 else RefusalReason.REQUEST)


def refusal_of_question(error: Exception) -> Refusal:
    """Return the reply, and count a refused question."""
    refusal = refusal_of(error)
    # TokenCheck counts those without the token.
    if refusal.why is not RefusalReason.TOKEN:
        emit(QuestionRefused(refusal.why))
    return refusal


def describe_misfit(first: Mapping[str, Any], remedy: str) -> RequestError:
    """Return pydantic's first error of a form in our words, naming the field."""
    place = escape_unprintable(".".join(map(str, first["loc"]))) or "the request"
    value = "" if first["type"] == "missing" else printable_path(str(first["input"]).encode(errors="replace").decode())[:100]
    return RequestError(f"{place}: {first['msg']}", value, remedy)
