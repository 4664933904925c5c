"""What lineage looks like: the same lines as a tree on a terminal and as a page of Markdown; JSON for programs."""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from flows.display.output import Output
from storage.codec import adapter
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.documents import Box
from storage.runs.answer_json import writable
from storage.text import as_markdown, counted, displayed, listed, page_list, shortened
from tasks.lineage import records
from tasks.lineage.query import QueriedRows, ask_runs
from tasks.lineage.runs import KILLED, sum_of_calls, sum_of_steps, when
from tasks.lineage.search import short_run
from tasks.lineage.walk import walk
from tasks.routing.way import way_lines
from tasks.settings.ask import AllSettings, AskSettings
from tasks.settings.base import Settings, dotted
from tasks.settings.ingest import IngestSettings

SHOWN = 10
"""Answers, documents and runs in a list, at most: --json has all."""
READINGS_SHOWN, SETTINGS_SHOWN = 3, 12
ROWS_SHOWN = 100
"""Of `lineage --sql`, at most: --json has all."""
STEP_WIDTH = 14
OF_ANSWER = frozenset(
    [
        "answer_id",
        "asked",
        "question",
        "status",
        "reader",
        "corpus",
        "snapshot",
        "scope",
        "settings",
        "models",
        "notes",
        "usage",
        "citations",
        "trace",
    ]
)
"""What is told of an answer beside how it came to be: its words and pages are in `answers show`."""
DEFAULTS: Mapping[records.RunKind, type[Settings]] = {
    records.RunKind.ASK: AskSettings,
    records.RunKind.INGEST: IngestSettings,
    records.RunKind.EVOLVE: IngestSettings,
    records.RunKind.EVALUATE: AllSettings,
}
NAMES = {records.AnswerWalk: "answer", records.DocumentWalk: "document", records.RunWalk: "run"}


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


def show_walk(found: records.Walk, output: Output) -> None:
    if output.as_json:
        output.data(walk_json(found))
        return
    for line in walk_lines(found):
        output.paragraph(line.text, style=line.style, first="  " * line.level)


def walk_json(found: records.Walk) -> dict[str, Any]:
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


def walk_lines(found: records.Walk) -> Iterator[Line]:
    if isinstance(found, records.AnswerWalk):
        yield from _answer_lines(found)
    elif isinstance(found, records.DocumentWalk):
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


