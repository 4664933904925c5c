"""An answer as a page of Prefect's UI: what was said, where it stands, the evidence graph, and where the whole report lies."""

import base64
from collections.abc import Iterator

from storage.answer_records import Answer, Citation
from storage.codec import shortened
from tasks.judging import head_of, place_of, told_calls, verdict_of, words_of
from tasks.markdown import as_text, lineage_link, paragraphs
from tasks.reporting import KeptReport

QUOTE_SHOWN = 1_500
KEY_DIGITS = 16
PICTURE_BYTES = 250_000
"""A page is a row in the server's database: a larger graph is left to the report."""


def page_key(answer_id: str) -> str:
    """Return the key of an answer's page, as Prefect takes it: lower-case letters, digits and dashes, as many as its UI shows."""
    return f"answer-{answer_id[:KEY_DIGITS]}"


def answer_markdown(answer: Answer, kept: KeptReport) -> str:
    """Return the page; all that documents, models or people wrote stands there as text."""
    parts = [
        f"# {as_text(answer.question)}",
        *([f"**{as_text(head)}**"] if (head := head_of(answer)) else []),
        paragraphs(words_of(answer)),
        as_text(verdict_of(answer)),
        *(["## Evidence", *_citations(answer.citations)] if answer.citations else []),
        *([_picture(kept.graph)] if kept.graph and len(kept.graph) <= PICTURE_BYTES else []),
        *(f"> {as_text(note)}" for note in answer.notes),
        f"Corpus {as_text(answer.corpus)}, snapshot {answer.snapshot}; {as_text(told_calls(answer.usage))}. "
        f"The report, with the cited pages, is in {as_text(str(kept.path))}; "
        f"`flowreader answers show {answer.answer_id[:8]} --corpus {answer.corpus}` shows the answer again. "
        f"{lineage_link(page_key(answer.answer_id))}.",
    ]
    return "\n\n".join(parts) + "\n"


def _citations(citations: tuple[Citation, ...]) -> Iterator[str]:
    for number, citation in enumerate(citations, 1):
        yield f"**[{number}]** {as_text(place_of(citation))}\n\n> {as_text(shortened(citation.quote, QUOTE_SHOWN))}"


def _picture(graph: str) -> str:
    return f"![evidence graph](data:image/svg+xml;base64,{base64.b64encode(graph.encode()).decode()})"
