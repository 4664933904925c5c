"""The plan reads what is new or changed, and nothing else."""

from dataclasses import replace

import pytest

from storage.records.documents import DocumentRecord, DocumentState, EmbedderIdentity, SourceFile
from storage.text import printable_path
from tasks.finding.plan import UNFINISHED, document_version, plan_again, plan_reading
from tasks.settings.ingest import IngestSettings

EMBEDDER = EmbedderIdentity("tiny", "float32", 4)
SETTINGS = IngestSettings()
OTHER = IngestSettings.model_validate({"reading": {"structure": {"merge_words": 9}}})
"""They make another graph of the same bytes."""
LIMITS = IngestSettings.model_validate({"limits": {"memory_megabytes": 999}})


def source(path, content):
    return SourceFile(path=path, document_id=content * 64, size_bytes=10)


def record(content, *paths, state=DocumentState.READY, attempt="", settings=SETTINGS, reader=""):
    return DocumentRecord(
        id=content * 64,
        version=document_version(content * 64, settings, EMBEDDER, reader),
        paths=paths,
        size_bytes=10,
        media_type="application/pdf",
        title="",
        state=state,
        reason="",
        pages=1,
        nodes=1,
        attempt=attempt,
    )


def plan(files, published=(), settings=SETTINGS, passwords=None, roots=("/in",), reader=""):
    return plan_reading(
        files=files,
        roots=roots,
        published=published,
        settings=settings,
        embedder=EMBEDDER,
        reader=reader,
        passwords=passwords or {},
    )


def test_a_new_document_is_work_and_an_unchanged_one_is_not():
    made = plan([source("/in/a.pdf", "a"), source("/in/b.pdf", "b")], [record("a", "/in/a.pdf")])
    assert [work.name for work in made.work] == ["b.pdf"]
    assert made.unchanged == ("a" * 64,) and not made.nothing_to_do
    assert plan([source("/in/a.pdf", "a")], [record("a", "/in/a.pdf")]).nothing_to_do


def test_documents_are_made_anew_where_the_settings_make_another_version_of_them():
    published = [
        record("a", "/in/a.pdf"),
        record("b", "/in/b.pdf", settings=OTHER),
        record("c", "/in/c.pdf", state=DocumentState.FAILED),
        record("d", "/out/d.pdf", settings=OTHER, attempt=UNFINISHED),
    ]

    def again(*roots):
        return plan_again(published=published, roots=roots, settings=OTHER, embedder=EMBEDDER, reader="")

    made = again()
    assert [(work.document_id[0], work.path, work.paths, work.published) for work in made.work] == [
        ("a", "", ("/in/a.pdf",), published[0]),
        ("d", "", ("/out/d.pdf",), published[3]),
    ]
    assert made.work[0] == replace(plan([source("/in/a.pdf", "a")], published, OTHER).work[0], path="")
    assert made.unchanged == ("b" * 64,) and not (made.renamed or made.outdated or made.vanished)
    assert [work.name for work in again("/out").work] == ["d.pdf"] and again("/in/b.pdf").nothing_to_do


def test_the_same_bytes_under_two_names_are_one_document_with_two_paths():
    (work,) = plan([source("/in/a.pdf", "a"), source("/in/copy.pdf", "a")]).work
    assert work.paths == ("/in/a.pdf", "/in/copy.pdf")


def test_a_second_name_of_a_known_document_changes_its_record_only():
    for known in ("/in/b.pdf", "/elsewhere/a.pdf"):
        made = plan([source("/in/a.pdf", "a"), source("/in/b.pdf", "a")], [record("a", known)])
        assert not made.work and made.renamed[0].paths == tuple(sorted({known, "/in/a.pdf", "/in/b.pdf"}))


def test_settings_that_change_the_result_make_everything_work_again_and_limits_do_not():
    known, files = [record("a", "/in/a.pdf")], [source("/in/a.pdf", "a")]
    (work,) = plan(files, known, settings=OTHER).work
    assert work.published == known[0]
    assert plan(files, known, settings=LIMITS).nothing_to_do


def test_another_model_reads_everything_again_and_the_same_one_nothing():
    files, known = [source("/in/a.pdf", "a")], [record("a", "/in/a.pdf", reader="one")]
    assert plan(files, known, reader="one").nothing_to_do
    assert plan(files, known, reader="two").work and plan(files, known).work


def test_a_document_for_which_replies_are_missing_is_read_again():
    (work,) = plan([source("/in/a.pdf", "a")], [record("a", "/in/a.pdf", attempt=UNFINISHED)]).work
    assert work.published is not None and work.published.version == work.version


