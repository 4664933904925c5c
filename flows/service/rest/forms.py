"""What the routes have in common: their parameters and the shapes of replies."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from tasks.views.errors import ErrorView

PREFIX = "/api/v1"


class ErrorReply(BaseModel):
    error: ErrorView


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
