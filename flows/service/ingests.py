"""Reads files into corpora by `flowreader ingest`, one process for each corpus at a time; what comes meanwhile waits."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

import anyio

from flows.prefect_runs.server import ROOT
from flows.service.intake import say
from flows.service.paths import from_root
from storage.cleaning.owners import forget_uploads
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import ExpectedError, RequestError
from storage.locations import corpus_location, uploads_folder
from storage.records.documents import DocumentRecord
from tasks.finding.plan import lies_below
from tasks.ingest.request import display_root
from tasks.lineage.at_work import ingests_at_work, utc_moment
from tasks.progress import Progress
from tasks.settings.environment import settings_file
from tasks.views.documents import view_document
from tasks.views.errors import ErrorView, RefusedError, view_error
from tasks.views.ingests import IngestView, view_progress

LONGEST_REPLY = 1 << 30
"""Bytes of a line from a child; the last one lists the whole corpus."""
KEPT = 100
"""Ingests that are remembered, and that may be unfinished."""
LOOK_SECONDS = 1.0


class State(StrEnum):
    WAITING = "waiting"
    AT_WORK = "at work"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass
class Ingest:
    """What is to be read, and how far it is; at the end `result` holds its documents, or `error` why there are none."""

    corpus: str
    paths: tuple[str, ...]
    uploaded: bool = False
    document: str = ""
    """The beginning of the id of the one that it reads, "" where it may read several."""
    password: str = field(default="", repr=False)
    id: str = field(default_factory=lambda: uuid4().hex)
    began: str = field(default_factory=lambda: utc_moment(time.time()))
    state: State = State.WAITING
    run_id: str | None = None
    done: int = 0
    failed: int = 0
    documents: int | None = None
    heard: dict[str, Progress] = field(default_factory=dict)
    """What was reported last of each document, the newest last."""
    result: Mapping[str, Any] | None = None
    error: ErrorView | None = None
    together: tuple[str, ...] = ()
    reading: "asyncio.Task[Mapping[str, Any]] | None" = None
    called_off: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def ended(self) -> bool:
        return self.state not in (State.WAITING, State.AT_WORK)

    def is_of(self, document_id: str) -> bool:
        return bool(self.document) and document_id.startswith(self.document)

    def look(self) -> IngestView:
        """Return the record as it is shown; its run and counts come from lineage, which takes a moment."""
        if self.state is State.AT_WORK:
            for run in ingests_at_work(corpus_location(self.corpus)):
                if set(run.paths) == set(self.together):
                    self.run_id, self.done, self.failed, self.documents = run.run_id, run.done, run.failed, run.documents
        return self.view()

    def view(self) -> IngestView:
        """Return the record as it is shown, with the run and the counts that were seen last."""
        mine = [progress for subject, progress in list(self.heard.items()) if subject.startswith(self.document)]
        shown = {name: getattr(self, name, None) for name in IngestView.model_fields}
        shown |= {"error": self.error and self.error.model_dump(), **view_progress(mine[-1] if mine else None)}
        return IngestView.model_validate(from_root(shown, self.together or self.paths))


@dataclass
class Ingests:
    """The ingests that this process began, one child at work for each corpus."""

    kept: dict[str, Ingest] = field(default_factory=dict)
    workers: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    claimed: list[str] = field(default_factory=list)
    """Uploads that are kept and belong to no ingest yet."""
    ending: bool = False

    def begin(self, corpus: str, paths: Sequence[str], *, uploaded: bool = False, document: str = "", password: str = "") -> Ingest:
        """Read the paths into the corpus, now or together with others that wait; raise RefusedError where too many do."""
        name = corpus_location(corpus).name
        if self.ending:
            raise RefusedError(503, "the query service takes no more documents: it is shutting down", "", "try again when it is up")
        if sum(not each.ended for each in self.kept.values()) >= KEPT:
            raise RefusedError(503, f"{KEPT} ingests are waiting already", str(KEPT), "try again when one of them has ended")
        ingest = Ingest(name, tuple(paths), uploaded, document, password)
        self.kept[ingest.id] = ingest
        oldest = next((each for each in self.kept.values() if each.ended), None)
        if len(self.kept) > KEPT and oldest:
            del self.kept[oldest.id]
        if name not in self.workers:
            self.workers[name] = asyncio.create_task(self._work(name))
        return ingest

    @contextmanager
    def claim_uploads(self) -> Iterator[Callable[[str], None]]:
        """Keep the uploads that the yielded function is given while the block runs."""
        mine: list[str] = []

        def claim(path: str) -> None:
            mine.append(path)
            self.claimed.append(path)

        try:
            yield claim
        finally:
            for path in mine:
                self.claimed.remove(path)

    def list_of(self, corpus: str) -> list[Ingest]:
        """Return the ingests of the corpus, the newest first."""
        return [each for each in list(self.kept.values())[::-1] if each.corpus == corpus]

    def find(self, corpus: str, ingest_id: str) -> Ingest:
        ingest = self.kept.get(ingest_id)
        if ingest is None or ingest.corpus != corpus:
            what = f"there is no ingest {ingest_id[:100]!r} of corpus {corpus!r}"
            raise RefusedError(404, what, ingest_id[:100], f"the last {KEPT} are remembered")
        return ingest

    async def cancel(self, ingest: Ingest) -> None:
        """End it: what is finished stays. Ingests that were being read with it start over."""
        ingest.called_off = True
        if ingest.state is State.WAITING:
            await self._mark_stopped(ingest)
        elif not ingest.ended:
            if ingest.reading and not ingest.reading.cancelling():
                ingest.reading.cancel()
            await ingest.over.wait()

    async def go_on(self) -> None:
        """Read uploads that an earlier service did not, because it ended or was killed."""
        for corpus, paths in await asyncio.to_thread(find_unread_uploads):
            self.begin(corpus, paths, uploaded=True)

    async def end(self) -> None:
        """End what is at work, and begin nothing more; uploads stay, and the next service reads them."""
        self.ending = True
        await asyncio.gather(*(self.cancel(each) for each in self.kept.values() if not each.ended))
        await asyncio.gather(*self.workers.values())

    async def _work(self, corpus: str) -> None:
        try:
            while self._list_waiting(corpus):
                if await asyncio.to_thread(ingests_at_work, corpus_location(corpus)):
                    # Another process reads: a second ingest would be refused.
                    await asyncio.sleep(LOOK_SECONDS)
                elif waiting := self._list_waiting(corpus):
                    # A password is for its own document alone.
                    alone = waiting[0].password
                    await self._read(corpus, waiting[:1] if alone else [each for each in waiting if not each.password])
        finally:
            del self.workers[corpus]

    def _list_waiting(self, corpus: str) -> list[Ingest]:
        return [each for each in self.kept.values() if each.corpus == corpus and each.state is State.WAITING]

    async def _read(self, corpus: str, together: Sequence[Ingest]) -> None:
        paths = tuple(dict.fromkeys(path for each in together for path in each.paths))
        heard = dict[str, Progress]()

        def hear(progress: Progress) -> None:
            heard.pop(progress.subject, None)
            heard[progress.subject] = progress

        reading = asyncio.create_task(run_ingest_command(paths, corpus, hear, together[0].password))
        for each in together:
            each.state, each.together, each.reading, each.heard = State.AT_WORK, paths, reading, heard
        await asyncio.wait([reading])
        # One unreadable path fails all of them.
        apart = len(together) > 1 and not reading.cancelled() and reading.exception() is not None
        for each in together:
            each.reading = None
            if each.called_off:
                await self._mark_stopped(each)
            elif apart or reading.cancelled():
                each.state, each.heard = State.WAITING, {}
            else:
                await self._finish(each, reading)
        for each in together if apart else ():
            if not each.ended:
                await self._read(corpus, [each])

    async def _finish(self, ingest: Ingest, reading: "asyncio.Task[Mapping[str, Any]]") -> None:
        if ingest.uploaded and not any(Path(path).exists() for path in ingest.paths):
            # Its document and the file were removed meanwhile.
            return await self._mark_stopped(ingest)
        try:
            ingest.result = result = await asyncio.to_thread(_result, ingest, reading.result())
            if result["ended"] or not result["documents"]:
                why = result["ended"] or next((each["reason"] for each in result["skipped"]), "there is none")
                raise RequestError(f"not every document was read: {why}", "", "fix that, and send it again")
            ingest.state = State.DONE
        except Exception as error:
            ingest.error, ingest.state = view_error(error, over_http=True), State.FAILED
        return await self.tidy(ingest)

    async def _mark_stopped(self, ingest: Ingest) -> None:
        ingest.state = State.STOPPED
        await self.tidy(ingest)

    async def tidy(self, ingest: Ingest) -> None:
        """Delete its uploads that gave no document, and forget its password."""
        ingest.password = ""
        try:
            if ingest.uploaded and not self.ending:
                wanted = self._list_wanted()
                published = {path for record in await asyncio.to_thread(_records, ingest) for path in record.paths}
                # Asked again: one may have been published meanwhile. Nothing runs between these two lines.
                forget_uploads(set(ingest.paths) - published - wanted - self._list_wanted(), corpus_location(ingest.corpus))
        except (ExpectedError, OSError) as error:
            say(f"an upload stays where it is, {', '.join(ingest.paths)}: {error}")
        finally:
            ingest.over.set()

    def _list_wanted(self) -> set[str]:
        return {*self.claimed, *(path for each in self.kept.values() if not each.ended for path in each.paths)}


def find_unread_uploads() -> list[tuple[str, list[str]]]:
    """Return corpora and their uploads that gave no document."""
    found = []
    for location in map(corpus_location, (folder.name for folder in sorted(uploads_folder().glob("*")))):
        uploads = [str(path) for path in sorted((uploads_folder() / location.name).glob("*/*"))]
        try:
            with suppress(UnknownCorpusError), open_for_reading(location) as snapshot:
                read = {path for record in snapshot.documents() for path in record.paths}
                uploads = [path for path in uploads if path not in read]
        except (ExpectedError, OSError) as error:
            say(f"uploads of corpus {location.name!r} stay unread: {error}")
            continue
        if uploads:
            found.append((location.name, uploads))
    return found


def _records(ingest: Ingest) -> list[DocumentRecord]:
    """Return the documents that came of its paths."""
    roots = [display_root(path) for path in ingest.paths]
    with suppress(UnknownCorpusError), open_for_reading(corpus_location(ingest.corpus)) as snapshot:
        return [record for record in snapshot.documents() if any(lies_below(path, roots) for path in record.paths)]
    return []


def _result(ingest: Ingest, said: Mapping[str, Any]) -> dict[str, Any]:
    roots = [display_root(path) for path in ingest.paths]
    return {
        "snapshot": said["snapshot"],
        "documents": [view_document(record).model_dump(mode="json") for record in _records(ingest)],
        "skipped": [each for each in said["skipped"] if lies_below(each["path"], roots)],
        "ended": said.get("ended", ""),
    }


async def run_ingest_command(
    paths: Sequence[str], corpus: str, hear: Callable[[Progress], None] = lambda _progress: None, password: str = ""
) -> Mapping[str, Any]:
    """Run `flowreader ingest` in a process of its own and return its reply; raise RequestError where it did nothing.

    What it reports of documents is for `hear`.

    When cancelled it ends in order: what is finished stays. It also ends with this process, however that ends.
    """
    settings = [f"--settings={file}"] if (file := settings_file()) else []
    # `-m` would look for modules in the current folder first: never among the user's documents
    searched = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    with password_file(password) as (given, descriptors):
        chosen = [f"--corpus={corpus}", *settings, *given]
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "flows.cli.child", str(os.getpid()), "ingest", "--json", *chosen, "--", *paths),
            env={**os.environ, "PYTHONPATH": searched, "PYTHONSAFEPATH": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_REPLY,
            pass_fds=descriptors,
            # Ctrl-C in a terminal is for us.
            start_new_session=True,
        )
        said = await _reply_of(child, hear)
    if "documents" not in said:
        what = f"the ingest ended with exit code {child.returncode}"
        raise RequestError(**said.get("error", {"what": what, "remedy": "what it wrote to the log of this server says why"}))
    return said


async def _reply_of(child: asyncio.subprocess.Process, hear: Callable[[Progress], None]) -> Mapping[str, Any]:
    """Return the last line of the child, which has ended then."""
    assert child.stdout
    said: Mapping[str, Any] = {}
    try:
        async for line in child.stdout:
            said = json.loads(line)
            if "progress" in said:
                hear(Progress(**said["progress"]))
        await child.wait()
    finally:
        if child.returncode is None:
            # SIGINT may be ignored in a child, as it is under `make up`.
            child.terminate()
            with anyio.CancelScope(shield=True):
                # Its output is read, or it would wait for ever to write it.
                await child.communicate()
    return said


@contextmanager
def password_file(password: str) -> Iterator[tuple[list[str], list[int]]]:
    """Give the option that names a file of the password, none for "", and the descriptors that the child needs for it.

    Linux has it in memory, so that a kill leaves nothing; elsewhere it lies on the disk for this account until the block ends.
    """
    if not password:
        yield [], []
        return
    in_memory = hasattr(os, "memfd_create")
    with os.fdopen(os.memfd_create("password"), "wb") if in_memory else NamedTemporaryFile() as file:
        file.write(f"*\t{password}".encode())
        file.flush()
        yield [f"--password-file={f'/dev/fd/{file.fileno()}' if in_memory else file.name}"], [file.fileno()] * in_memory
