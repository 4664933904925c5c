"""FlowReader from Python: a corpus whose documents, tables, answers and citations are Polars frames.

Each frame always has the columns and types below, even without rows.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing, closing
from datetime import datetime
from operator import attrgetter
from typing import Any

import polars as pl
from pydantic import ValidationError

from flows.ask import ask
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.records.documents import TableRow
from storage.text import storable
from tasks.asking.request import AskRequest, QuestionError
from tasks.checking.verify import verify
from tasks.settings.environment import check_environment

Columns = Mapping[str, tuple[Any, Callable[[Any], object]]]
"""The columns of a frame, each with its type and how it is read from a record."""

DOCUMENTS: Columns = {
    "document": (pl.String, attrgetter("name")),
    "document_id": (pl.String, attrgetter("id")),
    "state": (pl.String, attrgetter("state")),
    "reason": (pl.String, attrgetter("reason")),
    "title": (pl.String, attrgetter("title")),
    "media_type": (pl.String, attrgetter("media_type")),
    "bytes": (pl.Int64, attrgetter("size_bytes")),
    "pages": (pl.Int64, attrgetter("pages")),
    "passages": (pl.Int64, attrgetter("nodes")),
    "paths": (pl.List(pl.String), attrgetter("paths")),
}
CELLS = {
    "document": pl.String,
    "page": pl.Int64,
    "table": pl.Int64,
    "caption": pl.String,
    "row": pl.Int64,
    "column": pl.String,
    "value": pl.String,
}
ANSWERS: Columns = {
    "answer_id": (pl.String, attrgetter("answer_id")),
    "asked": (pl.Datetime("ms", "UTC"), lambda answer: datetime.fromisoformat(answer.asked)),
    "question": (pl.String, attrgetter("question")),
    "answer": (pl.String, attrgetter("answer")),
    "status": (pl.String, attrgetter("status")),
    "answer_by": (pl.String, attrgetter("answer_by")),
    "why": (pl.String, attrgetter("why")),
    "reader": (pl.String, attrgetter("reader")),
    "snapshot": (pl.Int64, attrgetter("snapshot")),
    "calls": (pl.Int64, attrgetter("usage.calls")),
    "input_tokens": (pl.Int64, attrgetter("usage.input_tokens")),
    "output_tokens": (pl.Int64, attrgetter("usage.output_tokens")),
    "cost": (pl.Float64, attrgetter("usage.cost")),
    "seconds": (pl.Float64, lambda answer: sum(answer.usage.seconds.values())),
}
CITATIONS: Columns = {
    "document": (pl.String, attrgetter("document.name")),
    "document_id": (pl.String, attrgetter("document.id")),
    "page": (pl.Int64, attrgetter("page")),
    "section": (pl.List(pl.String), attrgetter("section")),
    "modality": (pl.String, attrgetter("modality")),
    "quote": (pl.String, attrgetter("quote")),
    "probability": (pl.Float64, attrgetter("probability")),
    "box": (pl.List(pl.Float64), attrgetter("box")),
}

CHECKS = dict.fromkeys(("kind", "text", "verdict", "beside"), pl.String) | {name: kind for name, (kind, _get) in CITATIONS.items()}


class Corpus:
    """A corpus in `FLOWREADER_HOME`, by its name; each method looks at what is published when it is called."""

    def __init__(self, name: str = "default") -> None:
        check_environment()
        self.location = corpus_location(name)

    def documents(self) -> pl.DataFrame:
        """Return a row for each document, with its state and the reason."""
        with open_for_reading(self.location) as snapshot:
            return _frame(snapshot.documents(), DOCUMENTS)

    def tables(self, document: str) -> pl.DataFrame:
        """Return a row for each cell of the tables of a document, named as in `flowreader ask --document`.

        `column` is the header, unique within a table: `.pivot(on="column", index="row", values="value")` of one
        table is that table. Raise UnknownError or AmbiguousError.
        """
        with open_for_reading(self.location) as snapshot:
            found = snapshot.find(document)
            rows: dict[str, list[TableRow]] = {}
            for row in snapshot.rows(found.id):
                rows.setdefault(row.node_id, []).append(row)
            tables = [node for node in snapshot.nodes(found.id) if node.id in rows]
        cells = [
            {"document": found.name, "table": number, "caption": node.caption, **cell}
            for number, node in enumerate(tables, 1)
            for cell in _cells(rows[node.id])
        ]
        return pl.DataFrame(cells, schema=CELLS)

    def ask(self, *questions: str, **limits: Any) -> pl.DataFrame:  # noqa: ANN401 - the fields of AskRequest
        """Ask, and return a row for each answer; `limits` are fields of AskRequest: documents=("a.pdf",), reader="top-k"."""
        try:
            request = AskRequest(questions=questions, corpus=self.location.name, **limits)
        except ValidationError as error:
            wrong = error.errors()[0]
            name = ".".join(map(str, wrong["loc"]))
            fields = ", ".join(sorted(AskRequest.model_fields.keys() - {"questions", "corpus"}))
            raise QuestionError(
                f"{name} {wrong['input']!r}: {wrong['msg']}", wrong["input"], f"besides questions, `ask` takes {fields}"
            ) from error
        loop = asyncio.new_event_loop()
        work = loop.create_task(_ask_all(request))
        # in its own thread: where a loop is running, as in a notebook, no other can
        with closing(loop), ThreadPoolExecutor(1) as pool:
            try:
                return _frame(pool.submit(loop.run_until_complete, work).result(), ANSWERS)
            finally:
                # after Ctrl-C no further question is asked
                loop.call_soon_threadsafe(work.cancel)

    def answers(self) -> pl.DataFrame:
        """Return the kept answers, the newest first; `answer` and `why` of one that quoted a removed document are empty."""
        return _frame(self._list_kept(), ANSWERS)

    def citations(self, answers: pl.DataFrame) -> pl.DataFrame:
        """Return what the answers cite, a row for each quote, in their order."""
        kept = {answer.answer_id: answer.citations for answer in self._list_kept()}
        cited = [(name, citation) for name in answers["answer_id"] for citation in kept.get(name, ())]
        frame = _frame([citation for _, citation in cited], CITATIONS)
        return frame.insert_column(0, pl.Series("answer_id", [name for name, _ in cited], pl.String))

    def verify(self, text: str) -> pl.DataFrame:
        """Look for the quotes and numbers of a text; a row for each place where one stands, and for each that stands nowhere."""
        with open_for_reading(self.location) as snapshot:
            checks, left_out = verify(text, snapshot)
        if left_out:
            raise QuestionError(f"{left_out:,} quotes and numbers are too many to check", left_out, "check the text in parts")
        own = {name: kind for name, kind in CHECKS.items() if name not in CITATIONS}
        rows = [({name: getattr(check, name) for name in own}, _frame(check.places, CITATIONS)) for check in checks]
        return pl.DataFrame([check | place for check, places in rows for place in places.rows(named=True) or [{}]], CHECKS)

    def _list_kept(self) -> list[Answer]:
        with open_for_reading(self.location) as snapshot:
            return snapshot.answers()


async def _ask_all(request: AskRequest) -> list[Answer]:
    async with aclosing(ask(request)) as answers:
        return [answer async for answer in answers]


def _cells(rows: Sequence[TableRow]) -> Iterator[dict[str, object]]:
    """Yield the cells below the header; a column with no name, or a taken one, is named by its number."""
    headers = [row.cells for row in rows if row.is_header]
    names: list[str] = []
    for place in range(max(len(row.cells) for row in rows)):
        words = dict.fromkeys(cells[place].strip() for cells in headers if place < len(cells))
        name = " ".join(filter(None, words)) or f"column {place + 1}"
        # `row` is the index of the pivot
        while name in (*names, "row"):
            name = f"{name} ({place + 1})"
        names.append(name)
    for row in (row for row in rows if not row.is_header):
        for name, value in zip(names, row.cells, strict=False):
            yield {"page": row.page, "row": row.row + 1, "column": name, "value": value}


def _frame(records: Sequence[object], columns: Columns) -> pl.DataFrame:
    return pl.DataFrame(
        {name: pl.Series([_plain(get(record)) for record in records], dtype=kind) for name, (kind, get) in columns.items()}
    )


def _plain(value: object) -> object:
    """Return a value for a frame; a file name that is not Unicode is escaped."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return storable(str(value)) if isinstance(value, str) else value
