"""Documents as lineage shows them: who parsed them, which runs read them, where their nodes stand; no name of what was removed."""

from dataclasses import replace

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.locations import artifacts_folder, corpus_location
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE, identify
from storage.runs.log import RunLog
from tasks.lineage.documents import NOT_KEPT, OTHER_PARSER, document_histories, places_of
from tasks.lineage.records import Standing
from tasks.lineage.search import open_sources, show_parameters
from tasks.parsing.parse import parser_identity
from tests.asking_worlds import Passage, published, written
from tests.lineage_worlds import INGEST, SETTINGS, call, ingest_run, small_corpus, step
from tests.storage import worlds

REPORT, PAPER, GONE = (worlds.graph(name) for name in ("report", "paper", "gone"))
NAMED = [NamedDocument(graph.document_id, f"{graph.title}.pdf") for graph in (REPORT, PAPER, GONE)]


@pytest.fixture
def location(tmp_path):
    return small_corpus(tmp_path)


def told(location, *documents):
    with open_for_reading(location) as snapshot, open_sources(snapshot) as sources:
        return document_histories(sources, documents)


def test_a_published_document_is_told_with_bytes_files_parser_and_readings(location):
    ingest_run(location, REPORT, PAPER)
    (report, paper), damaged = told(location, *NAMED[:2])
    assert (report.document, report.standing, report.paths) == (NAMED[0], Standing.PUBLISHED, ("/files/report.pdf",))
    assert (report.size_bytes, report.pages, report.nodes, report.state) == (1234, 2, 6, "ready")
    assert report.notes == ("page 2 read by pdfium",) and report.parser == parser_identity()
    (reading,) = report.readings
    assert (reading.run.run_id, [each.step for each in reading.steps]) == (INGEST, ["parse", "evolve"])
    assert reading.steps[0].attempts == 2 and [each.about for each in reading.calls] == [REPORT.document_id]
    assert reading.published and paper.readings[0].steps[0].subject == PAPER.document_id and damaged == ()


def test_only_the_run_that_made_the_published_version_says_so_and_the_newest_comes_first(location):
    ingest_run(location, REPORT)
    log = RunLog(location.runs / "2222.jsonl")
    log.begin(run_id="2222", parameters={"paths": []}, settings={}, code_version="2")
    log.step(step("2222", "evolve", REPORT.document_id, identify("evolve", "1", "another version"), started="2027"))
    failed = step("2222", "evolve", REPORT.document_id, identify("evolve", "1", REPORT.version), error="it failed", started="2027")
    log.step(failed)
    (report,), _ = told(location, NAMED[0])
    assert [(each.run.run_id, each.published) for each in report.readings] == [("2222", False), (INGEST, True)]
    assert report.readings[0].run.outcome == "killed" and report.readings[0].run.began == "2027"
    assert report.parser == parser_identity(), "the second run found it parsed"


@pytest.mark.parametrize("settings", [SETTINGS.model_dump(mode="json"), {"unknown": 1}])
def test_a_parser_that_is_not_the_one_here_is_not_called_by_its_version(location, settings):
    log = RunLog(location.runs / "r1.jsonl")
    log.begin(run_id="r1", parameters={"paths": []}, settings=settings, code_version="1")
    log.step(step("r1", "parse", REPORT.document_id, "another key"))
    (report,), _ = told(location, NAMED[0])
    assert report.parser == OTHER_PARSER


def test_without_a_run_the_record_is_told_and_no_documents_give_nothing(location):
    (report,), damaged = told(location, NAMED[0])
    assert (report.readings, report.parser, report.version, damaged) == ((), NOT_KEPT, REPORT.version, ())
    assert told(location) == ((), ())


def test_of_what_was_removed_the_id_and_the_work_are_told_and_no_name_and_no_word(location):
    path = ingest_run(location, GONE)
    words = {"error": "ParseError: gone.pdf says SECRET"}
    RunLog(path).step(step(INGEST, "parse", GONE.document_id, **words))
    RunLog(path).call(call(GONE.document_id, **words))
    (gone,), _ = told(location, NAMED[2])
    assert (gone.document, gone.standing, gone.paths, gone.state) == (replace(NAMED[2], name=""), Standing.GONE, (), "")
    (reading,) = gone.readings
    assert {each.error for each in reading.steps} == {"", "ParseError"} == {each.error for each in reading.calls}
    assert "SECRET" not in repr(gone) and "gone.pdf" not in repr(gone) and not gone.readings[0].published


BROKEN = worlds.graph("broken")


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    location = worlds.corpus_in(tmp_path_factory.mktemp("world"))
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[REPORT], records=[worlds.record(REPORT), worlds.failed(BROKEN)])
    with open_for_reading(location) as snapshot, open_sources(snapshot) as opened:
        yield opened


