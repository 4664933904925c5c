"""Of what was removed no name comes back."""

from dataclasses import replace

import pytest

from storage.answer_records import NamedDocument
from storage.corpus import open_for_writing
from storage.snapshot import open_for_reading
from tasks.lineage_names import Shelf, shown_parameters
from tasks.lineage_records import Standing
from tests.storage import worlds

REPORT, BROKEN = worlds.graph("report"), worlds.graph("broken")


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    location = worlds.corpus_in(tmp_path_factory.mktemp("world"))
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[REPORT], records=[worlds.record(REPORT), worlds.failed(BROKEN)])
    with open_for_reading(location) as snapshot:
        yield Shelf(snapshot)


@pytest.mark.parametrize(
    ("document", "standing", "name"),
    [
        (NamedDocument(REPORT.document_id, "as it was called before.pdf"), Standing.PUBLISHED, "report.pdf"),
        (NamedDocument("e" * 64, "report.pdf"), Standing.REPLACED, "report.pdf"),
        (NamedDocument("e" * 64, "secret.pdf"), Standing.GONE, ""),
        (NamedDocument("e" * 64, ""), Standing.GONE, ""),
    ],
)
def test_a_document_is_called_by_a_name_that_the_corpus_still_has(shelf, document, standing, name):
    assert (shelf.standing(document), shelf.named(document)) == (standing, NamedDocument(document.id, name))


def test_only_what_is_ready_has_pages(shelf):
    readable = [shelf.is_readable(name) for name in (REPORT.document_id, BROKEN.document_id, "e" * 64)]
    assert readable == [True, False, False]


@pytest.mark.parametrize("path", ["/files", "/files/", "/files/report.pdf", "/", ".", "..", "files", "../files", "./report.pdf"])
def test_a_path_with_a_published_document_is_shown(shelf, path):
    assert shown_parameters({"paths": [path], "include": ["*"]}, shelf) == {"paths": [path], "include": ["*"]}


@pytest.mark.parametrize("path", ["/secret", "/files/secret.pdf", "secret.pdf", "/files/report", "port.pdf", "/fil", "../secret"])
def test_a_path_without_one_is_counted_only(shelf, path):
    assert shown_parameters({"paths": ["/files", path]}, shelf) == {"paths": ["/files"], "paths_of_nothing_published": 1}


def test_so_are_names_and_ids_of_documents(shelf):
    asked = {"documents": ["report.pdf", REPORT.document_id[:8], "secret.pdf", "eeeeeeee"], "pages": "3-7"}
    told = {"documents": asked["documents"][:2], "pages": "3-7", "documents_of_nothing_published": 2}
    assert shown_parameters(asked, shelf) == told
    assert shown_parameters({"documents": []}, shelf) == {"documents": []}
    assert shown_parameters({"documents": "?"}, shelf) == {"documents": "?"}, "what another FlowReader wrote stays as it is"


def test_an_address_is_shown_where_a_published_document_lies_below_it(tmp_path):
    location = worlds.corpus_in(tmp_path)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=0) as corpus:
        corpus.publish(graphs=[REPORT], records=[replace(worlds.record(REPORT), paths=("s3://data/in/report.pdf",))])
    known = ["s3://data", "s3://data/in/", "s3://data/in", "s3://data/in/report.pdf"]
    with open_for_reading(location) as snapshot:
        told = shown_parameters({"paths": [*known, "s3://data/i", "s3://other/", "s3://data/in/secret.pdf"]}, Shelf(snapshot))
    assert told == {"paths": known, "paths_of_nothing_published": 3}
