"""The command `ingest`: it looks for work, reports it, and makes a run if there is some.

With `--stages` it reads no file, and the run is one of the flow `evolve`.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from flows.cli.corpus_commands import show_corpus
from flows.display.output import Output
from flows.display.progress import format_seconds, show_ingest
from storage.catalog.current import require_own
from storage.corpus.snapshot import open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location, home
from storage.lock import wait_until_free
from storage.object_address import check_source, is_address
from storage.records.documents import DocumentRecord, DocumentState
from storage.system import check_writable
from storage.text import printable_path
from tasks.ingest.publishing import maintenance_is_due
from tasks.ingest.request import EvolveRequest, IngestRequest, ReadingRequest, Survey, survey_for
from tasks.lineage.at_work import rest_of
from tasks.settings.ask import AskSettings, load_settings
from tasks.settings.ingest import IngestSettings
from tasks.settings.readers import READERS
from tasks.views.corpora import open_runs, view_corpus

WELL, PROBLEM, STOPPED = 0, 1, 130


def ingest(arguments: argparse.Namespace, output: Output) -> int:
    """Read files into a corpus; where nothing changed no run is made."""
    request = _request(arguments)
    require_own(corpus_location(request.corpus))
    check_writable(home())
    found = _survey(request, output, estimate=arguments.estimate)
    if arguments.estimate:
        return _estimate(found, request.settings, load_settings(arguments.settings, arguments.preset).ask, output)
    began, run = time.monotonic(), _Run()
    location = corpus_location(request.corpus)
    if not found.plan.nothing_to_do or maintenance_is_due(location) or rest_of(location, request):
        from flows.cluster import require_runner
        from tasks.ingest.model import require_model

        # Refuse bad requests before Prefect and the models take seconds to start, and before a corpus is made.
        require_runner(request.settings.work)
        require_model(request.settings)
        wait_until_free(location.lock, wait_seconds=request.settings.work.lock_wait_seconds)
        with show_ingest(found.plan.work, request.settings.reading, console=output.side, quiet=arguments.json):
            run = _run(request)
        for message in run.messages:
            output.side.print(" ".join(message.split()), markup=False, soft_wrap=True)
    runs = open_runs(location)
    with open_for_reading(location) as snapshot:
        corpus = view_corpus(snapshot, runs, [*found.found.skipped, *found.plan.vanished])
        documents = [record for record in snapshot.documents() if record.id in found.documents]
    if arguments.json:
        output.data(dict(corpus) | ({"ended": run.ended} if run.ended else {}))
    else:
        show_corpus(corpus, documents, output)
        output.line(f"{'stopped' if run.stopped or run.ended else 'done'} after {format_seconds(time.monotonic() - began)}")
    if run.stopped:
        output.side.print("listed documents are published; the same command goes on with the rest", markup=False)
        return STOPPED
    return PROBLEM if run.ended or _is_unready(documents, found, request) or found.found.unreadable else WELL


@dataclass(frozen=True, slots=True)
class _Run:
    """How a run went: whether the user stopped it, why it ended early by itself, and what else there is to show."""

    stopped: bool = False
    ended: str = ""
    messages: tuple[str, ...] = ()


def _run(request: ReadingRequest) -> _Run:
    from flows.cli.run import RunEndedError, run_ingest
    from tasks.views.render import TEXT, draw

    try:
        done = run_ingest(request)
    except RunEndedError as error:
        return _Run(ended=str(error), messages=(str(error),))
    if done is None:
        return _Run(stopped=True)
    return _Run(messages=tuple(draw(TEXT, "ingest_done.j2", report=done).splitlines()))


def _is_unready(documents: Sequence[DocumentRecord], found: Survey, request: ReadingRequest) -> bool:
    """Say whether a requested document is not ready, or was to be rebuilt and was not."""
    wanted = {work.document_id: work.version for work in found.plan.work} if isinstance(request, EvolveRequest) else {}
    return any(
        record.state is not DocumentState.READY or record.version != wanted.get(record.id, record.version) for record in documents
    )


def _request(arguments: argparse.Namespace) -> ReadingRequest:
    settings = load_settings(arguments.settings, arguments.preset).for_ingest()
    if arguments.stages:
        for flag in ("include", "exclude", "password_file", "estimate"):
            if getattr(arguments, flag):
                what = f"--{flag.replace('_', '-')} is about files, and --stages reads none"
                raise RequestError(what, str(getattr(arguments, flag)), "leave one of the two out; PATH says which documents")
        paths = tuple(map(check_source, arguments.paths))
        return EvolveRequest(paths=paths, corpus=arguments.corpus, preset=arguments.preset, settings=settings)
    if not arguments.paths:
        raise RequestError("no PATH is given", "ingest", "name a folder that holds documents, or --stages to read no file")
    return IngestRequest(
        paths=tuple(map(check_source, arguments.paths)),
        corpus=arguments.corpus,
        include=tuple(arguments.include),
        exclude=tuple(arguments.exclude),
        password_file=str(arguments.password_file) if arguments.password_file else None,
        preset=arguments.preset,
        settings=settings,
    )


def _survey(request: ReadingRequest, output: Output, *, estimate: bool) -> Survey:
    if isinstance(request, EvolveRequest):
        found = survey_for(request)
        if request.paths and not found.documents:
            what, remedy = (
                f"no document of corpus {request.corpus!r} was read from there",
                "`flowreader documents show NAME` shows the paths of one",
            )
            raise RequestError(what, ", ".join(request.paths), remedy)
        return found
    for address in filter(is_address, request.paths):
        output.side.print(f"looking for what is new at {printable_path(address)}", markup=False, soft_wrap=True)
    # A listing has no page counts: an estimate must fetch, and says what that costs.
    why = " to look into them; the ingest fetches none of them again" if estimate else ""

    def announce(shown: str, objects: int, size_bytes: int) -> None:
        count = "1 object" if objects == 1 else f"{objects:,} objects"
        line = f"fetching {count} ({size_bytes / 1e6:,.1f} MB) from {shown}{why}"
        output.side.print(line, markup=False, soft_wrap=True)

    found = survey_for(request, announce)
    if not (found.found.files or found.plan.vanished):
        raise _nothing_found(request, found)
    return found


def _nothing_found(request: IngestRequest, found: Survey) -> RequestError:
    named = ", ".join(request.paths)
    given = {"--include": request.include, "--exclude": request.exclude}
    globs = [f"{flag} {glob!r}" for flag, patterns in given.items() for glob in patterns]
    what = f"no document was found under {named}" + (f" with {' '.join(globs)}" if globs else "")
    reasons = "".join(f"; {printable_path(item.path)}: {item.reason}" for item in found.found.skipped[:3])
    remedy = "take other patterns, --include '*' takes every file" if globs else "name a folder that holds documents"
    return RequestError(what + reasons, named, remedy)


def _estimate(found: Survey, settings: IngestSettings, asking: AskSettings, output: Output) -> int:
    """Show what the ingest takes, and how many calls a question may make afterwards, by each reader."""
    from flows.readers import most_calls
    from tasks.ingest.estimate import estimate
    from tasks.reading.choice import settle_reading

    guess = estimate(found.plan.work, settings)
    asking = settle_reading(asking)
    bounds = {name: most_calls(name, asking) for name in READERS}
    if output.as_json:
        output.data({**asdict(guess), "unchanged": len(found.plan.unchanged), "calls_of_a_question": bounds})
        return WELL
    if guess.calls:
        columns = ("document", "pages", "calls", "tokens read", "tokens written")
        rows = [(one.name, one.pages, one.calls, one.input_tokens, one.output_tokens) for one in guess.by_document]
        output.table(columns, rows, right=columns[1:])
    ocr, unchanged = settings.reading.ocr.enabled, len(found.plan.unchanged)
    output.show("estimate.j2", guess=guess, unchanged=unchanged, time=format_seconds(guess.seconds), ocr=ocr, bounds=bounds)
    return WELL
