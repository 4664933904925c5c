"""What lineage looks like: a tree that fits 80 columns, with the commands that go on from it; JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from flows.lineage_tree import SHOWN, TerminalTree, Tree
from flows.lineage_wording import (
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
)
from flows.showing import Output
from storage.answer_json import writable
from storage.codec import adapter
from storage.lineage_search import short_run
from storage.wording import shortened
from tasks.lineage_records import (
    AnswerUse,
    AnswerWalk,
    DocumentTold,
    DocumentWalk,
    PagesRead,
    Reading,
    RunKind,
    RunWalk,
    Standing,
    Walk,
)
from tasks.lineage_runs import sum_of_calls, sum_of_steps

READINGS_SHOWN = 3
NAMES = {AnswerWalk: "answer", DocumentWalk: "document", RunWalk: "run"}


def show_walk(walk: Walk, output: Output) -> None:
    """Show a walk."""
    if output.as_json:
        output.data({"kind": NAMES[type(walk)], **writable(adapter(type(walk)).dump_python(walk, mode="json"))})
        return
    show_tree(walk, TerminalTree(output))


def show_tree(walk: Walk, tree: Tree) -> None:
    """Write a walk, and what of its files cannot be read."""
    if isinstance(walk, AnswerWalk):
        _show_answer(walk, tree)
    elif isinstance(walk, DocumentWalk):
        _show_document(walk, tree)
    else:
        _show_run(walk, tree)
    for damage in walk.damaged:
        tree.line(0, damage_line(damage), style="yellow")


def _show_answer(walk: AnswerWalk, tree: Tree) -> None:
    tree.heading(f"answer {walk.answer_id[:8]}, {walk.status}, asked {_when(walk.asked)}")
    tree.line(1, walk.question)
    now = "" if walk.snapshot == walk.published else f" (published now: {walk.published})"
    tree.line(1, f"read by {walk.reader} from snapshot {walk.snapshot}{now}")
    for text in (_limits(walk.scope), settings_words(RunKind.ASK, walk.settings)):
        tree.line(1, text)
    told = ", ".join(f"{name} {value}" for name, value in walk.models.items() if not name.startswith("prompt "))
    tree.line(1, f"models: {told}")
    for note in walk.notes:
        tree.line(1, note, style="dim")
    tree.heading(run_line(walk.run))
    _show_work(walk, tree)
    tree.heading("cited" if walk.citations else "cited: nothing")
    for number, citation in enumerate(walk.citations, 1):
        where = f"{citation.document.name or 'a removed document'}, page {citation.page}, {box_words(citation.box)}"
        tree.line(1, f"[{number}] {where}, node {citation.node_id[:8]}")
    if walk.paths:
        tree.heading("paths of evidence")
    names = {each.document.id: each.document.name for each in walk.documents}
    for number, path in enumerate(walk.paths, 1):
        tree.line(1, f"{number}. share {path.share:.2f}, flow {path.flow:.2f}, quality {path.quality:.2f}")
        for text in path_lines(path, names):
            tree.line(3, text)
    tree.heading("documents" if walk.documents else "documents: none was used")
    for document in walk.documents:
        show_told(document, tree, 1, [pages for pages in walk.read_by if pages.document_id == document.document.id])
    used = [f"lineage {document.document.id[:8]}" for document in walk.documents[:READINGS_SHOWN]]
    tree.go_on(walk.corpus, f"report {walk.answer_id[:8]}", f"lineage {short_run(walk.run.run_id)}", *used)


def _limits(scope: Mapping[str, Any]) -> str:
    """Say what the question was limited to."""
    limits = [
        f"{name} {', '.join(map(str, value)) if isinstance(value, list) else value}" for name, value in scope.items() if value
    ]
    return "limited to " + "; ".join(limits) if limits else "asked of all documents"


def _show_work(work: AnswerWalk | Reading, tree: Tree, level: int = 1) -> None:
    """Show steps and calls, summed by what they did."""
    for step in sum_of_steps(work.steps):
        tree.line(level, step_line(step))
    for call in sum_of_calls(work.calls):
        tree.line(level, call_line(call))


def show_told(document: DocumentTold, tree: Tree, level: int, read_by: Sequence[PagesRead] = ()) -> None:
    """Show a document: its bytes, its files, who read them; `read_by` are the pages that an answer used."""
    tree.line(level, document_line(document), style="cyan")
    tree.line(level + 1, f"sha256 {document.document.id}")
    for path in document.paths:
        tree.line(level + 1, path)
    if read_by:
        tree.line(level + 1, f"used here: {'; '.join(map(pages_words, read_by))}")
    if document.readings:
        tree.line(level + 1, f"parsed by {document.parser}")
    for note in document.notes:
        tree.line(level + 1, note, style="dim")
    for reading in document.readings[:READINGS_SHOWN]:
        made = ", made what is published now" if reading.published else ""
        tree.line(level + 1, f"{run_line(reading.run)}{made}")
        _show_work(reading, tree, level + 2)
    if len(document.readings) > READINGS_SHOWN:
        tree.line(level + 1, f"and {len(document.readings) - READINGS_SHOWN} earlier runs; --json has all", style="dim")
    if not document.readings:
        tree.line(level + 1, "no run that read it is kept", style="dim")


def _show_document(walk: DocumentWalk, tree: Tree) -> None:
    show_told(walk.document, tree, 0)
    for earlier in walk.earlier:
        tree.heading("before, its file held")
        show_told(earlier, tree, 1)
    counted = f"{len(walk.answers):,} answers used it" if len(walk.answers) != 1 else "1 answer used it"
    tree.heading(f"{counted}{' or what its file held before' if walk.earlier else ''}")
    tree.some(1, [_use(use, walk.document.document.id) for use in walk.answers])
    commands = [f"lineage {use.answer.answer_id[:8]}" for use in walk.answers[:1]]
    commands += [f"lineage {short_run(reading.run.run_id)}" for reading in walk.document.readings[:1]]
    if walk.document.standing is Standing.PUBLISHED:
        commands.append(f"documents show {walk.document.document.id[:8]}")
    if commands:
        tree.go_on(walk.corpus, *commands)


def _use(use: AnswerUse, document_id: str) -> str:
    how = [f"cites p. {_numbers(use.cited_pages)}"] if use.cited_pages else []
    read = [page for page in use.read_pages if page not in use.cited_pages]
    how += [f"read p. {_numbers(read)}"] if read else []
    earlier = "" if use.document_id == document_id else f", of {use.document_id[:8]}"
    answer = use.answer
    return f"{answer.answer_id[:8]} {_when(answer.asked)}, {', '.join(how)}{earlier}: {shortened(answer.question)}"


def _numbers(pages: Sequence[int]) -> str:
    return ", ".join(map(str, pages))


def _show_run(walk: RunWalk, tree: Tree) -> None:
    tree.heading(run_line(walk.run))
    for text in (*run_notes(walk.run), *_parameters(walk.parameters)):
        tree.line(1, text)
    tree.line(1, settings_words(walk.run.kind, walk.settings))
    for step in walk.steps:
        tree.line(1, step_line(step))
    for call in walk.calls:
        tree.line(1, call_line(call))
    tree.some(1, [f"{step.step} failed on {step.subject[:8]}: {step.error}" for step in walk.failed])
    published = [each.document for each in walk.documents if each.published]
    others = [f"{each.document.id[:8]} is {each.why}" for each in walk.documents if not each.published]
    if walk.documents:
        tree.heading("documents")
    tree.some(1, [f"{document.id[:8]} {document.name}" for document in published])
    tree.some(1, others)
    if walk.answers:
        tree.heading("answers")
    tree.some(1, [f"{each.answer_id[:8]} {each.status}: {shortened(each.question)}" for each in walk.answers])
    commands = [f"lineage {each.answer_id[:8]}" for each in walk.answers[:1]] or [
        f"lineage {each.id[:8]}" for each in published[:1]
    ]
    if walk.run.kind is RunKind.EVALUATE:
        tree.heading("go on")
        tree.line(1, f"flowreader evaluate show {short_run(walk.run.run_id)}")
    elif commands:
        tree.go_on(walk.corpus, *commands)


def _parameters(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was asked of a run, each on a line; what was not said is left out."""
    for name, value in parameters.items():
        if isinstance(value, list) and value:
            more = f" and {len(value) - SHOWN} more" if len(value) > SHOWN else ""
            yield f"{name}: {', '.join(map(str, value[:SHOWN]))}{more}"
        elif value not in (None, "", []):
            yield f"{name.replace('_', ' ')}: {value}"


def _when(moment: str) -> str:
    """Return an ISO 8601 time in UTC, to the minute."""
    return f"{moment[:16].replace('T', ' ')} UTC"
