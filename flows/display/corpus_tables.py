"""What a corpus, a document, findings and settings look like, to people and to programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from flows.display.output import Output
from storage.catalog.catalog import CatalogDamagedError, StoreVersionError
from storage.catalog.current import CurrentDamagedError, pulled_from
from storage.catalog.in_use import corpora_in
from storage.corpus.snapshot import Snapshot, UnknownCorpusError, open_for_reading
from storage.errors import Finding, UnknownError
from storage.locations import CorpusLocation, corpora_folder
from storage.records.documents import WHOLE_PAGE, DocumentRecord, Modality, Node, Page, Passage, SkippedFile
from storage.text import counted, displayed
from tasks.lineage.at_work import ingests_at_work, killed
from tasks.settings.ask import AllSettings
from tasks.settings.base import dotted, leaves

if TYPE_CHECKING:
    from storage.cleaning.removing import Receipt
    from tasks.models.checkup_of_servers import Checkup

SKIPPED_SHOWN = 20


def corpus_json(name: str, snapshot: Snapshot, skipped: Sequence[SkippedFile]) -> dict[str, Any]:
    return {
        "corpus": name,
        "snapshot": snapshot.number,
        "documents": [document_json(record) for record in snapshot.documents()],
        "skipped": [{"path": displayed(item.path), "reason": item.reason} for item in skipped],
        "totals": totals(snapshot),
    }


def status_json(location: CorpusLocation) -> dict[str, Any]:
    """Return what `status --json` says: what is published, and which runs were killed or are at work."""
    lost, going = killed(location), ingests_at_work(location)
    with open_for_reading(location) as snapshot:
        runs = {"killed": [asdict(run) for run in lost], "at_work": [asdict(run) for run in going]}
        more = runs | {"pulled_from": pulled_from(location)}
        return corpus_json(location.name, snapshot, ()) | {what: value for what, value in more.items() if value}


def corpora_rows() -> list[dict[str, Any]]:
    """Return a row for each corpus of this home; one that cannot be opened says why where others name their embedder."""
    rows = []
    for location in corpora_in(corpora_folder()):
        name = location.name
        try:
            with open_for_reading(location) as snapshot:
                pulled = {"pulled_from": address} if (address := pulled_from(location)) else {}
                row = {"corpus": name, "snapshot": snapshot.number, "embedder": snapshot.embedder.key}
                rows.append(row | totals(snapshot) | pulled)
        except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError, StoreVersionError) as error:
            rows.append({"corpus": name, "snapshot": 0, "embedder": str(error), "documents": 0, "pages": 0, "nodes": 0})
    return rows


def receipt_json(receipt: Receipt) -> dict[str, Any]:
    named = {"id": receipt.document_id, "name": receipt.name}
    gone = {"gone": dict(receipt.gone), "words": receipt_words(receipt)}
    return {"document": named, "snapshot": receipt.snapshot, **gone, "later": receipt.later}


def receipt_words(receipt: Receipt) -> str:
    """Say what went of what people know: pages, the uploaded file, what answers quoted. A file of their own stays."""
    quoting = receipt.gone["answer_texts"]
    went = [
        "its pages" if "pages" in receipt.gone else "",
        "the uploaded file" if receipt.gone["uploads"] else "",
        f"the quotes in {counted(quoting, 'answer')}" if quoting else "",
    ]
    return (
        f"gone: {', '.join(filter(None, went)) or 'what was left'}{'; its file stays where it lies' if receipt.file_stays else ''}"
    )


def document_json(record: DocumentRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "name": record.name,
        "other_names": list(record.other_names),
        "state": record.state.value,
        "reason": record.reason,
        "pages": record.pages,
        "nodes": record.nodes,
    }


def details_json(snapshot: Snapshot, record: DocumentRecord) -> dict[str, Any]:
    kinds = Counter(node.kind.value for node in snapshot.nodes(record.id))
    return {
        **document_json(record),
        "paths": list(record.paths),
        "title": record.title,
        "media_type": record.media_type,
        "notes": list(record.notes),
        "kinds": dict(sorted(kinds.items())),
        "sections": sections_json(snapshot, record),
        "page_list": [
            {"page": p.number, "label": p.label, "parser": p.parser.value, "note": p.note, "summary": p.summary}
            for p in snapshot.pages(record.id)
        ],
    }


def sections_json(snapshot: Snapshot, record: DocumentRecord) -> list[dict[str, Any]]:
    """Return the outline in reading order."""
    return [
        {"title": each.title, "level": each.level, "first_page": each.first_page, "last_page": each.last_page}
        for each in snapshot.sections(record.id)
    ]


def page_of(snapshot: Snapshot, record: DocumentRecord, number: int) -> Page:
    """Return a page, counted from 1; raise UnknownError where there is none."""
    if not 1 <= number <= record.pages:
        remedy = f"take 1 to {record.pages}" if record.pages else f"it is {record.state.value}: {record.reason}"
        raise UnknownError(f"document {record.name!r} has no page {number}", number, remedy)
    return snapshot.pages(record.id)[number - 1]


def texts_json(snapshot: Snapshot, page: Page) -> list[dict[str, Any]]:
    """Return the elements of a page in reading order; the box is null where they have no place on it."""
    return [
        {"node": node.id, "kind": node.kind.value, "box": None if node.box == WHOLE_PAGE else node.box, "text": words_in(node)}
        for node in snapshot.nodes_on(page.document_id, page.number)
    ]


def words_in(node: Node | Passage) -> str:
    """Return what stands in a node, its caption first; a figure's words are those read in it."""
    return "\n\n".join(dict.fromkeys(filter(None, (node.caption, node.content, node.picture_text))))


