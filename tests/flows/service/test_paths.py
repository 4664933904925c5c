"""Over HTTP a path begins with its root: nothing tells where that lies on the machine."""

import shutil
from pathlib import Path

import pytest

from flows.service.paths import from_root, roots_of
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location, home, uploads_folder
from tests.flows.service.worlds import ASK, ASKED, client


@pytest.fixture
def folder(library, tmp_path, monkeypatch):
    """The folder that the home with the corpus `small` lies in."""
    monkeypatch.setenv("FLOWREADER_HOME", str(shutil.copytree(library, tmp_path / "reader")))
    return tmp_path


def test_a_path_below_a_root_begins_with_its_name_and_an_upload_is_its_name(folder):
    upload = f"{uploads_folder()}/small/0a1b2c3d4e5f/a plan.pdf"
    assert from_root(f"disk full at '{home()}/corpora/x'") == "disk full at 'reader/corpora/x'"
    assert from_root({"paths": ["/data/reports", "/data/reports/a/b.pdf", upload], "done": 2}, ["/data/reports"]) == {
        "paths": ["reports", "reports/a/b.pdf", "a plan.pdf"],
        "done": 2,
    }
    assert from_root("/srv/data/reports is another, and s3://data/reports too", ["/data/reports"]).startswith("/srv/data/reports")
    assert from_root("/data2/x", ["/data"]) == "/data2/x"
    assert from_root("/reports/a.pdf", ["/reports"]) == "reports/a.pdf" and from_root("/a.pdf", ["/"]) == "/a.pdf"


def test_no_reply_and_no_error_says_where_anything_lies(folder):
    door = client()
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    document, answered = answer["citations"][0]["document"]["id"], answer["answer_id"]
    own, api = "?corpus=small", "/api/v1/corpora"
    shown = [
        door.get(path, headers={"Accept": accept})
        for path in (
            *("/", f"/answers/{answered}{own}", f"/answers/{answered}/lineage{own}", f"/documents/{document}{own}", "/?corpus=x"),
            *(api, f"{api}/small", f"{api}/small/documents", f"{api}/small/documents/{document}", f"{api}/small/answers"),
            *(f"{api}/small/answers/{answered}", f"{api}/small/answers/{answered}/lineage", f"{api}/small/ingests", f"{api}/x"),
        )
        for accept in ("text/html", "application/json")
    ]
    shown += [door.post("/v1/chat/completions", json={"model": "x", "messages": [{"role": "user", "content": "How deep?"}]})]
    shutil.copytree(folder / "reader" / "corpora" / "small", folder / "reader" / "corpora" / "asked")
    (folder / "reader" / "corpora" / "small" / "CURRENT").write_text("damaged")
    shown += [damaged := door.get(f"{api}/small")]
    texts = [reply.text for reply in shown]
    assert "reader/corpora/small/CURRENT" in damaged.text and any("documents/" in text for text in texts)
    with open_for_reading(corpus_location("asked")) as snapshot:
        (root,) = roots_of(snapshot.documents())
    for where in (str(folder), str(Path(root).parent)):
        assert [text for text in texts if where in text] == []
