"""A document that was not read is read again from its row: with its password where it wants one, and nothing keeps that."""

import asyncio
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from flows.service import ingests
from flows.service.app import web_app
from flows.service.ingests import Ingests, run_ingest_command
from storage.locations import corpus_location
from storage.records.documents import DocumentState
from tasks.parsing.jobs import GIVE_PASSWORD
from tasks.progress import Progress
from tasks.views.ingests import view_progress
from tests.flows.service.test_uploads import kept
from tests.flows.service.worlds import client, error, intake
from tests.storage.worlds import failed, graph, writing

HERE = "127.0.0.1:4280"
FORM = {"Origin": f"http://{HERE}"}
PASSWORD = "open\tsesame 4711"


def publish(path, *, state="needs_password", reason=f"it is encrypted{GIVE_PASSWORD}", attempt="with these limits"):
    """Have the catalog show a document that was not read, with its file; its id."""
    unread = replace(failed(graph("locked")), state=DocumentState(state), reason=reason, attempt=attempt)
    record = replace(unread, paths=(str(path),), size_bytes=1200)
    with writing(corpus_location("other")) as corpus:
        corpus.publish(records=[record])
    return record.id


@pytest.fixture
def reading(monkeypatch):
    """What the service has a child read, with which password: one that says its pages and goes on until the service ends."""
    calls = []

    async def read(paths, corpus, hear, password=""):
        calls.append((paths, corpus, password))
        hear(Progress(failed(graph("locked")).id, "parse", 2, 9))
        await asyncio.sleep(3600)

    monkeypatch.setattr(ingests, "run_ingest_command", read)
    return calls


def row(door):
    """The document's row on the shelf."""
    return door.get("/?corpus=other").text.partition('<ul class="shelf">')[2].partition("</ul>")[0]


def test_a_password_is_asked_for_at_the_row_and_given_to_that_document_alone(own_home, reading):
    upload = kept("locked.pdf", b"%PDF-1.7", corpus="other")
    document = publish(upload)
    with client(host=HERE) as door:
        before = row(door)
        assert "it is encrypted." in before and "--password-file" not in before and "PDF, 1.2 kB" in before
        (action,) = re.findall(r'class="again" method="post" action="([^"]*)"', before)
        assert 'type="password"' in before and "Read it" in before
        done = door.post(action, data={"password": PASSWORD}, headers=FORM, follow_redirects=False)
        assert done.status_code == 303 and done.headers["Location"] == "/?corpus=other#library"
        while not reading:
            door.get("/health")
        assert reading == [((str(upload),), "other", PASSWORD)]
        after = row(door)
        assert "page 3 of 9" in after and 'value="3" max="9"' in after and "data-ingest" in after and "Password" not in after
        shown = door.get("/api/v1/corpora/other/ingests").json()["ingests"]
        assert [(each["words"], each["page"], each["pages"]) for each in shown] == [("page 3 of 9", 3, 9)]
        already = error(door.post(f"/api/v1/corpora/other/documents/{document}/ingests", json={}), 409)
        assert "locked.pdf is being read in already" in already["what"] and "cancel" in already["remedy"]
        assert PASSWORD not in str(shown) + after + repr(list(door.app.state.ingests.kept.values()))
    assert all(not each.password for each in door.app.state.ingests.kept.values())


def test_a_page_of_another_begins_nothing_and_what_is_no_password_is_refused_without_being_repeated(own_home, reading):
    document = publish(kept("locked.pdf", b"%PDF-1.7", corpus="other"))
    api = f"/api/v1/corpora/other/documents/{document[:12]}/ingests"
    with client(host=HERE) as door:
        address = f"/documents/{document}/again?corpus=other"
        assert door.post(address, data={"password": "x"}, headers={"Origin": "http://evil.example"}).status_code == 400
        for wrong in ("two\nlines", "x" * 1001):
            refused = door.post(api, json={"password": wrong})
            assert error(refused, 400)["what"].startswith("a password is one line") and wrong not in refused.text
        assert not reading and door.post(api, json={"password": "right"}).status_code == 202


