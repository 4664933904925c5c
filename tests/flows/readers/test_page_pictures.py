"""Pages shown to a chat model that sees: kept pictures, or drawn from the very file that was read."""

import asyncio
import io
import re
import time
from dataclasses import replace

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore, hash_bytes
from storage.corpus.writer import open_for_writing
from storage.locations import artifacts_folder
from storage.records.documents import NodeKind
from tasks.readers.page_pictures import page_images, with_pages
from tests.asking_worlds import Passage, answer_at, asked, at_context, published, written
from tests.flows.readers.lengths import ALL_FORMS, BLADE, DOCUMENT, FACTS
from tests.scripted_answers import (
    Reader,
    booked,
    model_settings,
    of_form,
    passages_of,
    path_answer,
    pieces_of,
    read_by,
    whole_answer,
)
from tests.storage.worlds import EMBEDDER, corpus_in, record
from tests.tasks.report.report_worlds import id_of, squares_pdf


@pytest.mark.parametrize("sees", [True, False])
def test_pages_that_are_kept_as_pictures_are_rated_by_them_where_the_model_sees(tmp_path, home, sees):
    drawn = io.BytesIO()
    Image.new("RGB", (64, 64)).save(drawn, "PNG")
    ArtifactStore(artifacts_folder()).put(drawn.getvalue())
    first, *others = DOCUMENT.pages
    scanned = replace(DOCUMENT, pages=(replace(first, image=hash_bytes(drawn.getvalue())), *others))
    with (
        at_context(published(tmp_path / "scanned", scanned)) as context,
        read_by(context, Reader(FACTS, instead=ALL_FORMS), sees=sees, settings=model_settings(walk={"everything": True})) as (
            place,
            server,
        ),
    ):
        answer_at(place, BLADE, reader="walk")
    shown = {pieces_of(request)[0][0]: len(request.images) for request in of_form(server, "RatedPage")}
    assert shown == {f"page {number}": int(sees and number == 1) for number in range(1, 10)}


def test_once_the_time_is_up_no_more_pages_are_drawn_and_one_note_says_so(tmp_path, home):
    with at_context(published(tmp_path / "late", DOCUMENT)) as context, booked(context) as book:
        keys = [(page.document_id, page.number) for page in context.snapshot.pages(DOCUMENT.document_id)]
        assert page_images(keys, context.snapshot, until=time.monotonic()) == {}
        assert book.notes == ["the model was not shown every page: no time was left to draw it"]
        with read_by(context, Reader(FACTS)) as (place, _server):
            book.failed, texts = True, ()
            assert asyncio.run(with_pages(asked(BLADE, place), texts, place, most=3)) is texts, "the model is asked no more"


WHOLE_PAGES = {
    ("agent", 3): [["1", "2"]],
    ("agent", 1): [["1"]],
    ("map", 3): [[], ["2"]],
    ("walk", 3): [["1", "2"]],
    ("walk", 1): [["1", "2"]],
}
"""The pages that are shown with each path, by the reader and the pictures of a call; `walk` shows all that it reads."""


@pytest.mark.parametrize(("reader", "pictures"), WHOLE_PAGES)
def test_a_model_that_sees_reads_whole_pages_drawn_from_their_file(tmp_path, home, monkeypatch, reader, pictures):
    drawn = squares_pdf(tmp_path / "squares.pdf")
    monkeypatch.setattr("tests.storage.worlds.document_id", lambda _name: id_of(drawn))
    graph = written("squares", Passage("The blade is long.", page=1), Passage("Blade: 20", page=2, kind=NodeKind.FIGURE))
    with open_for_writing(corpus_in(tmp_path / "drawn"), embedder=EMBEDDER, wait_seconds=5) as corpus:
        corpus.publish(graphs=[graph], records=[record(graph, str(drawn))], cross_edges=[])
        corpus.index()

    def read(request):
        figures = [name for name, (heading, _) in passages_of(request).items() if "figure" in heading]
        seen = [{"passage": name, "quote": "a red square, 20 metres wide"} for name in figures]
        if request.form == "WholeAnswer":
            return whole_answer("20 metres", seen)
        return path_answer("20 metres", seen) if figures else path_answer("", status="not_reported")

    seeing = Reader(FACTS, instead=ALL_FORMS | dict.fromkeys(["PathAnswer", "WholeAnswer"], read))
    shows = {"model": {"pictures": pictures}}
    settings = model_settings(reading=shows, walk={"keep_above": 0.0}, map={"rounds": 0})
    with at_context(corpus.location) as context, read_by(context, seeing, settings=settings) as (place, server):
        answer = answer_at(place, BLADE, reader=reader)
    readings = of_form(server, "PathAnswer")
    shown = [
        sorted(re.findall(r"page (\d), picture \d shows its page", " ".join(dict(pieces_of(request))))) for request in readings
    ]
    assert shown == WHOLE_PAGES[reader, pictures] and [len(request.images) for request in readings] == list(map(len, shown))
    if ["1"] not in shown:
        assert answer.answer == "20 metres" and [cited.page for cited in answer.citations] == [2], "proven by its picture alone"
