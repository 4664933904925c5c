"""Which documents the kept answers used, seen without reading all of an answer: its ranking of pages is most of it, and no use."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pydantic import ValidationError

from storage.codec import adapter
from storage.records.answers import Answer, AnswerStatus, PagePlace
from storage.runs.answer_json import RULES_READ
from storage.runs.traces import HEAD_BYTES, RunLines

ANSWERS = b'"kind": "answer"'
BY_RULES = f'"reader": "{RULES_READ}"'.encode()


@dataclass(frozen=True, slots=True)
class PathPages:
    pages: tuple[PagePlace, ...]


@dataclass(frozen=True, slots=True)
class AnswerGlimpse:
    """An answer without a word of any document: what was asked, which pages it cites, which pages were read for it."""

    answer_id: str
    asked: str
    question: str
    status: str
    citations: tuple[PagePlace, ...]
    paths: tuple[PathPages, ...]
    evidence_pages: tuple[PagePlace, ...]

    @property
    def cited(self) -> tuple[PagePlace, ...]:
        """The pages that it cites, each once."""
        return tuple(dict.fromkeys(self.citations))

    @property
    def read(self) -> tuple[PagePlace, ...]:
        """The pages on its paths, each once; `top-k` has no paths, what it read is its evidence."""
        return tuple(dict.fromkeys(chain(*(path.pages for path in self.paths), self.evidence_pages)))


@dataclass(frozen=True, slots=True)
class Glimpses:
    """The answers that were looked for in one run's file; `torn` lines and `unreadable` as in RunTrace."""

    run_id: str
    answers: tuple[AnswerGlimpse, ...]
    torn: int
    unreadable: str


def glimpses(found: Iterable[RunLines], signs: Sequence[bytes]) -> Iterator[Glimpses]:
    """Yield, for each file, the answers whose line holds one of the signs; an empty sign takes all."""
    for lines in found:
        chosen = [line for line in lines.whole if ANSWERS in line[:HEAD_BYTES] and any(sign in line for sign in signs)]
        seen = [answer for answer in map(glimpse, chosen) if answer is not None]
        yield Glimpses(lines.run_id, tuple(seen), lines.torn + len(chosen) - len(seen), lines.unreadable)


def glimpse(line: bytes) -> AnswerGlimpse | None:
    """Return what a line tells of its answer; None where it tells of none that this FlowReader can read."""
    with contextlib.suppress(ValidationError):
        seen = adapter(AnswerGlimpse).validate_json(line)
        # Earlier versions called it answered, or answered in part, where no model read.
        of_rules = BY_RULES in line and seen.status != AnswerStatus.NOT_FOUND
        return replace(seen, status=AnswerStatus.EVIDENCE.value) if of_rules else seen
    return None


def glimpse_of(answer: Answer) -> AnswerGlimpse:
    """Return the same of an answer that was read whole."""
    return AnswerGlimpse(
        answer_id=answer.answer_id,
        asked=answer.asked,
        question=answer.question,
        status=answer.status.value,
        citations=tuple(PagePlace(citation.document, citation.page) for citation in answer.citations),
        paths=tuple(PathPages(path.pages) for path in answer.paths),
        evidence_pages=answer.evidence_pages,
    )
