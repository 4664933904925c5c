"""A small document, put together of pages of the tests' own and read in by the preset of each paper; what was sent is kept."""

import asyncio
import json
import os
from pathlib import Path

import pypdfium2

from flows.ingest import ingest_context, read_document
from tasks.ingest.request import IngestRequest, look
from tasks.settings.ask import load_settings
from tests.chat_server import chat_server
from tests.program import CORPUS, environment_kept
from tests.scripted_reader import reads_well

NODES = '[reading.analysis]\nby = "model"\n[reading.evolution]\nmode = "model"\n'
LOOKS = '[reading.analysis]\npages = "model"\n'
ASKED = {"flowreader": NODES, "g2": NODES, "lad": LOOKS, "dmap": LOOKS, "molorag": ""}
"""What the papers have a model do while documents are read in: describe and link the nodes, or look at each page; or nothing."""
LEAVES = {"paper.pdf": (3, 4, 5, 6), "quarterly_slides.pdf": (3,)}
"""Of the document: three charts and a table on its first page, text and tables on the next two, text on page 4, and a scan."""


def make_papers(folder: Path) -> None:
    (folder / "documents").mkdir()
    leaves = pypdfium2.PdfDocument.new()
    for name, numbers in LEAVES.items():
        with pypdfium2.PdfDocument(CORPUS / name) as whole:
            leaves.import_pages(whole, [number - 1 for number in numbers])
    leaves.save(folder / "documents" / "mixed.pdf")
    with environment_kept():
        os.environ["FLOWREADER_HOME"] = str(folder / "home")
        for preset, asked in ASKED.items():
            (folder / f"{preset}.toml").write_text(asked)
            with chat_server(reads_well) as server:
                os.environ |= {"FLOWREADER_CHAT_BASE_URL": server.base_url, "FLOWREADER_CHAT_MODEL": "scripted"}
                read_in(folder, preset)
            (folder / f"{preset}.json").write_text(json.dumps([request.body for request in server.requests]))


def read_in(folder: Path, preset: str) -> None:
    """Read the document into the corpus of the preset's name, as the flow does."""
    settings = load_settings(folder / f"{preset}.toml", preset).for_ingest()
    request = IngestRequest(paths=(str(folder / "documents"),), corpus=preset, preset=preset, settings=settings)
    with ingest_context(request, "ingest-papers") as context:
        (work,) = context.survey(look(request)).plan.work
        outcome = asyncio.run(read_document(work, tools=context.tools))
        context.corpus.publish(graphs=[outcome.graph], records=[outcome.record], cross_edges=[])
        context.corpus.index()
