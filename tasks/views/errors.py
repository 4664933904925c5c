"""An error as people and programs see it, whichever way it comes to them."""

from collections.abc import Mapping

from pydantic import BaseModel, Field

from storage.errors import ExpectedError
from storage.text import storable
from tasks.events import RefusalReason


class ErrorView(BaseModel):
    what: str
    value: str = Field(default="", description="what is at fault, as it was given")
    remedy: str = ""


class RefusedError(ExpectedError):
    """What the query service refuses: the status and further headers of its reply, and why, as refused questions are counted."""

    def __init__(
        self,
        status: int,
        what: str,
        value: object = "",
        remedy: str = "",
        *,
        why: RefusalReason = RefusalReason.REQUEST,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, value, remedy)
        self.status, self.why, self.headers = status, why, headers


def view_error(error: Exception, *, over_http: bool = False) -> ErrorView:
    """Return the error with its remedy for people at a terminal, or for clients of the service."""
    if isinstance(error, ExpectedError):
        what, value, remedy = error.what, error.value, error.over_http if over_http else error.remedy
    elif isinstance(error, OSError):
        what, value, remedy = error.strerror or str(error), str(error.filename or ""), ""
    else:
        what, value, remedy = str(error), "", ""
    what, remedy = (" ".join(storable(part).split()) for part in (what, remedy))
    return ErrorView(what=what, value=storable(value), remedy=remedy)
