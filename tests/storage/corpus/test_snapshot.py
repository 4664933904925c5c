import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from unittest.mock import Mock

import duckdb
import numpy as np
import pytest

from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import AmbiguousError, UnknownError
from storage.records.documents import DocumentState
from tests.storage.worlds import EMBEDDER, corpus_in, failed, graph, link, record, writing

REPORT, LETTER, BROKEN = graph("report", picture="a" * 64), graph("letter"), graph("broken")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("home")
    with writing(corpus_in(folder)) as corpus:
        corpus.publish(
            graphs=[REPORT, LETTER],
            records=[record(REPORT, "/a/same.pdf", "/b/report.pdf"), record(LETTER, "/c/same.pdf"), failed(BROKEN)],
            cross_edges=link(REPORT, LETTER),
        )
    return folder


@pytest.fixture
def snapshot(folder):
    with open_for_reading(corpus_in(folder)) as opened:
        yield opened


def test_a_document_is_found_by_the_beginning_of_its_id_or_by_its_name(snapshot):
    for asked in (REPORT.document_id, REPORT.document_id[:8], "report.pdf"):
        assert snapshot.find(asked).id == REPORT.document_id
    found = snapshot.find("report.pdf")
    assert (found.name, found.other_names) == ("same.pdf", ("report.pdf",))


def test_two_documents_of_one_name_are_both_listed(snapshot):
    with pytest.raises(AmbiguousError, match=f"names 2 documents: .*{LETTER.document_id[:16]}") as error:
        snapshot.find("same.pdf")
    assert REPORT.document_id[:16] in str(error.value)


def test_a_part_that_one_name_alone_has_is_enough_to_show_but_not_to_remove(snapshot):
    for asked in ("report", "EPORT.p"):
        assert snapshot.find(asked).id == REPORT.document_id
        with pytest.raises(UnknownError, match="its exact file name"):
            snapshot.find(asked, exact=True)
    with pytest.raises(AmbiguousError, match=f"names 3 documents: .*{LETTER.document_id[:16]}"):
        snapshot.find(".pdf")


@pytest.mark.parametrize("asked", ["", "reports", REPORT.document_id[:7], "f" * 64, "%", REPORT.document_id[:8].upper() + "X"])
def test_what_names_no_document_is_refused(snapshot, asked):
    with pytest.raises(UnknownError, match="8 or more digits"):
        snapshot.find(asked)


def test_everything_of_a_document_is_given(snapshot):
    assert snapshot.nodes(REPORT.document_id) == list(REPORT.nodes)
    assert snapshot.nodes_on(REPORT.document_id, 1) == [node for node in REPORT.nodes if node.page == 1]
    assert snapshot.pages(REPORT.document_id) == list(REPORT.pages)
    read_by = [(REPORT.document_id, page.number, page.parser.value, page.note) for page in REPORT.pages]
    assert snapshot.page_readers([REPORT.document_id]) == read_by and snapshot.page_readers([]) == []
    marks = [(REPORT.document_id, page.number, page.label) for page in REPORT.pages]
    assert snapshot.page_marks([REPORT.document_id]) == marks and snapshot.page_marks([]) == []
    images = {(REPORT.document_id, page.number): "a" * 64 for page in REPORT.pages}
    assert snapshot.page_images([REPORT.document_id, LETTER.document_id]) == images
    summaries = {(REPORT.document_id, page.number): page.summary for page in REPORT.pages}
    assert snapshot.page_summaries([REPORT.document_id]) == summaries
    second, nowhere = (REPORT.document_id, 2), (LETTER.document_id, 9)
    assert snapshot.view.page_lines({second, nowhere}) == {second: REPORT.pages[1].lines} and snapshot.view.page_lines(()) == {}
    assert snapshot.rows(REPORT.document_id) == list(REPORT.rows)
    assert snapshot.sections_of([REPORT.document_id]) == list(REPORT.sections)
    expected = [*REPORT.edges, link(REPORT, LETTER)[0]]
    assert snapshot.edges(REPORT.document_id) == sorted(expected, key=lambda edge: (edge.source, edge.target))
    initial, last = snapshot.vectors(REPORT.document_id)
    assert np.array_equal(initial, REPORT.initial_vectors)
    assert np.array_equal(last, REPORT.vectors)
    assert np.array_equal(snapshot.page_vectors(REPORT.document_id), REPORT.page_vectors)


