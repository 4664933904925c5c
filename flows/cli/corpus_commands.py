"""What each command on corpora, documents and settings does, between the parsed arguments and what is shown, without Prefect."""

import argparse
import sys
from dataclasses import asdict

from flows.display.corpus_tables import (
    checkups_json,
    corpora_rows,
    receipt_json,
    receipt_words,
    show_checkups,
    show_corpus,
    show_document,
    show_findings,
    show_settings,
    status_json,
)
from flows.display.output import Output
from storage.artifacts import write_durably
from storage.catalog.current import pulled_from
from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location, home
from storage.records.documents import DocumentState
from storage.text import displayed
from tasks.lineage.at_work import ingests_at_work, killed
from tasks.lineage.search import short_run
from tasks.settings.ask import AllSettings, load_settings

WELL, PROBLEM = 0, 1


def status(arguments: argparse.Namespace, output: Output) -> int:
    location = corpus_location(arguments.corpus)
    if output.as_json:
        output.data(status_json(location))
        return WELL
    for run in killed(location):
        # Before all else: of a corpus in which nothing was published yet, there is nothing else to show.
        output.line(f"{short_run(run.run_id)}: {run.message}", style="yellow")
    for ingest in ingests_at_work(location):
        output.line(f"{short_run(ingest.run_id)}: {ingest.message}")
    with open_for_reading(location) as snapshot:
        show_corpus(arguments.corpus, snapshot, (), output)
        if address := pulled_from(location):
            output.line(f"read-only: pulled from {address}")
    return WELL


def documents_show(arguments: argparse.Namespace, output: Output) -> int:
    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        show_document(snapshot, snapshot.find(displayed(arguments.document)), output)
    return WELL


def documents_remove(arguments: argparse.Namespace, output: Output) -> int:
    from storage.cleaning.removing import remove_document

    receipt = remove_document(corpus_location(arguments.corpus), displayed(arguments.document), now=arguments.now)
    if output.as_json:
        output.data(receipt_json(receipt))
    else:
        output.line(f"{receipt.name} ({receipt.document_id[:12]}) is unpublished since snapshot {receipt.snapshot}")
        output.line(receipt_words(receipt))
        output.line(receipt.later)
    return WELL


def documents_export(arguments: argparse.Namespace, output: Output) -> int:
    """Write documents as canonical JSON: equal documents and settings give equal bytes."""
    from storage.corpus.export import export_document

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        chosen = [snapshot.find(displayed(arguments.document))] if arguments.document else snapshot.documents()
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
    rows = corpora_rows()
    if output.as_json:
        output.data({"corpora": rows})
    elif rows:
        columns = ("corpus", "documents", "pages", "nodes", "embedder")
        output.table(columns, [[row[column] for column in columns] for row in rows], right=("documents", "pages", "nodes"))
        for row in rows:
            if "pulled_from" in row:
                output.line(f"{row['corpus']} is read-only: pulled from {row['pulled_from']}")
    else:
        output.line(f"no corpus yet in {home()}; make one: flowreader ingest FOLDER")
    return WELL


def corpora_remove(arguments: argparse.Namespace, output: Output) -> int:
    from storage.cleaning.removing import remove_corpus

    removed = remove_corpus(corpus_location(arguments.name))
    if output.as_json:
        output.data({"removed": arguments.name, **asdict(removed)})
    else:
        files = f"; its files stay for now: {removed.postponed}; a later ingest deletes them" if removed.postponed else ""
        gone_too = files or f", and {removed.files} files only it used"
        output.line(f"corpus {arguments.name} with {removed.documents} documents is gone{gone_too}")
    return WELL


def doctor(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.models:
        from tasks.models.checkup_of_servers import check_models

        checkups = check_models()
        if output.as_json:
            output.data(checkups_json(checkups))
        else:
            show_checkups(checkups, output)
        return PROBLEM if any(checkup.wrong for checkup in checkups) else WELL
    from storage.corpus.doctor import examine

    findings = examine(corpus_location(arguments.corpus))
    if output.as_json:
        found = [{"check": finding.check, "what": finding.what, "remedy": finding.remedy} for finding in findings]
        output.data({"corpus": arguments.corpus, "findings": found})
    else:
        show_findings(arguments.corpus, findings, output)
    return PROBLEM if findings else WELL


def settings(arguments: argparse.Namespace, output: Output) -> int:
    chosen = load_settings(arguments.settings, arguments.preset)
    if output.as_json:
        output.data({"settings": chosen.model_dump(mode="json"), "schema": AllSettings.model_json_schema()})
    else:
        show_settings(chosen, output, method=arguments.method)
    return WELL
