"""A request: the question, the corpus, and the limits."""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from storage.corpus.snapshot import Snapshot
from storage.errors import ExpectedError
from storage.graph.search import Scope
from storage.records.documents import DocumentState, Modality
from storage.text import one_line, printable_path
from tasks.settings.ask import AskSettings, method_of, settings_over_preset
from tasks.settings.readers import PRESETS_HELP, READER_OF_PRESET, READERS_HELP, Preset, Reader

LONGEST_QUESTION = 10_000
"""Characters. A question of more is a document; the embedder reads some 1,000 of them."""
PAGE_RANGE = re.compile(r"\s*(?P<first>[0-9]{1,6})\s*(?:-\s*(?P<last>[0-9]{1,6})\s*)?")
STANDARD_INPUT, COMMENT = "-", "#"
NOTHING = str.maketrans("", "", "\u00ad\u200b\ufeff")
JOINERS = "\u200c\u200d"


QUESTION_BOUNDS: dict[str, Any] = {"minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"\S"}
"""For descriptions in JSON; what is wrong with a question `check_questions` says in better words."""
QuestionText = Annotated[str, Field(json_schema_extra=QUESTION_BOUNDS)]


class QuestionError(ExpectedError, ValueError):
    """A question, or a limit of it, that cannot be used; the message names the value and the remedy."""


class AskRequest(BaseModel):
    """Questions of one corpus. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    questions: tuple[QuestionText, ...] = Field(min_length=1, description="the questions, each answered by itself")
    corpus: str = Field("default", description="the corpus to ask")
    documents: tuple[str, ...] = Field(
        (), description="only these documents: ids of at least 8 digits, file names, or parts that one name alone has"
    )
    pages: str | None = Field(None, description="only these pages, such as 3-7")
    modality: Modality | None = Field(None, description="only text, tables or figures")
    preset: Preset = Field("default", description=PRESETS_HELP)
    reader: Reader = Field(
        default_factory=lambda asked: READER_OF_PRESET[asked["preset"]], description=f"{READERS_HELP}; by default the preset's"
    )
    fresh: bool = Field(False, description="ask anew, also what is kept from when the same was asked before")
    require_model: bool = Field(
        False, description="fail where the chat model fails, is late or proves no answer; without it, rules quote the evidence"
    )
    follow: str | None = Field(
        None, description="the one question goes on from this answer, named by 8 or more digits of its id, and within its limits"
    )
    earlier: tuple[QuestionText, ...] = Field(
        (), description="the questions before this one, where a client keeps the conversation itself"
    )
    local: bool = Field(False, description="have the local model read, whatever the settings say")
    settings: Annotated[AskSettings, settings_over_preset(lambda method: method.ask)] = Field(
        default_factory=lambda asked: method_of(asked["preset"]).ask
    )

    @property
    def limits(self) -> dict[str, Any]:
        """What the questions are limited to, as an answer says it."""
        return self.model_dump(mode="json", include={"documents", "pages", "modality"})

    def deadline(self, began: float) -> float | None:
        """Return until when a model may read for a question that began at this moment of time.monotonic(), None for ever."""
        return None if self.settings.seconds is None else began + self.settings.seconds


FILES = ("weights", "rerank")
"""Settings of a question that name a file or folder."""


def require_no_files(settings: AskSettings) -> None:
    """Raise QuestionError where a question from elsewhere names a file or folder: the reply would tell whether it exists."""
    for name in FILES:
        if getattr(settings, name):
            raise QuestionError(
                f"the setting 'ask.{name}' names a file or folder on the machine that answers; a question from elsewhere may not",
                name,
                "leave it out, or ask on that machine by `flowreader ask`, without --server",
                over_http="leave it out",
            )


def check_questions(questions: Sequence[str]) -> tuple[str, ...]:
    """Return the questions, cleaned; raise QuestionError for one that is empty or too long."""
    cleaned = tuple(clean(question) for question in questions)
    for question in cleaned:
        if not any(sign.isalnum() for sign in question):
            raise QuestionError(f"the question {question[:40]!r} holds no word", question[:40], "ask something of the documents")
        if len(question) > LONGEST_QUESTION:
            raise QuestionError(
                f"the question {question[:40] + '...'!r} has {len(question):,} characters",
                question[:40] + "...",
                f"ask in at most {LONGEST_QUESTION:,}, and ingest long texts as documents",
            )
    return cleaned


def clean(question: str) -> str:
    """Return the question on one line, without signs that cannot be printed or written as UTF-8.

    Joiners belong to words of many scripts and stay; soft hyphens and spaces of no width are nothing.
    """
    writable = question.encode("utf-8", "replace").decode().translate(NOTHING)
    return one_line(writable, keep=JOINERS)


def read_batch(source: str) -> tuple[str, ...]:
    """Return the questions of a file, or of standard input ("-"): one a line, or JSON Lines of strings or of objects.

    An object has a `question`. Empty lines and those that begin with "#" are left out. Raise QuestionError where the source
    cannot be read, holds no question, or a line cannot be used.
    """
    questions: list[str] = []
    for number, line in enumerate(read_text(source, "batch", "one question per line").split("\n"), 1):
        if line.strip() and not line.lstrip().startswith(COMMENT):
            try:
                questions += check_questions([question_of_line(line)])
            except QuestionError as error:
                raise QuestionError(f"line {number} of {source!r}: {error.what}", source, error.remedy) from error
    if not questions:
        raise QuestionError(f"the batch {source!r} holds no question", source, "write one per line")
    return tuple(questions)


def read_text(source: str, what: str, wanted: str) -> str:
    """Return the text of a file, or of standard input ("-"); raise QuestionError where it cannot be read."""
    try:
        written = sys.stdin.buffer.read() if source == STANDARD_INPUT else Path(source).read_bytes()
        return written.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise QuestionError(f"the {what} {source!r} cannot be read: {reason}", source, f"give a text file with {wanted}") from error


def question_of_line(line: str) -> str:
    """Return the question of a line of a batch; raise QuestionError where it is JSON without one."""
    if line.lstrip()[0] not in '{"':
        return line
    try:
        value = json.loads(line)
    except ValueError as error:
        if line.lstrip()[0] == "{":
            raise QuestionError(f"{line[:60]!r} is not JSON ({error})", line[:60], 'write {"question": "..."}') from error
        return line
    question = value.get("question") if isinstance(value, dict) else value
    if not isinstance(question, str):
        raise QuestionError(f'{line[:60]!r} has no "question"', line[:60], 'write {"question": "..."}')
    return question


def find_scope(snapshot: Snapshot, request: AskRequest) -> Scope:
    """Return what the question is limited to, with every document by its id.

    Raise UnknownError, AmbiguousError, or QuestionError where nothing in the corpus can be asked, or not by
    this preset.
    """
    if snapshot.embedder.texts != method_of(request.preset).reading.embedding.text:
        other = "paper" if request.preset == "default" else "default"
        raise QuestionError(
            f"corpus {request.corpus!r} was ingested with the preset {other!r} and cannot be asked with {request.preset!r}",
            request.corpus,
            f"ask it with --preset {other}, or make another: flowreader ingest PATH --preset {request.preset} --corpus NAME",
            over_http=f'ask it with "preset": "{other}"',
        )
    readable = [record for record in snapshot.documents() if record.state is DocumentState.READY]
    if not readable:
        why, add = f"`flowreader status --corpus {request.corpus}` says why", f"`flowreader ingest PATH --corpus {request.corpus}`"
        raise QuestionError(
            f"corpus {request.corpus!r} holds no document that can be read",
            request.corpus,
            why if snapshot.documents() else f"read some in: {add}",
            over_http="the list of documents says why" if snapshot.documents() else "add a document to it",
        )
    chosen = [snapshot.find(printable_path(name)) for name in request.documents]
    for record in chosen:
        if record.state is not DocumentState.READY:
            raise QuestionError(
                f"document {record.name!r} cannot be asked, it is {record.state.value}: {record.reason}", record.name
            )
    first, last = page_range(request.pages)
    most = max(record.pages for record in chosen or readable)
    if first is not None and first > most:
        within = f"1-{most}" if most > 1 else "1"
        raise QuestionError(
            f"the documents asked have no page {str(first)!r}",
            str(first),
            f"the longest document has {most}, write --pages {within}",
            over_http=f'the longest document has {most}, ask with "pages": "{within}"',
        )
    return Scope(
        documents=tuple(sorted({record.id for record in chosen})), first_page=first, last_page=last, modality=request.modality
    )


def page_range(pages: str | None) -> tuple[int | None, int | None]:
    """Return the first and last page of "3-7" or "3"; raise QuestionError for anything else."""
    if pages is None:
        return None, None
    found = PAGE_RANGE.fullmatch(pages)
    first, last = (int(found["first"]), int(found["last"] or found["first"])) if found else (0, 0)
    if not 1 <= first <= last:
        raise QuestionError(
            f"{pages!r} is not a page range",
            pages,
            "write --pages 3-7, or --pages 3, counting from 1",
            over_http='ask with "pages": "3-7", or "3", counting from 1',
        )
    return first, last


def nothing_in(scope: Scope) -> QuestionError:
    """Return the error for a scope that holds nothing to read."""
    kind = f"{scope.modality.value!r}" if scope.modality else "passage"
    where = "the documents asked" if scope.documents else "the corpus"
    pages = "" if scope.first_page is None else f" on the pages {f'{scope.first_page}-{scope.last_page}'!r} of"
    return QuestionError(
        f"there is no {kind}{pages or ' in'} {where}",
        scope.modality.value if scope.modality else "",
        "ask without that limit, `flowreader documents show` says what there is",
        over_http="ask without that limit",
    )
