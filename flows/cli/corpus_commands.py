"""The commands on corpora, documents and settings, without Prefect."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict

from flows.display.output import Output
from storage.artifacts import write_durably
from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location, home
from storage.records.documents import DocumentRecord, DocumentState
from storage.text import printable_path
from tasks.lineage.search import short_run
from tasks.settings.ask import AllSettings, load_settings
from tasks.settings.base import bounds_of, leaves, list_dotted
from tasks.views.corpora import CorpusView, open_runs, view_corpora, view_corpus
from tasks.views.documents import open_document, view_details, view_receipt

WELL, PROBLEM = 0, 1


def status(arguments: argparse.Namespace, output: Output) -> int:
    location = corpus_location(arguments.corpus)
    runs = open_runs(location)
    if not output.as_json:
        # First: a corpus in which nothing was published yet has nothing else to show.
        output.show("open_runs.j2", runs=runs, short_run=short_run)
    with open_for_reading(location) as snapshot:
        show_corpus(view_corpus(snapshot, runs), snapshot.documents(), output)
    return WELL


def show_corpus(corpus: CorpusView, documents: Sequence[DocumentRecord], output: Output) -> None:
    """Show these documents, what was skipped, and the sums; programs get all documents of the corpus."""
    if output.as_json:
        output.data(corpus)
        return
    documents = sorted(documents, key=lambda record: record.name.lower())
    rows = [(record.id[:8], record.name, record.state.value, record.pages, record.nodes) for record in documents]
    output.table(("id", "document", "state", "pages", "nodes"), rows, right=("pages", "nodes"))
    output.show("corpus.j2", corpus=corpus, documents=documents)


def documents_show(arguments: argparse.Namespace, output: Output) -> int:
    with open_document(arguments.corpus, arguments.document) as found:
        output.draw(view_details(*found), "document.j2")
    return WELL


def documents_remove(arguments: argparse.Namespace, output: Output) -> int:
    from storage.cleaning.removing import remove_document

    removed = remove_document(corpus_location(arguments.corpus), printable_path(arguments.document), now=arguments.now)
    output.draw(view_receipt(removed), "removed.j2")
    return WELL


def documents_export(arguments: argparse.Namespace, output: Output) -> int:
    """Write documents as canonical JSON: equal documents and settings give equal bytes."""
    from storage.corpus.export import export_document

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        chosen = [snapshot.find(printable_path(arguments.document))] if arguments.document else snapshot.documents()
        ready = sorted((record for record in chosen if record.state is DocumentState.READY), key=lambda record: record.id)
        if arguments.document and not ready:
            raise RequestError(f"{chosen[0].name} is {chosen[0].state.value}", arguments.document, chosen[0].reason)
        exported = b"[" + b",\n".join(export_document(snapshot, record.id) for record in ready) + b"]\n"
    if arguments.output:
        if not arguments.output.absolute().parent.is_dir():
            folder = str(arguments.output.absolute().parent)
            raise RequestError(f"folder {folder} does not exist", folder, "make it, or name a file in a folder that exists")
        write_durably(arguments.output.absolute(), exported)
        output.side.print(f"{len(ready)} documents written to {arguments.output}", markup=False)
    else:
        sys.stdout.buffer.write(exported)
    return WELL


def corpora_list(_arguments: argparse.Namespace, output: Output) -> int:
    found = view_corpora()
    if output.as_json:
        output.data(found)
        return WELL
    if found.corpora:
        columns = ("corpus", "documents", "pages", "nodes", "embedder")
        rows = [[getattr(row, column) for column in columns] for row in found.corpora]
        output.table(columns, rows, right=("documents", "pages", "nodes"))
    output.show("corpora.j2", corpora=found.corpora, home=home())
    return WELL


def corpora_remove(arguments: argparse.Namespace, output: Output) -> int:
    from storage.cleaning.removing import remove_corpus

    removed = remove_corpus(corpus_location(arguments.name))
    output.draw({"removed": arguments.name, **asdict(removed)}, "corpus_removed.j2")
    return WELL


def doctor(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.models:
        from tasks.models.checkup_of_servers import check_models

        servers = check_models()
        findings = [finding for server in servers for finding in server.findings]
        output.draw({"servers": servers, "findings": findings}, "checkups.j2")
    else:
        from storage.corpus.doctor import examine

        findings = examine(corpus_location(arguments.corpus))
        output.draw({"corpus": arguments.corpus, "findings": findings}, "findings.j2")
    return PROBLEM if findings else WELL


def settings(arguments: argparse.Namespace, output: Output) -> int:
    chosen = load_settings(arguments.settings, arguments.preset)
    if output.as_json:
        output.data({"settings": chosen.model_dump(mode="json"), "schema": AllSettings.model_json_schema()})
    else:
        show_settings(chosen, output, method=arguments.method)
    return WELL


def show_settings(settings: AllSettings, output: Output, *, method: bool) -> None:
    """Show users' settings, with bounds and reasons, or the method's constants, as lines of TOML."""
    values = dict(list_dotted(settings.model_dump(mode="json")))
    for name, field in leaves(type(settings)):
        if method != (field.description is None):
            continue
        bounds = bounds_of(field)
        reason = "" if method else f"  # {field.description}{f' ({bounds})' if bounds else ''}"
        # JSON's strings, numbers and booleans are TOML, too; TOML has no null.
        output.line(f"# {name} is not set{reason}" if values[name] == "null" else f"{name} = {values[name]}{reason}")
