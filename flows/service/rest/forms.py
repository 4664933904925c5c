"""What the routes have in common: their parameters, the shapes of replies, and what becomes of an error."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

from fastapi import Header, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from flows.display.output import CommandError
from flows.service.received import refusal
from flows.service.uploads import NoDocumentError, TooLargeError, UploadsFullError
from storage.errors import AmbiguousError
from storage.lock import CorpusBusyError
from storage.text import displayed

PREFIX = "/api/v1"

T = TypeVar("T")


class NotAllowedError(CommandError):
    """What is asked for is only done where the service has a token."""


class NotHereError(CommandError, LookupError):
    """There is no such thing."""


class Words(BaseModel):
    what: str
    value: str
    remedy: str


class ErrorReply(BaseModel):
    error: Words


class Document(BaseModel):
    id: str
    name: str
    other_names: list[str] = Field(description="of files with the same bytes")
    state: str = Field(examples=["ready"])
    reason: str
    pages: int
    nodes: int


class Documents(BaseModel):
    corpus: str
    documents: list[Document]
    next_cursor: int | None


class Section(BaseModel):
    title: str
    level: int
    first_page: int
    last_page: int


class Outline(BaseModel):
    document: Document
    sections: list[Section]


class Text(BaseModel):
    node: str
    kind: str
    box: tuple[float, float, float, float] | None = Field(description="x0, y0, x1, y1 in 0..1 from the top left of the page")
    text: str


class Page(BaseModel):
    document: Document
    page: int
    label: str | None
    texts: list[Text]


class IngestShown(BaseModel):
    id: str
    corpus: str
    paths: tuple[str, ...]
    began: str
    state: str = Field(description="waiting, at work, done, failed or stopped")
    run_id: str | None = Field(description="of its run in Prefect and in the lineage, while it is at work and after")
    done: int
    failed: int
    documents: int | None = Field(description="how many it is about; null while they are counted")
    result: dict[str, Any] | None
    error: Words | None


class IngestsShown(BaseModel):
    ingests: list[IngestShown]


Corpus = Annotated[str, Path(examples=["default"])]
DocumentNamed = Annotated[
    str, Path(description="at least 8 digits of its id, its file name, or a part that no other has", examples=["report.pdf"])
]
AnswerNamed = Annotated[str, Path(description="at least 8 digits of its id", examples=["0a1b2c3d"])]
Number = Annotated[int, Path(ge=1, description="from 1; of a slide or a sheet, too")]
Cursor = Annotated[int, Query(ge=0, description="where to go on: next_cursor of the reply before")]
Width = Annotated[int, Query(ge=100, le=2000, description="pixels")]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern="^[!-~]{1,200}$",
        description="the same key with the same body gives the same reply for an hour, with another body 409",
    ),
]


def of_kind(kind: str, what: str) -> dict[int | str, dict[str, Any]]:
    """Describe a reply that is no JSON."""
    return {200: {"description": what, "content": {kind: {}}}}


async def once(request: Request, key: str | None, body: bytes, work: Callable[[], Awaitable[T]]) -> T:
    """Do the work of a request once for its key."""
    asked = f"{request.method} {request.scope['path']}\n".encode() + body
    given: T = await request.app.state.once.do(key, asked, work)
    return given


STATUS: Mapping[type[Exception], int] = {
    AmbiguousError: 409,
    CorpusBusyError: 409,
    TooLargeError: 413,
    NoDocumentError: 415,
    UploadsFullError: 507,
    NotAllowedError: 403,
    LookupError: 404,
}
"""Of errors that are not as everywhere; the first that fits."""


def refused(error: Exception, *, of_question: bool) -> Response:
    """Return the reply to an error; raise what is not expected."""
    reply = refusal(error, of_question=of_question)
    reply.status_code = next((status for kind, status in STATUS.items() if isinstance(error, kind)), reply.status_code)
    return reply


async def refused_by_form(_request: Request, error: Exception) -> Response:
    """Return the reply to a request that does not fit its form, naming the field."""
    first = error.errors()[0] if isinstance(error, RequestValidationError) else {}
    place = ".".join(map(str, first["loc"][1:])) or "the request"
    value = displayed(str(first.get("input", "")).encode(errors="replace").decode())[:100]
    return refused(CommandError(f"{place}: {first['msg']}", value, "/openapi.json has the fields"), of_question=False)


async def refused_by_route(request: Request, error: Exception) -> Response:
    """Return the reply where no route is, or none with this method."""
    assert isinstance(error, HTTPException)
    path = request.scope["path"]
    words = {"what": f"{error.detail}: {request.method} {displayed(path)[:100]}", "value": displayed(path)[:100]}
    return JSONResponse({"error": words | {"remedy": "/openapi.json lists what there is"}}, error.status_code, error.headers)
