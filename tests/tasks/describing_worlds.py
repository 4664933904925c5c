"""Small documents for the tests of reading by a model: nodes, pictures, and a model behind a real socket."""

import hashlib
import io
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.records.documents import Modality, Node, NodeKind
from storage.runs.replies import CallCache
from tasks.content_graph.description import describing
from tasks.models.chat.model import open_chat
from tasks.models.endpoints import Endpoint
from tasks.settings.ingest import ReadingSettings
from tasks.settings.models import ModelSettings
from tests.chat_server import chat_server
from tests.scripted_reader import reads_well

DOCUMENT = hashlib.sha256(b"report").hexdigest()
MODALITIES = {NodeKind.TABLE: Modality.TABLE, NodeKind.FIGURE: Modality.FIGURE}
QUICK = ModelSettings.model_validate(
    {"retries": {"attempts": 2, "first_wait_seconds": 0.01, "longest_wait_seconds": 0.02}, "limits": {"in_flight": 8}}
)
SUBJECTS = "tide turbine blade current sea growth vibration forecast cable anchor survey harbour storm ledger permit crew".split()  # noqa: SIM905


def node(ordinal, content="", kind=NodeKind.PARAGRAPH, **more):
    made = Node(
        id=f"id{ordinal}", document_id=DOCUMENT, version="v", ordinal=ordinal, kind=kind,
        modality=MODALITIES.get(kind, Modality.TEXT), content=content, page=1, box=None, section_id=None, section_path=(),
        summary=content[:60], keywords=tuple(content.split()[:3]), search_text=content,
    )  # fmt: skip
    return replace(made, **more)


def passages(count):
    """Passages of ten words each, on a subject of their own."""
    return [
        node(place, f"The {SUBJECTS[place % len(SUBJECTS)]} of station {place} was measured in the month of May {2000 + place}.")
        for place in range(count)
    ]


def picture(artifacts, color="red", size=(80, 60)):
    stream = io.BytesIO()
    Image.new("RGB", size, color).save(stream, "PNG")
    return artifacts.put(stream.getvalue())


def asking_about(nodes, folder, on_pages=(), **analysis):
    reading = ReadingSettings.model_validate({"analysis": {"by": "model", **analysis}})
    return describing(DOCUMENT, "report.pdf", nodes, on_pages, reading, ArtifactStore(folder / "artifacts"))


@contextmanager
def model(folder, reply=reads_well, settings=QUICK, heard=None, **server):
    """A scripted server and the model behind it."""
    with (
        chat_server(reply, **server) as served,
        open_chat(
            Endpoint(served.base_url),
            settings,
            cache=CallCache(folder / "calls"),
            listener=(lambda _call: None) if heard is None else heard.append,
        ) as chat,
    ):
        yield served, chat


def unit_vectors(texts):
    """Vectors that are alike where texts share words."""
    rows = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().split():
            rows[row, int(hashlib.sha256(word.encode()).hexdigest()[:4], 16) % 64] += 1
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
