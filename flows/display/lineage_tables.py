"""What lineage looks like: the same lines as a tree on a terminal and as a page of Markdown; JSON for programs."""

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flows.display.lineage_wording import (
    box_words,
    call_line,
    damage_line,
    document_line,
    pages_words,
    path_lines,
    run_line,
    run_notes,
    settings_words,
    step_line,
    use_line,
)
from flows.display.output import Output
from flows.display.query_table import show_result
from storage.codec import adapter
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.runs.answer_json import writable
from storage.text import as_markdown, displayed, shortened
from tasks.lineage.query import ask_runs
from tasks.lineage.records import (
    AnswerWalk,
    DocumentHistory,
    DocumentReading,
    DocumentWalk,
    PagesRead,
    RunKind,
    RunWalk,
    Standing,
    Walk,
)
from tasks.lineage.runs import sum_of_calls, sum_of_steps, when
from tasks.lineage.search import short_run
from tasks.lineage.walk import walk
from tasks.routing.way import way_lines

SHOWN = 10
"""Answers, documents and runs in a list, at most: --json has all."""
READINGS_SHOWN = 3
OF_ANSWER = frozenset(
    ("answer_id", "asked", "question", "status", "reader", "corpus", "snapshot", "scope", "settings", "models", "notes", "usage")
) | {"citations", "trace"}
"""What is told of an answer beside how it came to be: its words and pages are in `answers show`."""
NAMES = {AnswerWalk: "answer", DocumentWalk: "document", RunWalk: "run"}


class Line(NamedTuple):
    """A line and how deep it stands below the others."""

    level: int
    text: str
    style: str = ""


