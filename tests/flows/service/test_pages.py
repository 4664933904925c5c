"""The page for people: it asks without script, shows documents and what was asked, and obeys no word and no other page."""

import re
import shutil

import pytest

from tests.asking_worlds import WEIGHT
from tests.flows.service.test_app import client, error

HERE = "127.0.0.1:4280"
FORM = {"Origin": f"http://{HERE}"}
ASKED = {"corpus": "small", "question": WEIGHT, "reader": "top-k"}


@pytest.fixture(scope="module")
def home_of_module(library, tmp_path_factory):
    return shutil.copytree(library, tmp_path_factory.mktemp("pages") / "home")


@pytest.fixture
def door(home_of_module, monkeypatch):
    monkeypatch.setenv("FLOWREADER_HOME", str(home_of_module))
    return client(host=HERE)


def test_a_question_of_the_form_leads_to_its_answer_and_is_shown_among_the_others(door):
    reply = door.post("/", data=ASKED, headers=FORM, follow_redirects=False)
    assert reply.status_code == 303, reply.text
    shown = door.get(reply.headers["Location"]).text
    assert WEIGHT in shown and "163" in shown
    again = door.get("/?corpus=small").text
    assert reply.headers["Location"] in again.replace("&amp;", "&") and "evidence" in again
    assert all(name in again for name in ("product_page.html", "maintenance_manual.docx", "ready"))


@pytest.mark.parametrize(
    ("field", "words"), [({"question": " "}, "question"), ({"reader": "oracle"}, "reader"), ({"corpus": "smal"}, "smal")]
)
def test_what_cannot_be_asked_is_said_on_the_page_with_the_question_kept(door, field, words):
    reply = door.post("/", data={**ASKED, **field}, headers=FORM, follow_redirects=False)
    assert reply.status_code == 400 and 'role="alert">' in reply.text and words in reply.text.split('role="alert">')[1][:600]
    assert (field.get("question") or WEIGHT) in reply.text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://["])
def test_a_form_of_another_page_asks_nothing(door, origin):
    said = error(door.post("/", data=ASKED, headers={"Origin": origin}), 400)
    assert "another page" in said["what"]
    assert "another page" not in door.get("/").text


def test_no_word_is_markup_and_nothing_comes_from_elsewhere(door):
    hostile = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
    reply = door.post("/", data={**ASKED, "question": hostile, "corpus": hostile}, headers=FORM)
    assert "<script>alert" not in reply.text and "<img" not in reply.text
    page = door.get("/")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy and "http" not in policy
    addresses = set(re.findall(r'(?:href|src|action)="([^"]*)"', page.text))
    assert all(address.startswith(("/", "#", "data:,")) for address in addresses)
    assets = [door.get(address) for address in ("/style.css", "/static/ask.js")]
    assert all(asset.status_code == 200 and "url(" not in asset.text and "@import" not in asset.text for asset in assets)
    assert len(assets[1].content) < 60_000 and sum(len(asset.content) for asset in assets) < 200_000
    assert [asset.headers["Content-Type"].split(";")[0] for asset in assets] == ["text/css", "text/javascript"]


def test_a_home_without_a_corpus_says_how_to_begin(home):
    assert "flowreader ingest FOLDER" in client(host=HERE).get("/").text
    assert "smal" in error(client(host=HERE).get("/?corpus=smal"), 400)["what"]


@pytest.mark.parametrize("path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/"])
def test_no_other_file_is_served(home, path):
    assert client(host=HERE).get(path).status_code in {404, 405}


def test_with_a_token_the_page_is_nobody_elses(home):
    assert client(host=HERE, token="sesame").get("/").status_code == 401
