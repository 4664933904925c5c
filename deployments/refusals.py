"""What whoever is refused is told over HTTP, and whoever watches: by its reason, never by the question's words."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi.responses import JSONResponse

from deployments.intake import RETRY_SECONDS, FullError, NotHandedOverError
from flows.ask_task import ServiceEndsError
from flows.expected_errors import EXPECTED
from flows.showing import CommandError
from tasks.happenings import QuestionRefused, Refusal, tell


class WrongTokenError(CommandError):
    """Who asks does not bring the token that the service was started with."""


class WrongHostError(CommandError):
    """Who asks knows this machine by a name that the service was not told of."""


def refusal(error: Exception, *, of_question: bool) -> JSONResponse:
    """Return what is told of an error, and tell who watches of a question; raise what nobody expected."""
    reason, status, headers = _kind(error)
    if of_question:
        tell(QuestionRefused(reason))
    told = error if isinstance(error, CommandError) else CommandError.from_error(error)
    return JSONResponse({"error": {"what": told.what, "value": told.value, "remedy": told.remedy}}, status, headers)


def _kind(error: Exception) -> tuple[Refusal, int, Mapping[str, str] | None]:
    match error:
        case FullError():
            return Refusal.FULL, 503, {"Retry-After": str(RETRY_SECONDS)}
        case WrongTokenError():
            return Refusal.TOKEN, 401, {"WWW-Authenticate": "Bearer"}
        case WrongHostError():
            return Refusal.HOST, 400, None
        case NotHandedOverError():
            return Refusal.NOT_HANDED_OVER, 502, None
        case ServiceEndsError():
            return Refusal.CANNOT, 503, None
        case CommandError():
            return Refusal.REQUEST, 400, None
        case _ if isinstance(error, EXPECTED):
            theirs = isinstance(error, LookupError | ValueError)
            return (Refusal.REQUEST, 400, None) if theirs else (Refusal.CANNOT, 503, None)
    raise error