def test_a_document_that_failed_has_nothing_but_its_record(snapshot):
    found = snapshot.find(BROKEN.document_id)
    assert (found.state, found.reason, found.name) == (DocumentState.FAILED, "zero bytes", "broken.pdf")
    assert (snapshot.nodes(found.id), snapshot.vectors(found.id)[0].shape) == ([], (0, EMBEDDER.dimension))


def test_counts_add_up(snapshot):
    one, everything = snapshot.counts(REPORT.document_id), snapshot.counts()
    assert (one.pages, one.nodes, one.edges, one.table_rows) == (2, 6, 6, 3)
    assert (everything.documents, everything.states) == (3, {"ready": 2, "failed": 1})
    assert (everything.pages, everything.nodes, everything.edges, everything.table_rows) == (4, 12, 12, 6)
    assert (everything.tables, everything.figures) == (2, 0)


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ((), "no corpus 'small' in FLOWREADER_HOME {home!r}; make it with `flowreader ingest PATH --corpus small`"),
        (("mall", "zoo"), "; take 'mall', 'zoo', or make it"),
        (("p1", "p2", "p3", "p4", "p5", "smell"), "; take 'smell', 'p1', 'p2', 'p3', 'p4' and 1 more, or make it"),
    ],
)
def test_an_unknown_corpus_is_answered_with_the_home_and_the_nearest_of_what_is_there(tmp_path, there, says):
    home = tmp_path / "a; home"
    for name in there:
        with writing(corpus_in(home, name)):
            pass
    (home / "corpora" / "half removed").mkdir(parents=True)
    with pytest.raises(UnknownCorpusError, match=says.format(home=str(home))), open_for_reading(corpus_in(home, "small")):
        pass


def test_nothing_outside_can_be_read_or_changed_through_a_snapshot(snapshot):
    for statement in ("SELECT * FROM read_text('/etc/hostname')", "DELETE FROM documents", "SET enable_external_access = true"):
        with pytest.raises(duckdb.Error):
            snapshot._connection.execute(statement)


def test_status_loads_neither_lancedb_nor_arrow(folder):
    program = (
        "import sys\nfrom pathlib import Path\nfrom storage.corpus.snapshot import open_for_reading\n"
        "from storage.locations import CorpusLocation\n"
        f"with open_for_reading(CorpusLocation('default', Path({str(corpus_in(folder).folder)!r}))) as snapshot:\n"
        "    snapshot.documents(), snapshot.counts(), snapshot.find('report.pdf')\n"
        "assert not {'lancedb', 'pyarrow', 'prefect'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_records_of_the_snapshot_are_those_that_were_given(snapshot):
    expected = [record(REPORT, "/a/same.pdf", "/b/report.pdf"), record(LETTER, "/c/same.pdf"), failed(BROKEN)]
    assert snapshot.documents() == sorted(expected, key=lambda each: each.id)
    assert replace(snapshot.documents()[0], paths=()).name == snapshot.documents()[0].id[:12]


def test_many_threads_read_one_snapshot_at_once(snapshot):
    whole = snapshot.sections_of([REPORT.document_id])
    with ThreadPoolExecutor(16) as pool:
        seen = list(pool.map(lambda _: snapshot.sections_of([REPORT.document_id]), range(400)))
    assert all(sections == whole for sections in seen)


@pytest.mark.parametrize("kept", [0, 1, 512])
def test_outlines_and_marks_of_pages_are_the_same_read_or_kept(snapshot, kept, monkeypatch):
    monkeypatch.setattr("storage.corpus.snapshot.KEPT_OUTLINES", kept)
    one, both = [REPORT.document_id], [LETTER.document_id, REPORT.document_id]
    for asked in (one, both, [*one, *one], [], both):
        assert snapshot.sections_of(asked) == [section for name in sorted({*asked}) for section in snapshot.sections_of([name])]
        assert [mark[0] for mark in snapshot.page_marks(asked)] == [name for name in sorted({*asked}) for _ in REPORT.pages]
    if kept == 512:
        monkeypatch.setattr(snapshot, "_rows", lambda *_asked: pytest.fail("what is kept is read again"))
        assert len(snapshot.sections_of(both)) == len(REPORT.sections) + len(LETTER.sections)


def test_a_corpus_whose_first_publish_comes_after_the_last_look_was_never_there(folder, monkeypatch):
    location = corpus_in(folder)
    monkeypatch.setattr(type(location.current), "open", Mock(side_effect=FileNotFoundError))
    with pytest.raises(UnknownCorpusError), open_for_reading(location):
        pass
    assert location.current.exists()