@pytest.mark.parametrize(
    ("document", "standing", "name"),
    [
        (NamedDocument(REPORT.document_id, "as it was called before.pdf"), Standing.PUBLISHED, "report.pdf"),
        (NamedDocument("e" * 64, "report.pdf"), Standing.REPLACED, "report.pdf"),
        (NamedDocument("e" * 64, "secret.pdf"), Standing.GONE, ""),
        (NamedDocument("e" * 64, ""), Standing.GONE, ""),
    ],
)
def test_a_document_is_called_by_a_name_that_the_corpus_still_has(sources, document, standing, name):
    assert (sources.standing(document), sources.as_named(document)) == (standing, NamedDocument(document.id, name))


@pytest.mark.parametrize("path", ["/files", "/files/", "/files/report.pdf", "/", ".", "..", "files", "../files", "./report.pdf"])
def test_a_path_with_a_published_document_is_shown(sources, path):
    assert show_parameters({"paths": [path], "include": ["*"]}, sources) == {"paths": [path], "include": ["*"]}


@pytest.mark.parametrize("path", ["/secret", "/files/secret.pdf", "secret.pdf", "/files/report", "port.pdf", "/fil", "../secret"])
def test_a_path_without_one_is_counted_only(sources, path):
    assert show_parameters({"paths": ["/files", path]}, sources) == {"paths": ["/files"], "paths_of_nothing_published": 1}


def test_so_are_names_and_ids_of_documents(sources):
    asked = {"documents": ["report.pdf", REPORT.document_id[:8], "secret.pdf", "eeeeeeee"], "pages": "3-7"}
    told = {"documents": asked["documents"][:2], "pages": "3-7", "documents_of_nothing_published": 2}
    assert show_parameters(asked, sources) == told
    assert show_parameters({"documents": []}, sources) == {"documents": []}
    assert show_parameters({"documents": "?"}, sources) == {"documents": "?"}, "what another FlowReader wrote stays as it is"


def test_an_address_is_shown_where_a_published_document_lies_below_it(tmp_path):
    location = worlds.corpus_in(tmp_path)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[REPORT], records=[replace(worlds.record(REPORT), paths=("s3://data/in/report.pdf",))])
    known = ["s3://data", "s3://data/in/", "s3://data/in", "s3://data/in/report.pdf"]
    with open_for_reading(location) as snapshot, open_sources(snapshot) as sources:
        shown = show_parameters({"paths": [*known, "s3://data/i", "s3://other/", "s3://data/in/secret.pdf"]}, sources)
    assert shown == {"paths": known, "paths_of_nothing_published": 3}


@pytest.fixture
def small_sources(own_home):
    with open_for_reading(corpus_location("small")) as snapshot, open_sources(snapshot) as opened:
        yield opened


def all_histories(small_sources):
    documents = [NamedDocument(record.id, record.name) for record in small_sources.records.values()]
    return document_histories(small_sources, documents)[0]


def nodes_of(small_sources):
    return {node.id: node for record in small_sources.records for node in small_sources.snapshot.nodes(record)}


@pytest.mark.parametrize("spoilt", [True, False])
def test_the_artifact_and_the_graph_tell_the_same_and_a_spoilt_one_is_not_believed(small_sources, spoilt):
    documents, nodes = all_histories(small_sources), nodes_of(small_sources)
    kept, readers = places_of(small_sources, documents, [])
    assert set(kept) == set(nodes) and len(readers) == sum(record.pages for record in small_sources.records.values())
    for path in artifacts_folder().glob("??/*"):
        path.write_bytes(b"{}") if spoilt else path.unlink()
    of_graph, others = places_of(small_sources, documents, list(nodes))
    assert of_graph == kept and sorted(others) == sorted(readers)
    assert all((place.page, place.kind) == (nodes[name].page, nodes[name].kind.value) for name, place in kept.items())
    assert all(place.box is None for name, place in kept.items() if nodes[name].box == WHOLE_PAGE)


def test_where_no_run_is_kept_the_graph_is_asked_and_what_is_not_there_is_left_out(tmp_path, home):
    location = published(tmp_path, written("harbour", Passage("The harbour is 20 metres deep.", page=2)))
    with open_for_reading(location) as snapshot, open_sources(snapshot) as small_sources:
        (node,) = nodes_of(small_sources).values()
        found, readers = places_of(small_sources, all_histories(small_sources), [node.id, "e" * 64])
        assert {name: (place.page, place.kind) for name, place in found.items()} == {node.id: (2, "paragraph")}
        assert [(number, parser) for _document, number, parser, _note in readers] == [(1, "mineru"), (2, "mineru")]
