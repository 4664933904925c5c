"""The words of lineage on a terminal: one line for a run, a step, a call, a document, a node."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from flows.display.corpus_tables import counting
from storage.records.documents import Box
from storage.text import shortened
from tasks.lineage.records import (
    MAKES_DOCUMENTS,
    Damage,
    DocumentHistory,
    NodePlace,
    PagesRead,
    PathPlaces,
    Row,
    RunHead,
    RunKind,
    Standing,
)
from tasks.lineage.runs import KILLED, when
from tasks.lineage.search import short_run
from tasks.settings.ask import AllSettings, AskSettings
from tasks.settings.base import Settings, dotted
from tasks.settings.ingest import IngestSettings

DEFAULTS: Mapping[RunKind, type[Settings]] = {
    RunKind.ASK: AskSettings,
    RunKind.INGEST: IngestSettings,
    RunKind.EVOLVE: IngestSettings,
    RunKind.EVALUATE: AllSettings,
}
SETTINGS_SHOWN = 12
STEP_WIDTH = 14


def run_line(run: RunHead) -> str:
    began = f", {when(run.began)}" if run.began else ""
    code = f", code {run.code_version}" if run.code_version else ""
    ended = f", {run.outcome}" + ("" if run.snapshot is None else f" at snapshot {run.snapshot}")
    return f"{run.kind.words} {short_run(run.run_id)}{began}{code}{ended}"


def run_notes(run: RunHead) -> Iterator[str]:
    if run.outcome == KILLED and run.kind in {*MAKES_DOCUMENTS, RunKind.EVALUATE}:
        yield "what it finished is kept; the same command goes on with the rest"
    for killed in run.took_over:
        yield f"did the rest of run {short_run(killed)}, which was killed"


def step_line(step: Row) -> str:
    times, hits, attempts = step["times"], step["cache_hits"], step["attempts"]
    parts = [f"{step['seconds']:.2f} s"]
    parts += [f"{times} times"] if times > 1 else []
    parts += [f"{hits} from the cache" if times > 1 else "from the cache"] if hits else []
    parts += [f"{attempts} attempts"] if attempts > 1 else []
    parts += [f"{step[outcome]} {outcome}" if times > 1 else outcome for outcome in ("failed", "stopped") if step[outcome]]
    return f"{step['step']:{STEP_WIDTH}} {', '.join(parts)}"


def call_line(call: Row) -> str:
    ended = ", ".join(f"{count} {outcome}" for outcome, count in call["outcomes"].items())
    prompt = f"prompt {call['prompt'] or 'changed since'} {call['prompt_hash'][:8]}"
    money = f", ${call['cost']:,.4f}" if call["cost"] else ""
    tokens = f"{call['input_tokens']:,} + {call['output_tokens']:,} tokens"
    what = f"call {call['purpose']}"
    return f"{what:{STEP_WIDTH}} {call['seconds']:.2f} s, {ended}; {call['model']}, {prompt}, {tokens}{money}"


def document_line(document: DocumentHistory) -> str:
    short = document.document.id[:8]
    if document.standing is Standing.GONE:
        return f"{short}, not in the corpus"
    if document.standing is Standing.REPLACED:
        return f"{document.document.name} {short}, replaced: its file has another content now"
    size = f"{document.size_bytes:,} bytes, {counting(document.pages, 'pages')}, {counting(document.nodes, 'nodes')}"
    reason = f": {document.reason}" if document.reason else ""
    return f"{document.document.name} {short}, {document.state}{reason}, {document.media_type or 'type unknown'}, {size}"


def pages_words(read: PagesRead) -> str:
    first, last = min(read.pages), max(read.pages)
    whole = len(read.pages) == last - first + 1
    pages = f"{first}-{last}" if whole and last > first else ", ".join(map(str, read.pages))
    return f"page{'s' if len(read.pages) > 1 else ''} {pages} by {read.parser}{f' ({read.note})' if read.note else ''}"


def path_lines(path: PathPlaces, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each page that a path leads over, with its nodes; `names` are the documents by id."""
    for (document_id, page), nodes in groupby(path.nodes, key=lambda node: (node.document_id, node.page)):
        where = f"{names.get(document_id, document_id[:8])}, page {page}" if document_id else "not in the corpus any more"
        yield f"{where}: {' -> '.join(map(_node_words, nodes))}"


def _node_words(node: NodePlace) -> str:
    return f"{node.kind or 'node'} {node.id[:8]}{f' {box_words(node.box)}' if node.box else ''}"


def use_line(use: Row, document_id: str) -> str:
    """Return an answer with the pages of the document that it cites and those that were only read for it."""
    answer, cited = use["answer"], use["cited_pages"]
    read = [page for page in use["read_pages"] if page not in cited]
    how = [f"{verb} p. {', '.join(map(str, pages))}" for verb, pages in (("cites", cited), ("read", read)) if pages]
    earlier = "" if use["document_id"] == document_id else f", of {use['document_id'][:8]}"
    return f"{answer['answer_id'][:8]} {when(answer['asked'])}, {', '.join(how)}{earlier}: {shortened(answer['question'])}"


def box_words(box: Box | None) -> str:
    """Return a box in hundredths of the page, as `[10 20 90 33]`."""
    return f"box [{' '.join(f'{100 * side:.0f}' for side in box)}] %" if box else "no box"


def settings_words(kind: RunKind, settings: Mapping[str, Any]) -> str:
    """Return the settings that differ from the defaults of this FlowReader."""
    usual = dict(dotted(DEFAULTS[kind]().model_dump(mode="json"))) if kind in DEFAULTS else {}
    changed = [f"{name} = {value}" for name, value in dotted(settings) if usual.get(name) != value]
    if not settings:
        return "settings: not known"
    more = f" and {len(changed) - SETTINGS_SHOWN} more" if len(changed) > SETTINGS_SHOWN else ""
    return f"settings other than the defaults: {', '.join(changed[:SETTINGS_SHOWN])}{more}" if changed else "settings: the defaults"


def damage_line(damage: Damage) -> str:
    name = f"the file of run {damage.run_id}"
    if damage.unreadable:
        return f"{name} cannot be read: {damage.unreadable}; what it holds is missing here"
    lines = "1 line" if damage.torn == 1 else f"{damage.torn} lines"
    return f"{name} has {lines} that cannot be read (cut by a kill or a full disk); what they held is missing here"