def totals(snapshot: Snapshot) -> dict[str, Any]:
    counts = snapshot.counts()
    return {
        "documents": sum(counts.documents.values()),
        "pages": counts.pages,
        "nodes": counts.nodes,
        "tables": counts.nodes_by_modality[Modality.TABLE],
        "figures": counts.nodes_by_modality[Modality.FIGURE],
        "table_rows": counts.rows,
        "edges": counts.edges,
        "states": {state: count for state, count in counts.documents.items() if count},
    }


def show_corpus(
    name: str, snapshot: Snapshot, skipped: Sequence[SkippedFile], output: Output, only: Collection[str] | None = None
) -> None:
    """Show the documents (all, or those in `only`), what was skipped, and the sums."""
    records = sorted(
        (record for record in snapshot.documents() if only is None or record.id in only), key=lambda record: record.name.lower()
    )
    rows = [(record.id[:8], record.name, record.state.value, record.pages, record.nodes) for record in records]
    output.table(("id", "document", "state", "pages", "nodes"), rows, right=("pages", "nodes"))
    for record in records:
        if record.reason:
            output.line(f"{record.name}: {record.state.value}: {record.reason}", style="yellow")
        for note in (*(f"{other} is the same document" for other in record.other_names), *record.notes):
            output.line(f"{record.name}: {note}", style="dim")
    for item in skipped[:SKIPPED_SHOWN]:
        output.line(f"skipped {displayed(item.path)}: {item.reason}", style="dim")
    if len(skipped) > SKIPPED_SHOWN:
        output.line(f"and {len(skipped) - SKIPPED_SHOWN} more skipped; --json lists all", style="dim")
    sums = totals(snapshot)
    states = ", ".join(f"{count} {state}" for state, count in sums.pop("states").items())
    summed = ", ".join(counted(count, what.removesuffix("s").replace("_", " ")) for what, count in sums.items())
    output.line(f"corpus {name}, snapshot {snapshot.number}: {summed} ({states or 'empty'})", style="bold")


def show_document(snapshot: Snapshot, record: DocumentRecord, output: Output) -> None:
    if output.as_json:
        output.data(details_json(snapshot, record))
        return
    kinds = Counter(node.kind.value for node in snapshot.nodes(record.id))
    output.line(f"{record.name}  {record.state.value}{': ' + record.reason if record.reason else ''}", style="bold")
    output.line(
        f"id {record.id}\ntitle {record.title or '-'}\ntype {record.media_type or '-'}, "
        f"{counted(record.pages, 'page')}, {counted(record.nodes, 'node')}"
    )
    output.line("nodes: " + (", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none"))
    for text in (*record.paths, *record.notes):
        output.line(f"  {text}", style="dim")
    for section in snapshot.sections(record.id):
        output.line(f"{'  ' * section.level}{section.title}  p. {section.first_page}-{section.last_page}")


def show_findings(corpus: str, findings: Sequence[Finding], output: Output) -> None:
    for finding in findings:
        output.line(f"{finding.check}: {finding.what}", style="red")
        output.line(f"  {finding.remedy}")
    output.line(f"corpus {corpus}: {counted(len(findings), 'finding') if findings else 'nothing is wrong'}")


def checkups_json(checkups: Sequence[Checkup]) -> dict[str, Any]:
    """Return what `doctor --models --json` says; `findings` are as those of `doctor --json`."""
    findings = [
        {"check": f"{checkup.server}: {check.check}", "what": check.found, "remedy": check.remedy}
        for checkup in checkups
        for check in checkup.wrong
    ]
    return {"servers": [asdict(checkup) for checkup in checkups], "findings": findings}


def show_checkups(checkups: Sequence[Checkup], output: Output) -> None:
    """Show a line for each thing that was looked at of a model's server, what is wrong in red and with its remedy."""
    for checkup in checkups:
        output.line(f"{checkup.server} {checkup.address}", style="bold")
        for check in checkup.checks:
            output.line(f"  {check.check}: {check.found}", style="red" if check.remedy else "")
            if check.remedy:
                output.line(f"    {check.remedy}")
    wrong = sum(len(checkup.wrong) for checkup in checkups)
    output.line(f"models: {counted(wrong, 'finding')}" if wrong else "models: all is well")


def show_settings(settings: AllSettings, output: Output, *, method: bool) -> None:
    """Show as TOML what users turn, with bounds and reasons, or what the method is: a line each."""
    values = dict(dotted(settings.model_dump(mode="json")))
    for name, field in leaves(type(settings)):
        if method != (field.description is None):
            continue
        bounds = ", ".join(re.sub(r"^\w+\((.*)\)$", r"\1", str(rule)) for rule in field.metadata)
        reason = "" if method else f"  # {field.description}{f' ({bounds})' if bounds else ''}"
        # JSON's strings, numbers and booleans are TOML's too; for what is not set TOML has no word.
        output.line(f"# {name} is not set{reason}" if values[name] == "null" else f"{name} = {values[name]}{reason}")