def lineage(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.sql is not None:
        show_result(ask_runs(corpus_location(arguments.corpus), arguments.sql), output)
        return 0
    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        found = walk(snapshot, displayed(arguments.named))
    show_walk(found, output)
    return 0


def show_walk(found: Walk, output: Output) -> None:
    if output.as_json:
        output.data(walk_json(found))
        return
    for line in walk_lines(found):
        output.paragraph(line.text, style=line.style, first="  " * line.level)


def walk_json(found: Walk) -> dict[str, Any]:
    told = adapter(type(found)).dump_python(found, mode="json")
    answer = {name: value for name, value in told.pop("answer", {}).items() if name in OF_ANSWER}
    return {"kind": NAMES[type(found)], **writable(answer | told)}


def markdown_of(lines: Iterable[Line]) -> str:
    """Return headings, and lists below lists, in which all is text."""
    shown = []
    for level, text, style in lines:
        heading = "## " if style == "bold" else ""
        shown.append(f"{'  ' * (level - 1)}- {as_markdown(text)}" if level else f"\n{heading}{as_markdown(text)}\n")
    return "\n".join(shown).strip() + "\n"


def walk_lines(found: Walk) -> Iterator[Line]:
    if isinstance(found, AnswerWalk):
        yield from _answer_lines(found)
    elif isinstance(found, DocumentWalk):
        yield from _document_lines(found)
    else:
        yield from _run_lines(found)
    yield from (Line(0, damage_line(damage), "yellow") for damage in found.damaged)


def heading(text: str) -> Line:
    return Line(0, text, "bold")


def _some(texts: Sequence[str]) -> Iterator[Line]:
    yield from (Line(1, text) for text in texts[:SHOWN])
    if len(texts) > SHOWN:
        yield Line(1, f"and {len(texts) - SHOWN:,} more; --json has all", "dim")


def _go_on(corpus: str, *commands: str) -> Iterator[Line]:
    if commands:
        yield heading("go on")
    yield from (Line(1, f"flowreader {command} --corpus {corpus}") for command in commands)


def _answer_lines(found: AnswerWalk) -> Iterator[Line]:
    answer = found.answer
    yield heading(f"answer {answer.answer_id[:8]}, {answer.status}, asked {when(answer.asked)}")
    now = "" if answer.snapshot == found.published else f" (published now: {found.published})"
    models = ", ".join(f"{name} {value}" for name, value in answer.models.items() if not name.startswith("prompt "))
    for text in (
        answer.question,
        f"read by {answer.reader} from snapshot {answer.snapshot}{now}",
        *_parameters(answer.scope),
        settings_words(RunKind.ASK, answer.settings),
        f"models: {models}",
    ):
        yield Line(1, text)
    yield from (Line(1, note, "dim") for note in answer.notes)
    yield heading(run_line(found.run))
    yield from _work_lines(found, 1)
    yield heading("cited" if answer.citations else "cited: nothing")
    for number, citation in enumerate(answer.citations, 1):
        where = f"{citation.document.name or 'a removed document'}, page {citation.page}, {box_words(citation.box)}"
        yield Line(1, f"[{number}] {where}, node {citation.node_id[:8]}")
    if found.paths:
        yield heading("paths of evidence")
    names = {each.document.id: each.document.name for each in found.documents}
    for number, path in enumerate(found.paths, 1):
        competed = "" if path.share is None or path.quality is None else f"share {path.share:.2f}, quality {path.quality:.2f}, "
        yield Line(1, f"{number}. {competed}flow {path.flow:.2f}")
        yield from (Line(3, text) for text in path_lines(path, names))
    if answer.trace:
        yield heading("its way to the evidence")
    yield from (Line(1, text) for text in way_lines(answer.trace))
    yield heading("documents" if found.documents else "documents: none was used")
    for document in found.documents:
        yield from history_lines(document, 1, [pages for pages in found.read_by if pages.document_id == document.document.id])
    used = [f"lineage {document.document.id[:8]}" for document in found.documents[:READINGS_SHOWN]]
    yield from _go_on(answer.corpus, f"report {answer.answer_id[:8]}", f"lineage {short_run(found.run.run_id)}", *used)


def _work_lines(work: AnswerWalk | DocumentReading, level: int) -> Iterator[Line]:
    yield from (Line(level, step_line(step)) for step in sum_of_steps(work.steps))
    yield from (Line(level, call_line(call)) for call in sum_of_calls(work.calls))


def history_lines(document: DocumentHistory, level: int, read_by: Sequence[PagesRead] = ()) -> Iterator[Line]:
    """Yield a document: its bytes, its files, the runs that read them; `read_by` are the pages that an answer used."""
    yield Line(level, document_line(document), "cyan")
    level += 1
    yield from (Line(level, text) for text in (f"sha256 {document.document.id}", *document.paths))
    if read_by:
        yield Line(level, f"used here: {'; '.join(map(pages_words, read_by))}")
    if document.readings:
        yield Line(level, f"parsed by {document.parser}")
    yield from (Line(level, note, "dim") for note in document.notes)
    for reading in document.readings[:READINGS_SHOWN]:
        yield Line(level, run_line(reading.run) + (", made what is published now" if reading.published else ""))
        yield from _work_lines(reading, level + 1)
    if len(document.readings) > READINGS_SHOWN:
        yield Line(level, f"and {len(document.readings) - READINGS_SHOWN} earlier runs; --json has all", "dim")
    if not document.readings:
        yield Line(level, "no run that read it is kept", "dim")


def _document_lines(found: DocumentWalk) -> Iterator[Line]:
    yield from history_lines(found.document, 0)
    for earlier in found.earlier:
        yield heading("before, its file held")
        yield from history_lines(earlier, 1)
    counted = f"{len(found.answers):,} answers used it" if len(found.answers) != 1 else "1 answer used it"
    yield heading(f"{counted}{' or what its file held before' if found.earlier else ''}")
    yield from _some([use_line(use, found.document.document.id) for use in found.answers])
    commands = [f"lineage {use['answer']['answer_id'][:8]}" for use in found.answers[:1]]
    commands += [f"lineage {short_run(reading.run.run_id)}" for reading in found.document.readings[:1]]
    if found.document.standing is Standing.PUBLISHED:
        commands.append(f"documents show {found.document.document.id[:8]}")
    yield from _go_on(found.corpus, *commands)


def _run_lines(found: RunWalk) -> Iterator[Line]:
    yield heading(run_line(found.run))
    texts = (
        *run_notes(found.run),
        *_parameters(found.parameters),
        settings_words(found.run.kind, found.settings),
        *map(step_line, found.steps),
        *map(call_line, found.calls),
    )
    yield from (Line(1, text) for text in texts)
    yield from _some([f"{step.step} failed on {step.subject[:8]}: {step.error}" for step in found.failed])
    published = [each.document for each in found.documents if each.published]
    if found.documents:
        yield heading("documents")
    yield from _some([f"{document.id[:8]} {document.name}" for document in published])
    yield from _some([f"{each.document.id[:8]} is {each.why}" for each in found.documents if not each.published])
    if found.answers:
        yield heading("answers")
    yield from _some([f"{each['answer_id'][:8]} {each['status']}: {shortened(each['question'])}" for each in found.answers])
    if found.run.kind is RunKind.EVALUATE:
        yield heading("go on")
        yield Line(1, f"flowreader evaluate show {short_run(found.run.run_id)}")
    else:
        ids = [*(each["answer_id"] for each in found.answers), *(each.id for each in published)]
        yield from _go_on(found.corpus, *(f"lineage {name[:8]}" for name in ids[:1]))


def _parameters(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was asked of a run, each on a line; what was not set is left out."""
    for name, value in parameters.items():
        if isinstance(value, list) and value:
            more = f" and {len(value) - SHOWN} more" if len(value) > SHOWN else ""
            yield f"{name}: {', '.join(map(str, value[:SHOWN]))}{more}"
        elif value not in (None, "", []):
            yield f"{name.replace('_', ' ')}: {value}"
