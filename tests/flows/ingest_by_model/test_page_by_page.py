"""Documents that a model reads page by page, as they look."""

import json
import re
from contextlib import contextmanager

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.memo import home_memo
from storage.records.documents import DocumentState, EdgeKind, Modality, NodeKind
from tasks.ingest.request import EvolveRequest
from tasks.parsing.parse import ParseError
from tests.flows.ingest_by_model.worlds import MANUAL, MAPPED, METHOD, by_method, command, read
from tests.program import CORPUS


@pytest.fixture
def paged(folder):
    """A paper in the folder's place, to be read page by page."""
    (folder / MANUAL).unlink()
    (folder / "paper.pdf").write_bytes((CORPUS / "paper.pdf").read_bytes())
    (folder.parent / "model.toml").write_text("[reading.analysis]\n" + MAPPED.replace("map =", "pages ="))
    return folder


def test_a_document_is_read_page_by_page_as_it_looks_and_costs_nothing_a_second_time(paged, server, home):
    command(paged, "--json", home=home, check=0)
    with open_for_reading(corpus_location("default")) as snapshot:
        (record,) = snapshot.documents()
        nodes, edges, sections = snapshot.nodes(record.id), snapshot.edges(record.id), snapshot.sections_of([record.id])
    assert record.state is DocumentState.READY and not record.notes and record.attempt == ""
    shown = [request for request in server.requests if request.form == "PageReading"]
    pages = [int(re.search(r"you are at page (\d+)", request.prompt)[1]) for request in shown]
    pictures = {page: request.images for page, request in zip(pages, shown, strict=True)}
    assert pages == sorted(pages) and [*pictures] == [1, 2, 3, 4, 5, 6] and len({*map(tuple, pictures.values())}) == 6
    assert all(request.images == pictures[page] and len(request.images) == 1 for page, request in zip(pages, shown, strict=True))
    assert sum(node.summary.startswith("It holds ") for node in nodes) > 20 and not any(
        "It tells" in node.summary for node in nodes
    )
    assert {section.level for section in sections} == {1, 2} and [section.ordinal for section in sections] == [
        *range(len(sections))
    ]
    titles = {section.title for section in sections}
    assert titles <= {node.content for node in nodes if node.kind is NodeKind.TITLE} and len(titles) > 3
    assert any(edge.relation == "explains" and edge.kind is EdgeKind.REFERS_TO for edge in edges)
    assert any(node.picture_text == "Axis 1 2 3" for node in nodes if node.modality is not Modality.TEXT)
    told = json.loads(command(paged, "--estimate", "--json", home=home.with_name("empty"), check=0).stdout)
    assert told["calls"] == server.calls == len(shown)
    asked = server.calls
    home_memo(home).forget(record.id)
    (outcome,) = read(paged)
    assert list(outcome.graph.nodes) == list(nodes) and server.calls == asked


def test_a_page_without_a_picture_is_read_by_its_words_and_one_that_cannot_be_drawn_says_so(paged, server, monkeypatch):
    @contextmanager
    def broken(_path, **_how):
        def draw(page, _dpi):
            raise ParseError(DocumentState.FAILED, f"page {page} cannot be drawn: pdfium broke off")

        yield draw

    monkeypatch.setattr("tasks.ingest.page_steps.open_pages", broken)
    (paged / MANUAL).write_bytes((CORPUS / MANUAL).read_bytes())
    outcomes = {outcome.record.media_type.rpartition("/")[2]: outcome for outcome in read(paged)}
    assert not any(request.images for request in server.requests)
    manual, paper = (outcomes[kind].record for kind in sorted(outcomes, key=len, reverse=True))
    assert manual.notes == () and paper.state is manual.state is DocumentState.READY
    assert "not seen by the model: page 1 cannot be drawn: pdfium broke off" in " ".join(paper.notes)


def test_pages_are_not_read_anew_without_their_file(paged, server, monkeypatch):
    (outcome,) = read(paged)
    asked = server.calls
    by_method(monkeypatch, METHOD | {"reading.analysis.pages_model.elements_per_call": 5})
    (stays,) = read(paged, published=[outcome.record], asked=EvolveRequest)
    assert stays.graph is None and server.calls == asked
    assert "its pages are to be drawn for the model; ingest its file" in stays.record.notes[0]
