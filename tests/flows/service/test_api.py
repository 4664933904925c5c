"""REST under /api/v1: a document from its upload to its removal by the documentation's own lines, and every route beside."""

import asyncio
import csv
import io
import json
import re
import shlex
import subprocess

import httpx
import pytest
from jsonschema import ValidationError, validate
from PIL import Image
from reportlab.pdfgen.canvas import Canvas
from starlette.testclient import TestClient

from flows.service.app import web_app
from storage.locations import corpus_location, uploads_folder
from storage.lock import hold_lock
from tasks.models.process import ROOT
from tests.flows.service.worlds import ASK, ASKED, client, error, intake
from tests.program import flowreader
from tests.session_server import session_server
from tests.waiting import files_below, wait_until

API = "/api/v1/corpora/small"
ENDED = ("done", "failed", "stopped")


@pytest.fixture
def door(service_home):
    with client() as door:
        yield door


def curl_lines():
    text = (
        (ROOT / "deployments" / "docs" / "how-to" / "service.md")
        .read_text("utf-8")
        .split("A document from its upload to its removal:\n\n")[1]
    )
    return [line.strip() for line in text.split("\n\n")[0].split("\n")]


@pytest.mark.parametrize("here", [True, pytest.param(False, marks=pytest.mark.torture)])
def test_the_lines_of_the_documentation_take_a_document_from_its_upload_to_its_removal(
    service, service_home, tmp_path, monkeypatch, here
):
    """In this process all that an ingest loads is loaded once for all tests; a child of the service takes half a minute."""

    async def read_here(paths, corpus, *_more):
        done = await asyncio.to_thread(flowreader, "ingest", *paths, "--corpus", corpus, "--json", home=service_home, check=0)
        return json.loads(done.stdout)

    if here:
        monkeypatch.setattr("flows.service.ingests.run_ingest_command", read_here)
    page = Canvas(str(tmp_path / "report.pdf"), pagesize=(300, 400))
    page.drawString(40, 350, "The revenue in 2024 was 412 million euros.")
    page.save()

    def run(line):
        line = line.replace("http://127.0.0.1:4280", service).replace("default", "small")
        return subprocess.run(shlex.split(f"{line} -s -S -f"), cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    upload, watch, ask, picture, remove = curl_lines()
    begun = json.loads(run(upload))
    assert begun["state"] in ("waiting", "at work") and begun["corpus"] == "small"
    wait_until(lambda: json.loads(run(watch))["ingests"][0]["state"] in ENDED)
    ingest = json.loads(run(watch))["ingests"][0]
    assert ingest["id"] == begun["id"] and ingest["state"] == "done", ingest
    run_of_it = httpx.get(f"{session_server()}/flow_runs/{ingest['run_id']}", timeout=60).json()
    assert run_of_it["state"]["type"] == "COMPLETED" and run_of_it["tags"] == ["small"]
    (document,) = ingest["result"]["documents"]
    assert (document["name"], document["state"]) == ("report.pdf", "ready")
    (answer,) = json.loads(run(ask))["answers"]
    assert "412 million" in answer["citations"][0]["quote"]
    run(picture)
    with Image.open(tmp_path / "page.webp") as drawn:
        assert drawn.size == (pytest.approx(800, abs=2), pytest.approx(1067, abs=3))
    of_document = f"{service}{API}/documents/{document['id'][:8]}"
    (text,) = [each for each in httpx.get(f"{of_document}/pages/1", timeout=60).json()["texts"] if "412 million" in each["text"]]
    assert 0 <= text["box"][0] < text["box"][2] <= 1 and text["kind"] == "paragraph"
    given = httpx.get(f"{of_document}/pages/1/picture?width=200", timeout=60)
    assert given.headers["Content-Type"] == "image/webp" and "private" in given.headers["Cache-Control"]
    again = httpx.get(f"{of_document}/pages/1/picture?width=200", headers={"If-None-Match": given.headers["ETag"]}, timeout=60)
    assert (again.status_code, again.content) == (304, b"")
    assert json.loads(run(remove))["document"] == {"id": document["id"], "name": "report.pdf"}
    assert list((uploads_folder() / "small").iterdir()) == []
    assert "no document" in error(httpx.get(of_document, timeout=60), 404)["what"]


def test_documents_come_in_parts_and_a_table_with_all_its_cells(door):
    first = door.get(f"{API}/documents?limit=3").json()
    rest = door.get(f"{API}/documents?cursor={first['next_cursor']}").json()
    assert len({each["id"] for each in (*first["documents"], *rest["documents"])}) == 4 and rest["next_cursor"] is None
    texts = door.get(f"{API}/documents/budget.xlsx/pages/1").json()["texts"]
    node = next(each["node"] for each in texts if each["kind"] == "table")
    table = door.get(f"{API}/documents/budget.xlsx/tables/{node}.csv")
    rows = list(csv.reader(io.StringIO(table.text)))
    assert len(rows) > 2 and len({len(row) for row in rows}) == 1 and any("fuel" in cell.lower() for row in rows for cell in row)
    assert table.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''budget.xlsx-{node[:8]}.csv"
    assert table.headers["X-Content-Type-Options"] == "nosniff" and table.headers["Content-Type"].startswith("text/csv")
    found = door.get(f"{API}/search", params={"query": "fuel", "documents": "budget.xlsx", "limit": 1}).json()
    assert found["passages"][0]["document"]["name"] == "budget.xlsx" and found["next_cursor"] == 1


def test_a_text_is_checked_with_pages_and_links(door):
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    quoted = answer["citations"][0]
    text = f'“{quoted["quote"]}” (budget.xlsx, sheet 1). "Nobody ever said this".'
    checked = door.post(f"{API}/verify", json={"text": text}).json()
    elsewhere, missing = checked["checks"]
    assert (elsewhere["verdict"], missing["verdict"]) == ("elsewhere", "missing") and not checked["all_found"]
    (place,) = elsewhere["places"]
    assert {name: place[name] for name in ("document", "page", "box")} == {
        name: quoted[name] for name in ("document", "page", "box")
    }
    assert door.get(place["link"]).status_code == 200
    for given, value in (({"text": ""}, ""), ({}, ""), ({"text": "no claim at all"}, "no claim at all")):
        assert error(door.post(f"{API}/verify", json=given), 400)["value"] == value
    assert error(door.post(f"{API}/verify", json={"text": "x" * 1_000_001}), 400)["remedy"] == "send less at once"
    assert error(door.post("/api/v1/corpora/smal/verify", json={"text": "5 t"}), 404)["value"] == "smal"


def test_an_answer_is_found_again_and_counted(door):
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    assert door.get(f"{API}/answers/{answer['answer_id'][:16]}").json()["citations"] == answer["citations"]
    counted = door.get("/api/v1/metrics").text
    assert re.search(r'flowreader_question_seconds_count{reader="flow",status="evidence"} [1-9]', counted)


def test_a_question_follows_an_answer_and_their_thread_is_removed(door):
    (first,) = door.post(ASK, json={**ASKED, "fresh": True}).json()["answers"]
    following = {"corpus": "small", "follow": first["answer_id"]}
    (on,) = door.post(ASK, json={"questions": ["and of an MT-2?"], **following}).json()["answers"]
    assert on["asked_as"] == ASKED["questions"][0].replace("MT-3", "MT-2") and on["follows"] == on["thread"] == first["answer_id"]
    gone = door.delete(f"{API}/answers/{on['answer_id'][:8]}").json()
    assert gone == {"thread": first["answer_id"], "answers": 2, "reports": 0}
    for answer in (first, on):
        error(door.get(f"{API}/answers/{answer['answer_id']}"), 404)
    error(door.post(ASK, json={"questions": ["why?"], **following}), 404)
    error(door.post(ASK, json={"questions": ["why?", "how?"], **following}), 400)


def test_the_shorter_address_answers_alike(door):
    (answer,), (same,) = (door.post(path, json=ASKED).json()["answers"] for path in (ASK, "/ask"))
    assert same["citations"] == answer["citations"] and same["cached"]
    assert [error(door.post(path, json={"questions": []}), 400) for path in (ASK, "/ask")][1:] == [
        error(door.post(ASK, json={"questions": []}), 400)
    ]


@pytest.mark.parametrize(
    ("method", "path", "status", "value", "remedy"),
    [
        ("GET", "/api/v1/nothing", 404, "/api/v1/nothing", "openapi.json"),
        ("POST", "/api/v1/corpora", 405, "/api/v1/corpora", "openapi.json"),
        ("GET", "/api/v1/corpora/smal", 404, "smal", "small"),
        ("GET", "/api/v1/corpora/.small", 400, ".small", "letters"),
        ("GET", f"{API}/documents?limit=0", 400, "0", "openapi.json"),
        ("GET", f"{API}/documents/budged.xls", 404, "budged.xls", "a part that no other has"),
        ("DELETE", f"{API}/documents/..%2f..%2fetc", 404, "/api/v1/corpora/small/documents/../../etc", "openapi.json"),
        ("GET", f"{API}/documents/budget.xlsx/pages/99", 404, "99", "take 1 to 3"),
        ("GET", f"{API}/documents/budget.xlsx/pages/x", 400, "x", "openapi.json"),
        ("GET", f"{API}/documents/budget.xlsx/pages/1/picture", 404, "budget.xlsx", "texts"),
        ("GET", f"{API}/documents/budget.xlsx/pages/1/picture?width=5000", 400, "5000", "openapi.json"),
        ("GET", f"{API}/documents/budget.xlsx/tables/..csv", 404, ".", "node"),
        ("GET", f"{API}/documents/budget.xlsx/tables/{'0' * 64}.csv", 404, "0" * 64, "node"),
        ("GET", f"{API}/ingests/zzz", 404, "zzz", "remembered"),
        ("GET", f"{API}/answers/{'0' * 8}", 404, "0" * 8, "8 or more digits"),
        ("DELETE", f"{API}/answers/{'0' * 8}", 404, "0" * 8, "8 or more digits"),
        ("GET", f"{API}/answers/{'0' * 8}/lineage", 404, "0" * 8, "8 or more digits"),
        ("GET", f"{API}/search?query=%3F", 400, "?", "ask something"),
        ("PUT", f"{API}/uploads/.hidden", 400, ".hidden", "report.pdf"),
        ("PUT", f"{API}/uploads/empty.pdf", 415, "empty.pdf", "a format that is read"),
        ("PUT", f"{API}/uploads/a%0D%0Ab.pdf", 400, "a\\r\\nb.pdf", "no line break"),
        ("PUT", "/api/v1/corpora/.x/uploads/a.txt", 400, ".x", "letters"),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_words(door, service_home, method, path, status, value, remedy):
    said = error(door.request(method, path), status)
    assert said["value"] == value and remedy in said["remedy"] + said["what"], said
    assert not any((service_home / "uploads").glob("*x*"))


def test_files_of_the_machine_are_read_for_who_brings_a_token_alone(door, service_home, monkeypatch):
    given = {"paths": ["/etc/hostname"]}
    refused = error(door.post(f"{API}/ingests", json=given), 403)
    assert "read only with a token" in refused["what"] and "FLOWREADER_ASK_TOKEN" in refused["remedy"]

    async def read(paths, corpus, *_more):
        await asyncio.sleep(3600)

    monkeypatch.setattr("flows.service.ingests.run_ingest_command", read)
    with TestClient(web_app(intake(), token="sesame"), headers={"Authorization": "Bearer sesame"}) as known:
        for path in ("etc/hostname", "../x", "/a\0b"):
            assert "full path" in error(known.post(f"{API}/ingests", json={"paths": [path]}), 400)["what"]
        assert error(known.post(f"{API}/ingests", json={"paths": []}), 400)["what"].startswith("paths: ")
        begun = known.post(f"{API}/ingests", json=given)
        assert begun.status_code == 202
        one = f"{API}/ingests/{begun.json()['id']}"
        wait_until(lambda: known.get(one).json()["state"] == "at work")
        assert known.delete(one).json()["state"] == "stopped"
        # what the end of the service stops is no upload of anybody
        known.post(f"{API}/ingests", json=given)


def test_an_upload_that_no_document_comes_of_is_gone(door, service_home, monkeypatch):
    async def read(paths, corpus, *_more):
        await asyncio.sleep(3600)

    monkeypatch.setattr("flows.service.ingests.run_ingest_command", read)
    begun = [door.put(f"{API}/uploads/a.txt", content=b"a").json()["id"] for _ in range(2)]
    assert [path.name for path in files_below(service_home / "uploads")] == ["a.txt"]
    assert [door.delete(f"{API}/ingests/{each}").json()["state"] for each in begun] == ["stopped"] * 2
    assert not files_below(service_home / "uploads")


def test_a_document_that_is_being_written_is_not_removed_at_the_same_time(door, monkeypatch):
    monkeypatch.setattr("storage.cleaning.removing.LOCK_SECONDS", 0.0)
    with hold_lock(corpus_location("small").lock, wait_seconds=0):
        assert error(door.delete(f"{API}/documents/budget.xlsx"), 409)["remedy"]


def test_openapi_describes_the_api_and_the_question(door):
    described = door.get("/openapi.json").json()
    assert {path for path in described["paths"] if not path.startswith("/api/v1/")} == {"/health"}
    assert len(described["paths"]) == 21
    schemas = described["components"]["schemas"]
    assert all(name in schemas for name in re.findall('"#/components/schemas/([^"]+)"', json.dumps(described)))
    assert schemas["AskRequest"]["example"]["questions"]
    for path, methods in described["paths"].items():
        for method in methods.values():
            if path != "/health":
                assert method["responses"]["default"]["content"]["application/json"]["schema"]["$ref"].endswith("/ErrorReply"), path


def test_what_is_always_refused_is_so_by_the_description(door):
    described = door.get("/openapi.json").json()
    form = described["components"]["schemas"]["AskRequest"]["properties"]["questions"]["items"]
    (query,) = [each["schema"] for each in described["paths"][SEARCH]["get"]["parameters"] if each["name"] == "query"]
    paths = described["paths"]["/api/v1/corpora/{corpus}/ingests"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    for schema in (form, query):
        for wrong in ("", "  \n", "a" * 10_001):
            with pytest.raises(ValidationError):
                validate(wrong, schema)
        validate("How deep?", schema)
    for wrong in ("report.pdf", "", "./a", "s3://", "http://a/b"):
        with pytest.raises(ValidationError):
            validate({"paths": [wrong]}, paths)
    validate({"paths": ["/data/reports", "s3://bucket/reports/"]}, paths)


SEARCH = "/api/v1/corpora/{corpus}/search"
