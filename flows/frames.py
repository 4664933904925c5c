"""FlowReader from Python: a corpus whose documents, tables, answers and citations are Polars frames.

The columns and types of each frame are always those that stand here, also where it has no rows.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from datetime import datetime
from typing import Any

import polars as pl

from flows.ask import ask
from storage.codec import storable
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import Answer, Citation
from storage.records.documents import DocumentRecord, TableRow
from storage.runs.answers import read_answers
from tasks.asking.request import AskRequest

DOCUMENTS = {
    "document": pl.String,
    "document_id": pl.String,
    "state": pl.String,
    "reason": pl.String,
    "title": pl.String,
    "media_type": pl.String,
    "bytes": pl.Int64,
    "pages": pl.Int64,
    "passages": pl.Int64,
    "paths": pl.List(pl.String),
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
ANSWERS = {
    "answer_id": pl.String,
    "asked": pl.Datetime("ms", "UTC"),
    "question": pl.String,
    "answer": pl.String,
    "status": pl.String,
    "answer_by": pl.String,
    "why": pl.String,
    "reader": pl.String,
    "snapshot": pl.Int64,
    "calls": pl.Int64,
    "input_tokens": pl.Int64,
    "output_tokens": pl.Int64,
    "cost": pl.Float64,
    "seconds": pl.Float64,
}
CITATIONS = {
    "answer_id": pl.String,
    "document": pl.String,
    "document_id": pl.String,
    "page": pl.Int64,
    "section": pl.List(pl.String),
    "modality": pl.String,
    "quote": pl.String,
    "probability": pl.Float64,
    "box": pl.List(pl.Float64),
}


class Corpus:
    """A corpus in `FLOWREADER_HOME`, by its name; each method looks at what is published when it is called."""

    def __init__(self, name: str = "default") -> None:
        self.location = corpus_location(name)

    def documents(self) -> pl.DataFrame:
        """Return a row for each document, with its state and the reason."""
        with open_for_reading(self.location) as snapshot:
            return _frame(map(_document_row, snapshot.documents()), DOCUMENTS)

    def tables(self, document: str) -> pl.DataFrame:
        """Return a row for each cell of the tables of a document, named as in `flowreader ask --document`.

        `column` is what the table's header says, no two of a table alike: `.pivot(on="column", index="row", values="value")` of one
        table is that table. Raise UnknownDocumentError or AmbiguousDocumentError.
        """
        with open_for_reading(self.location) as snapshot:
            found = snapshot.find(document)
            rows: dict[str, list[TableRow]] = {}
            for row in snapshot.rows(found.id):
                rows.setdefault(row.node_id, []).append(row)
            tables = [node for node in snapshot.nodes(found.id) if node.id in rows]
        cells = (
            {"document": found.name, "table": number, "caption": node.caption, **cell}
            for number, node in enumerate(tables, 1)
            for cell in _cells(rows[node.id])
        )
        return _frame(cells, CELLS)

    def ask(self, *questions: str, **limits: Any) -> pl.DataFrame:  # noqa: ANN401 - the fields of AskRequest
        """Ask, and return a row for each answer; `limits` are fields of AskRequest: documents=("a.pdf",), reader="top-k"."""
        request = AskRequest(questions=questions, corpus=self.location.name, **limits)
        # in a thread of its own: a notebook has an event loop at work, and a second one cannot begin in its thread
        with ThreadPoolExecutor(1) as pool:
            return _answers(pool.submit(asyncio.run, _asked(request)).result())

    def answers(self) -> pl.DataFrame:
        """Return all answers that are kept, the newest first; what quoted a document that was removed since is left out."""
        return _answers(self._kept())

    def citations(self, answers: pl.DataFrame) -> pl.DataFrame:
        """Return what the answers cite, a row for each quote, in their order."""
        kept = {answer.answer_id: answer.citations for answer in self._kept()}
        rows = (_citation_row(name, citation) for name in answers["answer_id"] for citation in kept.get(name, ()))
        return _frame(rows, CITATIONS)

    def _kept(self) -> list[Answer]:
        with open_for_reading(self.location) as snapshot:
            return read_answers(self.location, present={record.id for record in snapshot.documents()})


async def _asked(request: AskRequest) -> list[Answer]:
    async with aclosing(ask(request)) as answers:
        return [answer async for answer in answers]


def _document_row(record: DocumentRecord) -> dict[str, object]:
    return {
        "document": record.name,
        "document_id": record.id,
        "state": record.state,
        "reason": record.reason,
        "title": record.title,
        "media_type": record.media_type,
        "bytes": record.size_bytes,
        "pages": record.pages,
        "passages": record.nodes,
        "paths": list(map(storable, record.paths)),
    }


def _cells(rows: Sequence[TableRow]) -> Iterator[dict[str, object]]:
    """Yield the cells below the header; a column without a name, or with one that is taken, is named by its number."""
    headers = [row.cells for row in rows if row.is_header]
    names: list[str] = []
    for place in range(max(len(row.cells) for row in rows)):
        words = dict.fromkeys(cells[place].strip() for cells in headers if place < len(cells))
        name = " ".join(filter(None, words)) or f"column {place + 1}"
        while name in names:
            name = f"{name} ({place + 1})"
        names.append(name)
    for row in (row for row in rows if not row.is_header):
        for name, value in zip(names, row.cells, strict=False):
            yield {"page": row.page, "row": row.row + 1, "column": name, "value": value}


def _answers(answers: Sequence[Answer]) -> pl.DataFrame:
    return _frame(map(_answer_row, answers), ANSWERS)


def _answer_row(answer: Answer) -> dict[str, object]:
    plain = ("answer_id", "question", "answer", "status", "answer_by", "why", "reader", "snapshot")
    usage = ("calls", "input_tokens", "output_tokens", "cost")
    return {
        **{name: getattr(answer, name) for name in plain},
        **{name: getattr(answer.usage, name) for name in usage},
        "asked": datetime.fromisoformat(answer.asked),
        "seconds": sum(answer.usage.seconds.values()),
    }


def _citation_row(answer_id: str, citation: Citation) -> dict[str, object]:
    return {
        "answer_id": answer_id,
        "document": citation.document.name,
        "document_id": citation.document.id,
        "page": citation.page,
        "section": list(citation.section),
        "modality": citation.modality,
        "quote": citation.quote,
        "probability": citation.probability,
        "box": list(citation.box) if citation.box else None,
    }


def _frame(rows: Iterable[Mapping[str, object]], columns: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows as a frame; a name of a file may hold what is not Unicode, and stands in it as an escape."""
    plain = [{name: storable(str(cell)) if isinstance(cell, str) else cell for name, cell in row.items()} for row in rows]
    return pl.DataFrame(plain, schema=columns)
