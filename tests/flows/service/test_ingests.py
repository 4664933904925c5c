"""What was uploaded is read in by one process for each corpus; what comes meanwhile waits, and what is of no use goes."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from deployments.children import children_of
from flows.service import ingests
from flows.service.ingests import Ingest, Ingests, State, run_ingest_command
from storage.cleaning.owners import forget_uploads
from storage.errors import RequestError
from storage.locations import corpus_location, uploads_folder
from storage.records.documents import DocumentState
from tasks.views.errors import ErrorView, RefusedError
from tests.flows.service.test_uploads import files, kept
from tests.program import CORPUS, started
from tests.storage.worlds import failed, graph, writing
from tests.waiting import wait_until


class Reading:
    """Stands for the children: each reads until it is let go on, and says that there is no document."""

    def __init__(self, monkeypatch, *, waits=True):
        self.calls, self.going_on, self.waits = [], [], waits
        monkeypatch.setattr(ingests, "run_ingest_command", self)

    async def __call__(self, paths, corpus, hear, password):
        self.calls.append((corpus, paths))
        self.going_on.append(asyncio.Event())
        if self.waits:
            await self.going_on[-1].wait()
        raise RequestError("no", "", "mend it")

    async def begun(self, number):
        while len(self.calls) < number:
            await asyncio.sleep(0)


def read_in(monkeypatch, read, *uploads, corpus="small"):
    """Have uploads read in so, each by an ingest of its own; return these when all have ended."""

    async def world():
        service = Ingests()
        begun = [service.begin(corpus, [str(upload)], uploaded=True) for upload in uploads]
        await asyncio.gather(*service.workers.values())
        return begun

    monkeypatch.setattr(ingests, "run_ingest_command", read)
    return asyncio.run(world())


def test_one_is_at_work_for_each_corpus_and_what_comes_meanwhile_is_taken_together(own_home, monkeypatch):
    async def world():
        reading, service = Reading(monkeypatch), Ingests()
        first = service.begin("small", ["/a"])
        await reading.begun(1)
        far = service.begin("far", ["/a"])
        await reading.begun(2)
        second, third = service.begin("small", ["/b", "/c"]), service.begin("small", ["/c"])
        assert service.list_of("small") == [third, second, first] and service.find("small", first.id) is first
        with pytest.raises(RefusedError, match="the last 100"):
            service.find("small", far.id)
        gone = service.begin("small", ["/gone"])
        await service.cancel(gone)
        assert (gone.state, second.state) == (State.STOPPED, State.WAITING)
        for event in reading.going_on:
            event.set()
        await reading.begun(3)
        assert reading.calls == [("small", ("/a",)), ("far", ("/a",)), ("small", ("/b", "/c"))]
        assert first.error == ErrorView(what="no", remedy="mend it") and first.look().state == "failed"
        while not far.ended:
            await asyncio.sleep(0)
        # one of two that are read together ends: the other begins again
        await service.cancel(second)
        await reading.begun(4)
        assert second.state is State.STOPPED and reading.calls[3:] == [("small", ("/c",))]
        await service.end()
        assert third.state is State.STOPPED and not service.workers
        with pytest.raises(RefusedError, match="it is shutting down"):
            service.begin("small", ["/a"])

    asyncio.run(world())


def test_one_that_cannot_be_read_keeps_no_other_from_it_and_its_upload_goes(own_home, monkeypatch):
    async def read(paths, corpus, *_more):
        await asyncio.sleep(0.01)
        if bad in paths:
            raise RequestError(f"{bad!r} does not exist", bad, "name another")
        return {"snapshot": 1, "skipped": [{"path": paths[0], "reason": "a pipe"}]}

    bad, good = str(kept("bad.txt", b"a")), str(kept("good.txt", b"b"))
    _, failed, skipped = read_in(monkeypatch, read, "/before", bad, good)
    assert failed.error == ErrorView(what=f"{bad!r} does not exist", value=bad, remedy="name another")
    assert "a pipe" in skipped.error.what and skipped.result["documents"] == []
    assert files() == [] and list((uploads_folder() / "small").iterdir()) == []


@pytest.mark.parametrize("state", ["failed", "needs_password"])
def test_the_upload_of_a_document_that_failed_stays_to_be_read_again_and_not_by_a_service_that_begins(own_home, monkeypatch, state):
    async def read(_paths, _corpus, *_more):
        report = replace(failed(graph("report")), state=DocumentState(state), paths=(str(upload),))
        with writing(corpus_location("other")) as corpus:
            corpus.publish(records=[report])
        return {"snapshot": 1, "skipped": []}

    upload = kept("report.txt", b"words", corpus="other")
    read_in(monkeypatch, read, upload, corpus="other")
    assert [name for name, _paths in ingests.find_unread_uploads()] == [] and upload.exists()


def test_a_corpus_that_cannot_be_read_keeps_its_uploads_and_no_other_waiting(own_home, capsys):
    waits = kept("waits.txt", b"a")
    kept("damaged.txt", b"b", corpus="other")
    damaged = corpus_location("other").current
    damaged.parent.mkdir(parents=True, exist_ok=True)
    damaged.write_text("no pointer")
    assert ingests.find_unread_uploads() == [("small", [str(waits)])]
    assert "uploads of corpus 'other' stay unread" in "".join(capsys.readouterr())


def test_an_upload_that_is_removed_while_it_is_read_stops_its_ingest_and_does_not_fail_it(own_home, monkeypatch):
    async def read(paths, corpus, *_more):
        forget_uploads(paths, corpus_location(corpus))
        return {"snapshot": 1, "skipped": []}

    (removed,) = read_in(monkeypatch, read, kept("report.txt", b"a"))
    assert (removed.state, removed.error) == (State.STOPPED, None)


def test_what_is_called_off_while_another_process_is_looked_for_is_not_read(own_home, monkeypatch):
    async def world():
        reading, service = Reading(monkeypatch, waits=False), Ingests()
        gone = service.begin("small", ["/a"])
        while not looked:
            await asyncio.sleep(0)
        await service.cancel(gone)
        await service.workers["small"]
        assert gone.state is State.STOPPED and not reading.calls

    def look(_location):
        looked.append(1)
        time.sleep(0.1)
        return ()

    looked = []
    monkeypatch.setattr(ingests, "ingests_at_work", look)
    asyncio.run(world())


def test_only_what_was_uploaded_and_nobody_wants_is_tidied(own_home, monkeypatch):
    async def world():
        service = Ingests()
        with service.claim_uploads() as claim:
            claim(str(mine))
            await service.tidy(Ingest("small", (str(mine),), uploaded=True))
            assert mine.exists()
        await service.tidy(Ingest("small", (str(mine),)))
        assert mine.exists(), "it was named by its path"
        for odd in (f"{uploads_folder()}/../outside.txt", f"{uploads_folder()}/small/../../outside.txt", str(mine.parent)):
            ingest = Ingest("small", (odd,), uploaded=True)
            await service.tidy(ingest)
            assert ingest.over.is_set()
        assert mine.exists() and outside.exists()
        monkeypatch.setattr(ingests, "open_for_reading", damaged)
        await service.tidy(ingest := Ingest("small", (str(mine),), uploaded=True))
        assert mine.exists() and ingest.over.is_set()

    def damaged(_location):
        raise RequestError("it is damaged")

    mine, outside = kept("mine.txt", b"a"), own_home / "outside.txt"
    outside.touch()
    asyncio.run(world())


def test_uploads_that_were_not_read_when_the_service_ended_are_read_by_the_next(own_home, monkeypatch):
    async def first():
        reading, service = Reading(monkeypatch), Ingests()
        service.begin("small", [str(path)], uploaded=True)
        await reading.begun(1)
        await service.end()

    async def second():
        reading, service = Reading(monkeypatch, waits=False), Ingests()
        await service.go_on()
        await asyncio.gather(*service.workers.values())
        return reading.calls

    path = kept("a.txt", b"a")
    asyncio.run(first())
    assert asyncio.run(second()) == [("small", (str(path),))] and files() == []


def test_what_another_process_reads_in_is_waited_for(own_home, monkeypatch):
    elsewhere = [("at work",), ("at work",)]

    async def world():
        reading, service = Reading(monkeypatch, waits=False), Ingests()
        waiting = service.begin("small", ["/a"])
        while elsewhere:
            assert waiting.state is State.WAITING and not reading.calls
            await asyncio.sleep(0)
        await waiting.over.wait()
        assert reading.calls == [("small", ("/a",))]

    monkeypatch.setattr(ingests, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(ingests, "ingests_at_work", lambda _location: elsewhere and elsewhere.pop())
    asyncio.run(world())


def test_a_hundred_are_remembered_and_no_more_may_wait(home, monkeypatch):
    async def world():
        reading, service = Reading(monkeypatch), Ingests()
        for number in range(ingests.KEPT):
            service.begin("small", [f"/{number}"])
        with pytest.raises(RefusedError, match="try again"):
            service.begin("small", ["/a"])
        await reading.begun(1)
        reading.waits = False
        reading.going_on[0].set()
        await asyncio.gather(*service.workers.values())
        last = service.begin("small", ["/a"])
        assert len(service.kept) == ingests.KEPT and service.list_of("small")[0] is last
        await service.end()

    asyncio.run(world())


TALKATIVE = "#!/bin/sh\ntrap 'head -c 1000000 /dev/zero; exit 130' TERM\ntouch {}\nwhile :; do sleep 0.05; done\n"


def test_a_child_that_is_called_off_may_say_all_that_it_did(home, tmp_path, monkeypatch):
    program, ready = tmp_path / "program", tmp_path / "ready"
    program.write_text(TALKATIVE.format(ready))
    program.chmod(0o755)

    async def world():
        reading = asyncio.create_task(run_ingest_command(["/a"], "small", [].append))
        while not ready.exists():
            await asyncio.sleep(0.01)
        reading.cancel()
        await asyncio.wait([reading], timeout=10)
        assert reading.cancelled()

    monkeypatch.setattr("flows.service.ingests.sys.executable", str(program))
    asyncio.run(world())


SERVICE = """import asyncio, sys
from flows.service import ingests
asyncio.run(ingests.run_ingest_command(sys.argv[1:], 'far', [].append))"""


@pytest.mark.torture
def test_the_child_ends_in_order_where_it_is_called_off_and_with_its_parent_where_that_is_killed(home, monkeypatch):
    async def cancelled():
        before = children_of(os.getpid())
        reading = asyncio.create_task(run_ingest_command([str(CORPUS)], "far", [].append))
        while not (found := children_of(os.getpid()) - before):
            await asyncio.sleep(0.01)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        return found

    def gone(pids):
        return not any(Path(f"/proc/{pid}").exists() for pid in pids)

    assert gone(asyncio.run(cancelled()))
    with started([sys.executable, "-c", SERVICE, str(CORPUS)], stdout=subprocess.PIPE) as parent:
        found = wait_until(lambda: children_of(parent.pid))
        # its signal is set by the time that it has opened what it imports
        time.sleep(1.0)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_until(lambda: gone(found))