def test_a_failed_document_is_tried_again_only_with_other_limits():
    files = [source("/in/a.pdf", "a")]
    (first,) = plan(files).work
    broken = [record("a", "/in/a.pdf", state=DocumentState.FAILED, attempt=first.attempt)]
    assert plan(files, broken).nothing_to_do
    assert plan(files, broken, settings=LIMITS).work
    assert plan(files, broken, passwords={"*": "other"}).nothing_to_do


def test_a_document_that_wants_a_password_is_tried_again_when_one_is_given():
    files = [source("/in/a.pdf", "a")]
    (first,) = plan(files).work
    locked = [record("a", "/in/a.pdf", state=DocumentState.NEEDS_PASSWORD, attempt=first.attempt)]
    assert plan(files, locked).nothing_to_do
    assert plan(files, locked, passwords={"b.pdf": "secret"}).nothing_to_do
    (work,) = plan(files, locked, passwords={"a.pdf": "secret"}).work
    assert work.password == "secret" and "secret" not in repr(work), "a log may show the work, never its password"
    assert plan(files, locked, passwords={"*": "other"}).work[0].password == "other"


def test_new_content_under_an_old_path_supersedes_the_old_document():
    made = plan([source("/in/a.pdf", "b")], [record("a", "/in/a.pdf")])
    assert made.superseded == {"b" * 64: ("a" * 64,)}
    assert not made.vanished
    assert plan([source("/in/a.pdf", "b")], [record("a", "/in/a.pdf", "/elsewhere/a.pdf")]).superseded == {}


def test_old_content_goes_at_once_where_its_successor_is_published_already():
    made = plan([source("/in/a.pdf", "b"), source("/in/b.pdf", "b")], [record("a", "/in/a.pdf"), record("b", "/in/b.pdf")])
    assert made.outdated == ("a" * 64,) and not made.work and not made.nothing_to_do


def test_a_vanished_file_is_reported_with_the_command_that_removes_it(tmp_path):
    (tmp_path / "excluded.pdf").write_bytes(b"x")
    known = [record("a", f"{tmp_path}/a.pdf"), record("b", "/elsewhere/b.pdf"), record("c", f"{tmp_path}/excluded.pdf")]
    (gone,) = plan([], known, roots=(str(tmp_path),)).vanished
    assert gone.path.endswith("/a.pdf") and "documents remove aaaaaaaaaaaa" in gone.reason


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/a/b.pdf", "/a/b.pdf"),
        ("/a/line\nbreak", "/a/line\\nbreak"),
        ("/a/caf\udce9", "/a/caf\\xe9"),
        ("/a/\u202egpj.pdf", "/a/\\u202egpj.pdf"),
    ],
)
def test_names_are_shown_escaped(path, shown):
    assert printable_path(path) == shown


def test_a_successor_that_failed_takes_nothing_out():
    files = [source("/in/a.pdf", "b")]
    (first,) = plan(files).work
    known = [record("a", "/in/a.pdf"), record("b", "/in/a.pdf", state=DocumentState.FAILED, attempt=first.attempt)]
    again = plan(files, known)
    assert not again.work and not again.outdated


def test_a_path_belongs_to_the_document_that_it_holds_now():
    both = record("a", "/in/1.pdf", "/in/2.pdf")
    made = plan([source("/in/1.pdf", "b"), source("/in/2.pdf", "a")], [both])
    assert [(moved.id, moved.paths) for moved in made.renamed] == [("a" * 64, ("/in/2.pdf",))]
    elsewhere = plan([source("/in/1.pdf", "b")], [record("a", "/in/1.pdf", "/elsewhere/a.pdf")])
    assert [moved.paths for moved in elsewhere.renamed] == [("/elsewhere/a.pdf",)]


def test_a_new_version_that_failed_is_not_tried_again_with_the_same_limits():
    files = [source("/in/a.pdf", "a")]
    (first,) = plan(files).work
    kept = replace(record("a", "/in/a.pdf"), version="old", attempt=first.failed_rereading)
    assert plan(files, [kept]).nothing_to_do
    assert plan(files, [replace(kept, attempt="")]).work
    assert plan(files, [kept], settings=LIMITS).work


def test_a_file_of_an_odd_name_that_was_left_out_is_not_gone(tmp_path):
    folder = tmp_path / "odd\nfolder"
    folder.mkdir()
    for name in ("a\nb.txt", "c\\d.txt"):
        (folder / name).write_bytes(b"x")
    known = [
        record(key, printable_path(str(folder / name))) for key, name in (("a", "a\nb.txt"), ("b", "c\\d.txt"), ("c", "e\nf.txt"))
    ]
    made = plan([], known, roots=(printable_path(str(tmp_path)),))
    assert [gone.path.rsplit("/", 1)[1] for gone in made.vanished] == ["e\\nf.txt"]
