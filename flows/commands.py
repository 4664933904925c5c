"""What each command does, between the parsed arguments and what is shown. None of them needs Prefect but `ingest`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import asdict, dataclass

from flows.progress_display import clock, shown
from flows.showing import CommandError, Output
from flows.tables import corpus_json, show_corpus, show_document, show_findings, show_settings, totals
from storage.artifacts import kept_artifacts, write_durably
from storage.catalog import CatalogDamagedError, StoreTooNewError
from storage.corpora import corpora_in
from storage.current import CurrentDamagedError
from storage.disk import check_writable
from storage.lineage_search import short_run
from storage.locations import corpora_folder, corpus_location, home, shared_store, steps_folder
from storage.memo import StepMemo
from storage.object_address import checked_source, is_address
from storage.records import DocumentState
from storage.shared_copy import StoreMismatchError
from storage.shared_lock import wait_until_writable
from storage.snapshot import UnknownCorpusError, open_for_reading
from tasks.ask_settings import AllSettings
from tasks.ingest_request import IngestRequest, Survey
from tasks.ingests_at_work import ingests_at_work
from tasks.killed_runs import killed, rest_of
from tasks.object_fetching import Ahead
from tasks.planning import displayed
from tasks.publishing import upkeep_is_due
from tasks.settings import IngestSettings, load_settings
from tasks.taking_over import tell_of_killed, words_of

WELL, PROBLEM, STOPPED = 0, 1, 130


def ingest(arguments: argparse.Namespace, output: Output) -> int:
    """Read files into a corpus; where nothing changed no run is made."""
    from flows.runners import require_runner
    from tasks.ingest_model import require_model

    request = _request(arguments)
    check_writable(home())
    for address in filter(is_address, request.paths):
        output.side.print(f"looking for what is new at {displayed(address)}", markup=False, soft_wrap=True)
    found = _survey(request, output, estimate=arguments.estimate)
    if arguments.estimate:
        return _estimate(found, request.settings, output)
    began, run = time.monotonic(), _Run()
    location = corpus_location(request.corpus)
    rest = rest_of(location, request)
    if not found.plan.nothing_to_do or upkeep_is_due(location) or rest:
        # Prefect and the models take seconds to start: who is to be refused is refused before, and no corpus is made.
        require_runner(request.settings.work)
        require_model(request.settings)
        wait_until_writable(location, wait_seconds=request.settings.work.lock_wait_seconds)
        for words in words_of(location, rest):
            output.side.print(words, markup=False, soft_wrap=True)
        by_model = request.settings.reading.analysis.by == "model"
        with shown(found.plan.work, console=output.side, quiet=arguments.json, by_model=by_model):
            run = _run(request)
        for message in run.told:
            output.side.print(" ".join(message.split()), markup=False, soft_wrap=True)
    with open_for_reading(corpus_location(request.corpus)) as snapshot:
        skipped = [*found.found.skipped, *found.plan.vanished]
        asked = {file.document_id for file in found.found.files}
        if arguments.json:
            output.data(corpus_json(request.corpus, snapshot, skipped) | ({"ended": run.ended} if run.ended else {}))
        else:
            show_corpus(request.corpus, snapshot, skipped, output, only=asked)
            output.line(f"{'stopped' if run.stopped or run.ended else 'done'} after {clock(time.monotonic() - began)}")
        unready = any(record.state is not DocumentState.READY for record in snapshot.documents() if record.id in asked)
    if run.stopped:
        output.side.print("what is listed is published; the same command goes on with the rest", markup=False)
        return STOPPED
    return PROBLEM if run.ended or unready or found.found.unreadable else WELL


@dataclass(frozen=True, slots=True)
class _Run:
    """How a run went: whether the user stopped it, why it ended early by itself, and what else there is to tell."""

    stopped: bool = False
    ended: str = ""
    told: tuple[str, ...] = ()


def _run(request: IngestRequest) -> _Run:
    from flows.prefect_run import RunEndedError, run_ingest
    from tasks.ingest_report import asked

    try:
        done = run_ingest(request)
    except RunEndedError as error:
        return _Run(ended=str(error), told=(str(error),))
    if done is None:
        return _Run(stopped=True)
    used = (asked(done),) if done.calls + done.calls_remembered else ()
    return _Run(told=(*(f"mended: {message}" for message in done.mended), *used))


def _request(arguments: argparse.Namespace) -> IngestRequest:
    return IngestRequest(
        paths=tuple(map(checked_source, arguments.paths)),
        corpus=arguments.corpus,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        password_file=str(arguments.password_file) if arguments.password_file else None,
        settings=load_settings(arguments.settings, AllSettings).for_ingest() if arguments.settings else IngestSettings(),
    )


def _survey(request: IngestRequest, output: Output, *, estimate: bool) -> Survey:
    from tasks.surveying import survey_for

    # A listing tells no pages: who only wants to know what lies ahead is told what that costs.
    why = " to look into them; the ingest fetches none of them again" if estimate else ""

    def tell(ahead: Ahead) -> None:
        count = "1 object" if ahead.objects == 1 else f"{ahead.objects:,} objects"
        said = f"fetching {count} ({ahead.size_bytes / 1e6:,.1f} MB) from {ahead.shown}{why}"
        output.side.print(said, markup=False, soft_wrap=True)

    found = survey_for(request, tell)
    if not (found.found.files or found.plan.vanished):
        raise _nothing_found(request, found)
    return found


def _nothing_found(request: IngestRequest, found: Survey) -> CommandError:
    named = ", ".join(request.paths)
    given = {"--include": request.include, "--exclude": request.exclude}
    globs = [f"{flag} {glob!r}" for flag, patterns in given.items() for glob in patterns]
    what = f"no document was found under {named}" + (f" with {' '.join(globs)}" if globs else "")
    reasons = "".join(f"; {displayed(item.path)}: {item.reason}" for item in found.found.skipped[:3])
    remedy = "take other patterns, --include '*' takes every file" if globs else "name a folder that holds documents"
    return CommandError(what + reasons, named, remedy)


def _estimate(found: Survey, settings: IngestSettings, output: Output) -> int:
    from tasks.estimating import estimate

    guess = estimate(found.plan.work, settings)
    if output.as_json:
        output.data({**asdict(guess), "unchanged": len(found.plan.unchanged)})
        return WELL
    if guess.calls:
        columns = ("document", "pages", "calls", "tokens read", "tokens written")
        rows = [(one.name, one.pages, one.calls, one.input_tokens, one.output_tokens) for one in guess.by_document]
        output.table(columns, rows, right=columns[1:])
    models = (
        f"{guess.calls:,} calls of the model, {guess.input_tokens:,} tokens read and {guess.output_tokens:,} written, "
        f"cost {guess.cost:.2f}."
        if guess.calls
        else "No model is called: no tokens, no cost."
    )
    output.line(
        f"{guess.documents} documents to read ({guess.pages} pages, {guess.megabytes:.0f} MB), "
        f"{len(found.plan.unchanged)} unchanged; about {clock(guess.seconds)} on two cores, without OCR. {models}"
    )
    return WELL


def status(arguments: argparse.Namespace, output: Output) -> int:
    """Show what a corpus holds."""
    location = corpus_location(arguments.corpus)
    lost, going = killed(location), ingests_at_work(location)
    if not output.as_json:
        for run in lost:
            # Before all else: of a corpus in which nothing was published yet, there is nothing else to tell.
            output.line(f"{short_run(run.run_id)}: {run.told}", style="yellow")
        for ingest in going:
            output.line(f"{short_run(ingest.run_id)}: {ingest.told}")
    tell_of_killed(location)
    with open_for_reading(location) as snapshot:
        if output.as_json:
            runs = {"killed": [asdict(run) for run in lost], "at_work": [asdict(run) for run in going]}
            output.data(corpus_json(arguments.corpus, snapshot, ()) | {what: told for what, told in runs.items() if told})
        else:
            show_corpus(arguments.corpus, snapshot, (), output)
    return WELL


documents_list = status


def documents_show(arguments: argparse.Namespace, output: Output) -> int:
    """Show one document: its outline, its pages, and who read them."""
    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        show_document(snapshot, snapshot.find(displayed(arguments.document)), output)
    return WELL


def documents_remove(arguments: argparse.Namespace, output: Output) -> int:
    """Unpublish a document; give a receipt of what is gone and what goes later."""
    from flows.removed_pages import document_forgotten
    from tasks.removing import remove_document

    location = corpus_location(arguments.corpus)
    receipt = remove_document(location, displayed(arguments.document), now=arguments.now)
    gone = dict(receipt.gone) | document_forgotten(location, receipt.names, output)
    if output.as_json:
        named = {"id": receipt.document_id, "name": receipt.name}
        output.data({"document": named, "snapshot": receipt.snapshot, "gone": gone, "later": receipt.later})
    else:
        output.line(f"{receipt.name} ({receipt.document_id[:12]}) is unpublished since snapshot {receipt.snapshot}")
        output.line("gone: " + ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in gone.items()))
        output.line(receipt.later)
    return WELL


def documents_export(arguments: argparse.Namespace, output: Output) -> int:
    """Write documents as canonical JSON: equal documents and settings give equal bytes."""
    from storage.export import export_document

    with open_for_reading(corpus_location(arguments.corpus)) as snapshot:
        chosen = [snapshot.find(displayed(arguments.document))] if arguments.document else snapshot.documents()
        ready = sorted((record for record in chosen if record.state is DocumentState.READY), key=lambda record: record.id)
        if arguments.document and not ready:
            raise CommandError(f"{chosen[0].name} is {chosen[0].state.value}", arguments.document, chosen[0].reason)
        exported = b"[" + b",\n".join(export_document(snapshot, record.id) for record in ready) + b"]\n"
    if arguments.output:
        if not arguments.output.absolute().parent.is_dir():
            folder = str(arguments.output.absolute().parent)
            raise CommandError(f"folder {folder} does not exist", folder, "make it, or name a file in a folder that exists")
        write_durably(arguments.output.absolute(), exported)
        output.side.print(f"{len(ready)} documents written to {arguments.output}", markup=False)
    else:
        sys.stdout.buffer.write(exported)
    return WELL


def corpora_list(_arguments: argparse.Namespace, output: Output) -> int:
    """Show all corpora."""
    rows = []
    for location in corpora_in(corpora_folder(), shared_store()):
        name = location.name
        try:
            with open_for_reading(location) as snapshot:
                rows.append({"corpus": name, "snapshot": snapshot.number, "embedder": snapshot.embedder.key, **totals(snapshot)})
        except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError, StoreTooNewError, StoreMismatchError) as error:
            rows.append({"corpus": name, "snapshot": 0, "embedder": str(error), "documents": 0, "pages": 0, "nodes": 0})
    if output.as_json:
        output.data({"corpora": rows})
    elif rows:
        columns = ("corpus", "documents", "pages", "nodes", "embedder")
        output.table(columns, [[row[column] for column in columns] for row in rows], right=("documents", "pages", "nodes"))
    else:
        output.line(f"no corpus yet in {home()}; make one: flowreader ingest FOLDER")
    return WELL


def corpora_remove(arguments: argparse.Namespace, output: Output) -> int:
    """Delete a corpus, and the artifacts that only it used."""
    from flows.removed_pages import corpus_forgotten, corpus_pages
    from tasks.removing import remove_corpus

    location = corpus_location(arguments.name)
    pages = corpus_pages(location)
    removed = remove_corpus(location)
    gone = corpus_forgotten(pages, output)
    if output.as_json:
        output.data({"removed": arguments.name, **asdict(removed), **gone})
    else:
        files = f"; its files stay for now: {removed.postponed}; a later ingest deletes them" if removed.postponed else ""
        gone_too = files or f", and {removed.files} files only it used"
        output.line(f"corpus {arguments.name} with {removed.documents} documents is gone{gone_too}")
    return WELL


def doctor(arguments: argparse.Namespace, output: Output) -> int:
    """Check every promise of the store, or the servers of the models."""
    if arguments.models:
        return _doctor_models(output)
    from storage.doctor import examine

    findings = examine(corpus_location(arguments.corpus), StepMemo(steps_folder(), kept_artifacts()))
    if output.as_json:
        told = [{"check": finding.check, "what": finding.what, "remedy": finding.remedy} for finding in findings]
        output.data({"corpus": arguments.corpus, "findings": told})
    else:
        show_findings(arguments.corpus, findings, output)
    return PROBLEM if findings else WELL


def _doctor_models(output: Output) -> int:
    from flows.model_doctor import checkups_json, show_checkups
    from tasks.model_checkup import check_models

    checkups = check_models()
    if output.as_json:
        output.data(checkups_json(checkups))
    else:
        show_checkups(checkups, output)
    return PROBLEM if any(checkup.wrong for checkup in checkups) else WELL


def settings(arguments: argparse.Namespace, output: Output) -> int:
    """Show all settings with their bounds and reasons."""
    chosen = load_settings(arguments.settings, AllSettings) if arguments.settings else AllSettings()
    if output.as_json:
        output.data({"settings": chosen.model_dump(mode="json"), "schema": AllSettings.model_json_schema()})
    else:
        show_settings(chosen, output)
    return WELL
