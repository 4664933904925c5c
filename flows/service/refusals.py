"""What is refused, by whatever way it came: in words, with the status of its reply, and counted where it is a question."""

from collections.abc import Mapping
from typing import Any

from flows.display.output import CommandError, RefusedError
from flows.service.paths import from_root
from storage.errors import AmbiguousError, ExpectedError
from storage.lock import CorpusBusyError
from storage.text import displayed
from tasks.events import QuestionRefused, RefusalReason, emit

STATUS: Mapping[type[Exception], int] = {
    AmbiguousError: 409,
    CorpusBusyError: 409,
    LookupError: 404,
    CommandError: 400,
    ValueError: 400,
}
"""Of errors that are raised elsewhere, too; the first that fits, else 503: what may go well later."""


def refusal_of(error: Exception) -> RefusedError:
    """Return an expected error with the status of its reply; raise any other."""
    if isinstance(error, RefusedError):
        return error
    if not isinstance(error, ExpectedError | OSError):
        raise error
    status = next((status for kind, status in STATUS.items() if isinstance(error, kind)), 503)
    why = RefusalReason.CANNOT if status >= 500 else RefusalReason.REQUEST
    shown = CommandError.from_error(error)
    return RefusedError(status, shown.what, shown.value, shown.remedy, why=why)


def words_of(error: Exception) -> dict[str, str]:
    """Return an expected error in words, with its paths from their root on; raise any other."""
    return from_root(refusal_of(error).words)


def question_refused(error: Exception) -> dict[str, str]:
    """Return the words, and have it counted that a question was refused."""
    why = RefusalReason(refusal_of(error).why)
    # Those without the token are counted together.
    if why is not RefusalReason.TOKEN:
        emit(QuestionRefused(why))
    return words_of(error)


def misfit(first: Mapping[str, Any], remedy: str) -> CommandError:
    """Return the first error that pydantic has of a form in our words, naming the field."""
    place = ".".join(map(str, first["loc"])) or "the request"
    value = "" if first["type"] == "missing" else displayed(str(first["input"]).encode(errors="replace").decode())[:100]
    return CommandError(f"{place}: {first['msg']}", value, remedy)