@pytest.mark.parametrize("token", ["", "sesame"])
def test_a_file_elsewhere_is_read_again_only_where_there_is_a_token(own_home, tmp_path, reading, token):
    (tmp_path / "locked.pdf").write_bytes(b"a")
    document = publish(tmp_path / "locked.pdf")
    bearing = {"Authorization": f"Bearer {token}"}
    with TestClient(web_app(intake(), token=token), base_url=f"http://{HERE}", headers=bearing) as door:
        assert ("--password-file" in row(door), 'class="again"' in row(door)) == (not token, bool(token))
        done = door.post(f"/documents/{document}/again?corpus=other", data={"password": "x"}, headers=FORM, follow_redirects=False)
        assert done.status_code == (303 if token else 409)


def test_a_document_that_failed_says_why_and_is_tried_again_or_removed_from_its_row(own_home, reading):
    upload = kept("locked.pdf", b"%PDF-1.7", corpus="other")
    document = publish(upload, state="failed", reason="the PDF is damaged", attempt="")
    with client(host=HERE) as door:
        shown = row(door)
        assert all(words in shown for words in ("the PDF is damaged", "Try again", "failed · PDF, 1.2 kB"))
        assert "password" not in shown
        (own,) = re.findall(r'class="remove" href="([^"]*)"', shown)
        page = door.get(own).text
        assert "the PDF is damaged" in page and f'action="/documents/{document}/remove?corpus=other"' in page
        upload.unlink()
        assert "Try again" not in row(door) and 'class="remove"' in row(door)


@pytest.mark.parametrize(
    ("attempt", "state", "helps"), [("with these limits", "failed", False), ("with these limits", "ocr_required", True)]
)
def test_another_try_is_offered_only_where_it_may_end_in_another_way(own_home, reading, attempt, state, helps):
    publish(kept("locked.pdf", b"%PDF-1.7", corpus="other"), state=state, reason="the PDF is damaged", attempt=attempt)
    with client(host=HERE) as door:
        shown = row(door)
        assert ("Try again" in shown) == helps and "the PDF is damaged" in shown


def test_what_is_read_in_and_has_no_row_stands_above_the_documents(own_home, reading):
    with client(host=HERE) as door:
        door.put("/api/v1/corpora/new/uploads/plan.txt", content=b"words")
        while not reading:
            door.get("/health")
        page = door.get("/?corpus=new").text
        (line,) = re.findall(r"<li data-ingest=.*?</li>", page, re.DOTALL)
        assert "<bdi>plan.txt</bdi>" in line and "waiting" in line
        assert page.index("<li data-ingest") < page.index('id="documents"')


def test_an_ingest_with_a_password_is_read_alone(own_home, monkeypatch):
    calls = []

    async def read(paths, _corpus, _hear, password):
        calls.append((paths, password))
        return {"snapshot": 1, "skipped": []}

    async def world():
        service = Ingests()
        for name, password in (("a", ""), ("b", "secret"), ("c", "")):
            service.begin("small", [f"/{name}"], password=password)
        await asyncio.gather(*service.workers.values())

    monkeypatch.setattr(ingests, "run_ingest_command", read)
    asyncio.run(world())
    assert calls == [(("/a", "/c"), ""), (("/b",), "secret")]


PROGRAM = r"""#!/bin/sh
for each; do case $each in --password-file=*) file=${each#*=};; esac; done
echo '{"progress": {"subject": "a", "step": "parse", "done": 1, "total": 3}}'
printf '{"documents": [], "words": "%s", "file": "%s"}\n' "$(cut -f2 < $file) $(cut -f2 < $file)" "$file"
"""


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_child_finds_the_password_as_often_as_it_looks_and_says_its_pages(home, tmp_path, monkeypatch, in_memory):
    if not in_memory:
        monkeypatch.delattr(os, "memfd_create")
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    program, heard = tmp_path / "program", []
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setattr("flows.service.ingests.sys.executable", str(program))
    said = asyncio.run(run_ingest_command(["/a"], "small", heard.append, "two words"))
    assert said["words"] == "two words two words" and said["file"].startswith("/dev/fd/" if in_memory else str(tmp_path))
    assert in_memory or not Path(said["file"]).exists()
    assert heard == [Progress("a", "parse", 1, 3)]


@pytest.mark.parametrize(
    ("progress", "words", "page"),
    [
        (None, "waiting", None),
        (("parse", 0, 60), "page 1 of 60", 1),
        (("parse", 60, 60), "page 60 of 60", 60),
        (("read-words", 2, 9), "picture 3 of 9", None),
        (("embed", 10, 90), "indexing", None),
    ],
)
def test_progress_is_in_words(progress, words, page):
    shown = view_progress(progress and Progress("a", *progress))
    assert (shown["words"], shown["page"]) == (words, page)