def _answer_lines(found: records.AnswerWalk) -> Iterator[Line]:
    answer = found.answer
    yield heading(f"answer {answer.answer_id[:8]}, {answer.status}, asked {when(answer.asked)}")
    now = "" if answer.snapshot == found.published else f" (published now: {found.published})"
    models = ", ".join(f"{name} {value}" for name, value in answer.models.items() if not name.startswith("prompt "))
    for text in (
        answer.question,
        f"read by {answer.reader} from snapshot {answer.snapshot}{now}",
        *_parameters(answer.scope),
        settings_words(records.RunKind.ASK, answer.settings),
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


def _work_lines(work: records.AnswerWalk | records.DocumentReading, level: int) -> Iterator[Line]:
    yield from (Line(level, step_line(step)) for step in sum_of_steps(work.steps))
    yield from (Line(level, call_line(call)) for call in sum_of_calls(work.calls))


def history_lines(document: records.DocumentHistory, level: int, read_by: Sequence[records.PagesRead] = ()) -> Iterator[Line]:
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


def _document_lines(found: records.DocumentWalk) -> Iterator[Line]:
    yield from history_lines(found.document, 0)
    for earlier in found.earlier:
        yield heading("before, its file held")
        yield from history_lines(earlier, 1)
    yield heading(f"{counted(len(found.answers), 'answer')} used it{' or what its file held before' if found.earlier else ''}")
    yield from _some([use_line(use, found.document.document.id) for use in found.answers])
    commands = [f"lineage {use['answer']['answer_id'][:8]}" for use in found.answers[:1]]
    commands += [f"lineage {short_run(reading.run.run_id)}" for reading in found.document.readings[:1]]
    if found.document.standing is records.Standing.PUBLISHED:
        commands.append(f"documents show {found.document.document.id[:8]}")
    yield from _go_on(found.corpus, *commands)


def _run_lines(found: records.RunWalk) -> Iterator[Line]:
    yield heading(run_line(found.run))
    goes_on = found.run.outcome == KILLED and found.run.kind in {*records.MAKES_DOCUMENTS, records.RunKind.EVALUATE}
    texts = (
        *(["what it finished is kept; the same command goes on with the rest"] if goes_on else []),
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
    yield from _some([f"{each.document.id[:8]} is not published now" for each in found.documents if not each.published])
    if found.answers:
        yield heading("answers")
    yield from _some([f"{each['answer_id'][:8]} {each['status']}: {shortened(each['question'])}" for each in found.answers])
    if found.run.kind is records.RunKind.EVALUATE:
        yield heading("go on")
        yield Line(1, f"flowreader evaluate show {short_run(found.run.run_id)}")
    else:
        ids = [*(each["answer_id"] for each in found.answers), *(each.id for each in published)]
        yield from _go_on(found.corpus, *(f"lineage {name[:8]}" for name in ids[:1]))


def _parameters(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was asked of a run, each on a line; what was not set is left out."""
    for name, value in parameters.items():
        if isinstance(value, list) and value:
            yield f"{name}: {listed(list(map(str, value)), SHOWN)}"
        elif value not in (None, "", []):
            yield f"{name.replace('_', ' ')}: {value}"


def run_line(run: records.RunHead) -> str:
    began = f", {when(run.began)}" if run.began else ""
    code = f", code {run.code_version}" if run.code_version else ""
    ended = f", {run.outcome}" + ("" if run.snapshot is None else f" at snapshot {run.snapshot}")
    return f"{run.kind.words} {short_run(run.run_id)}{began}{code}{ended}"


def step_line(step: records.Row) -> str:
    times, hits, attempts = step["times"], step["cache_hits"], step["attempts"]
    parts = [f"{step['seconds']:.2f} s"]
    parts += [f"{times} times"] if times > 1 else []
    parts += [f"{hits} from the cache" if times > 1 else "from the cache"] if hits else []
    parts += [f"{attempts} attempts"] if attempts > 1 else []
    parts += [f"{step[outcome]} {outcome}" if times > 1 else outcome for outcome in ("failed", "stopped") if step[outcome]]
    return f"{step['step']:{STEP_WIDTH}} {', '.join(parts)}"


def call_line(call: records.Row) -> str:
    ended = ", ".join(f"{count} {outcome}" for outcome, count in call["outcomes"].items())
    prompt = f"prompt {call['prompt'] or 'changed since'} {call['prompt_hash'][:8]}"
    money = f", ${call['cost']:,.4f}" if call["cost"] else ""
    tokens = f"{call['input_tokens']:,} + {call['output_tokens']:,} tokens"
    what = f"call {call['purpose']}"
    return f"{what:{STEP_WIDTH}} {call['seconds']:.2f} s, {ended}; {call['model']}, {prompt}, {tokens}{money}"


def document_line(document: records.DocumentHistory) -> str:
    short = document.document.id[:8]
    if document.standing is records.Standing.GONE:
        return f"{short}, not in the corpus"
    if document.standing is records.Standing.REPLACED:
        return f"{document.document.name} {short}, replaced: its file has another content now"
    size = f"{document.size_bytes:,} bytes, {counted(document.pages, 'page')}, {counted(document.nodes, 'node')}"
    reason = f": {document.reason}" if document.reason else ""
    return f"{document.document.name} {short}, {document.state}{reason}, {document.media_type or 'type unknown'}, {size}"


def pages_words(read: records.PagesRead) -> str:
    return f"{page_list(read.pages)} by {read.parser}{f' ({read.note})' if read.note else ''}"


def path_lines(path: records.PathPlaces, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each page that a path leads over, with its nodes; `names` are the documents by id."""
    for (document_id, page), nodes in groupby(path.nodes, key=lambda node: (node.document_id, node.page)):
        where = f"{names.get(document_id, document_id[:8])}, page {page}" if document_id else "not in the corpus any more"
        yield f"{where}: {' -> '.join(map(_node_words, nodes))}"


def _node_words(node: records.NodePlace) -> str:
    return f"{node.kind or 'node'} {node.id[:8]}{f' {box_words(node.box)}' if node.box else ''}"


def use_line(use: records.Row, document_id: str) -> str:
    """Return an answer with the pages of the document that it cites and those that were only read for it."""
    answer, cited = use["answer"], use["cited_pages"]
    read = [page for page in use["read_pages"] if page not in cited]
    how = [f"{verb} p. {', '.join(map(str, pages))}" for verb, pages in (("cites", cited), ("read", read)) if pages]
    earlier = "" if use["document_id"] == document_id else f", of {use['document_id'][:8]}"
    return f"{answer['answer_id'][:8]} {when(answer['asked'])}, {', '.join(how)}{earlier}: {shortened(answer['question'])}"


def box_words(box: Box | None) -> str:
    """Return a box in hundredths of the page, as `[10 20 90 33]`."""
    return f"box [{' '.join(f'{100 * side:.0f}' for side in box)}] %" if box else "no box"


def settings_words(kind: records.RunKind, settings: Mapping[str, Any]) -> str:
    """Return the settings that differ from the defaults of this FlowReader."""
    usual = dict(dotted(DEFAULTS[kind]().model_dump(mode="json"))) if kind in DEFAULTS else {}
    changed = [f"{name} = {value}" for name, value in dotted(settings) if usual.get(name) != value]
    if not settings:
        return "settings: not known"
    return f"settings other than the defaults: {listed(changed, SETTINGS_SHOWN)}" if changed else "settings: the defaults"


def damage_line(damage: records.Damage) -> str:
    name = f"the file of run {damage.run_id}"
    if damage.unreadable:
        return f"{name} cannot be read: {damage.unreadable}; what it holds is missing here"
    torn = f"{name} has {counted(damage.torn, 'line')} that cannot be read"
    return f"{torn} (cut by a kill or a full disk); what they held is missing here"


def show_result(result: QueriedRows, output: Output) -> None:
    for run_id, reason in result.unreadable.items():
        output.side.print(f"the file of run {run_id} cannot be read: {reason}", markup=False, style="yellow", soft_wrap=True)
    if output.as_json:
        output.data([dict(zip(result.columns, row, strict=True)) for row in result.rows])
        return
    shown = result.rows[:ROWS_SHOWN]
    numbers = [name for place, name in enumerate(result.columns) if any(isinstance(row[place], int | float) for row in shown)]
    output.table(result.columns, [[in_words(value) for value in row] for row in shown], right=numbers)
    if more := len(result.rows) - len(shown):
        output.line(f"and {more:,} more; --json has all")


def in_words(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
