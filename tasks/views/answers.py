"""An answer as it is shown: the kept record, with the places that it cites resolved in the corpus of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass

from storage.records.answers import Answer, AnswerPart, AnswerStatus, Citation, Support
from storage.records.documents import DocumentRecord

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from storage.corpus.snapshot import Snapshot

PLACE_WORDS = {
    "text/html": "",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "slide",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "sheet",
}
"""What a page is called; where the word is empty a document has only one and it is not named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationView(Citation):
    number: int = Field(description="in the answer's words, from 1")
    place: str = Field(description='what people call the page: "page 5", "slide 3"; empty where a document has no pages')
    link: str | None = Field(description="the page with the citation marked, below the service's address; null once it is gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartView(AnswerPart):
    numbers: tuple[int, ...] = Field(description="of the citations that prove it")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerView(Answer):
    """`withheld`: what was found is not shown any more, because a document of it was removed."""

    citations: tuple[CitationView, ...]
    parts: tuple[PartView, ...]
    withheld: bool
    link: str = Field(description="the answer's page, below the service's address")

    @property
    def listed_parts(self) -> tuple[PartView, ...]:
        """The parts, but of an answer that is quoted as a whole, or that nothing proves: it is marked as such already.

        Those of the catalog are the lines of the answer.
        """
        is_one_quote = [part.support for part in self.parts] == [Support.QUOTED]
        return () if is_one_quote or self.is_unproven or self.answer_by == "catalog" else self.parts


class AnswerRow(BaseModel):
    """An answer in a list."""

    model_config = ConfigDict(from_attributes=True)

    answer_id: str
    asked: str
    question: str
    asked_as: str
    thread: str
    status: AnswerStatus
    answer: str
    reader: str
    withheld: bool
    link: str


class AnswersView(BaseModel):
    """The newest answers of a corpus, in short."""

    model_config = ConfigDict(from_attributes=True)

    corpus: str
    answers: list[AnswerRow]


def view_answer(answer: Answer, snapshot: Snapshot) -> AnswerView:
    return view_answers([answer], snapshot)[0]


def view_answers(answers: Sequence[Answer], snapshot: Snapshot) -> list[AnswerView]:
    cited = {citation.document.id for answer in answers for citation in answer.citations}
    records = {record.id: record for record in snapshot.documents() if record.id in cited}
    return [_view(answer, records, f"corpus={quote(snapshot.location.name)}") for answer in answers]


def _view(answer: Answer, records: Mapping[str, DocumentRecord], corpus: str) -> AnswerView:
    among = f"{corpus}&answer={answer.answer_id}&cited="
    citations = tuple(view_citation(number, one, records, f"{among}{number}") for number, one in enumerate(answer.citations, 1))
    parts = tuple(
        PartView(**values_of(part, AnswerPart), numbers=tuple(citations[place].number for place in part.citations))
        for part in answer.parts
    )
    kept = values_of(answer, Answer) | {"citations": citations, "parts": parts}
    return AnswerView(**kept, withheld=_is_withheld(answer), link=f"/answers/{answer.answer_id}?{corpus}")


def view_citation(number: int, citation: Citation, records: Mapping[str, DocumentRecord], query: str) -> CitationView:
    record = records.get(citation.document.id)
    link = f"/documents/{citation.document.id}/pages/{citation.page}?{query}"
    place = place_words(record, citation.page)
    return CitationView(**values_of(citation, Citation), number=number, place=place, link=link if record else None)


def place_words(record: DocumentRecord | None, page: int, label: str | None = None) -> str:
    """Name a page as people do: "page 5 (printed iii)", "slide 3"; nothing where a document has no pages."""
    word = PLACE_WORDS.get(record.media_type, "page") if record else "page"
    printed = f" (printed {label})" if label and label != str(page) else ""
    return f"{word} {page}{printed}" if word else ""


def _is_withheld(answer: Answer) -> bool:
    if answer.status is AnswerStatus.EVIDENCE:
        return not any(citation.quote for citation in answer.citations)
    return not answer.answer.strip() and answer.status is not AnswerStatus.NOT_FOUND


def values_of(record: object, kind: type[DataclassInstance]) -> dict[str, Any]:
    return {each.name: getattr(record, each.name) for each in fields(kind)}
