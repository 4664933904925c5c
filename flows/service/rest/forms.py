"""What the routes share: parameters and the shapes of replies."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel

from tasks.views.documents import DocumentView
from tasks.views.errors import ErrorView

PREFIX = "/api/v1"


class ErrorReply(BaseModel):
    error: ErrorView


class Documents(BaseModel):
    corpus: str
    documents: list[DocumentView]
    next_cursor: int | None


Corpus = Annotated[str, Path(examples=["default"])]
DocumentNamed = Annotated[
    str, Path(description="at least 8 digits of its id, its file name, or a part that no other has", examples=["report.pdf"])
]
AnswerNamed = Annotated[str, Path(description="at least 8 digits of its id", examples=["0a1b2c3d"])]
Number = Annotated[int, Path(ge=1, description="from 1; of a slide or a sheet, too")]
Cursor = Annotated[int, Query(ge=0, description="where to go on: next_cursor of the reply before")]
Width = Annotated[int, Query(ge=100, le=2000, description="pixels")]


def of_kind(kind: str, what: str) -> dict[int | str, dict[str, Any]]:
    """Describe a reply that is no JSON."""
    return {200: {"description": what, "content": {kind: {}}}}
