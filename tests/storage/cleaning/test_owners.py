"""What goes with a removed document, owner by owner; that a removal reaches all is in test_removing.py."""

from pathlib import Path

from storage.catalog.current import snapshot_path
from storage.cleaning.owners import forget_replies, forget_reports, forget_uploads
from storage.locations import calls_folder, corpus_location, reports_folder, uploads_folder
from storage.records.documents import identify
from storage.runs.replies import CachedReply, CallCache
from tests.storage.worlds import corpus_in, graph, publish, writing

REPORT, PAPER = graph("report"), graph("paper")


def test_only_reports_that_show_a_gone_document_go(home):
    forget_reports(home, {REPORT.document_id})
    (reports_folder() / "inner").mkdir(parents=True)
    for name, text in {"a.html": REPORT.document_id, "b": f'"id": "{REPORT.document_id}"', "c.html": PAPER.document_id}.items():
        (reports_folder() / name).write_text(f"before {text} after")
    forget_reports(home, {REPORT.document_id})
    assert sorted(path.name for path in reports_folder().iterdir()) == ["c.html", "inner"]


def test_replies_about_a_document_stay_where_another_corpus_has_it_unless_that_is_damaged(tmp_path):
    own, other, cache = corpus_in(tmp_path), corpus_in(tmp_path, "other"), CallCache(calls_folder(tmp_path))
    with writing(other) as corpus:
        publish(corpus, PAPER)
    for document in (REPORT, PAPER):
        cache.keep(document.document_id, identify("key"), CachedReply("{}", "model", 1, 1))
    forget_replies(own, [REPORT.document_id, PAPER.document_id])
    assert cache.subjects() == [PAPER.document_id]
    snapshot_path(other, corpus.snapshot).write_bytes(b"x" * 9000)
    forget_replies(own, [PAPER.document_id])
    assert cache.subjects() == []


def test_a_report_that_goes_while_it_is_looked_at_stops_nothing(home, monkeypatch):
    reports_folder().mkdir(parents=True)
    for name in ("a.html", "b.html"):
        (reports_folder() / name).write_text(REPORT.document_id)
    read = Path.read_bytes

    def gone_before(path):
        if path.name == "a.html":
            path.unlink()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", gone_before)
    forget_reports(home, {REPORT.document_id})
    assert list(reports_folder().iterdir()) == []


def test_an_upload_goes_with_its_folder_and_nothing_else_does(home):
    place = corpus_location("reports")
    folder = uploads_folder() / "reports"
    kept = [
        folder / "0a" / "a.pdf",
        folder / "0a" / "b.pdf",
        folder / "0b" / "c.pdf",
        uploads_folder() / "other" / "0a" / "a.pdf",
        home / "d.pdf",
    ]
    for path in kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    forget_uploads([*map(str, (kept[0], *kept[2:])), f"{folder}/../../d.pdf", str(folder), f"{folder}/0a/none.pdf"], place)
    assert [path.exists() for path in kept] == [False, True, False, True, True]
    assert [path.name for path in folder.iterdir()] == ["0a"]
