"""Our embedder beside sentence-transformers' default `encode`, on the corpus's own node texts."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from storage.locations import corpus_location
from storage.records import Vectors
from storage.snapshot import open_for_reading
from tasks.analysis import embedding_text
from tasks.document_steps import embed_nodes
from tasks.models.embedder import default_identity, open_embedder
from tasks.models.minilm import model_folder
from tasks.settings import EmbeddingSettings
from tests.bench.measuring import Bench, Figure, Part, Verdict, middle
from tests.bench.product import CORPUS
from tests.bench.throughput import choose, ingested

TEXTS = 2000
ROUNDS = 3
BOUND, BOUND_COSINE = 1.5, 0.999
GOAL, GOAL_COSINE = 2.5, 0.99


def measure(bench: Bench) -> Part:
    """Embed the same texts by turns; both models are loaded, and have embedded once, before."""
    from sentence_transformers import SentenceTransformer

    documents = node_texts(published(bench))
    texts = [text for document in documents for text in document]
    reference, ours = SentenceTransformer(str(model_folder()), device="cpu"), open_embedder(default_identity())
    batch = EmbeddingSettings().batch_nodes

    def default_encode() -> Vectors:
        return np.asarray(reference.encode(texts, show_progress_bar=False), dtype=np.float32)

    def in_our_batches() -> Vectors:
        parts = [embed_nodes(texts=own, embedder=ours, batch_nodes=batch, on_nodes=lambda _done, _total: None) for own in documents]
        return np.concatenate(parts)

    reference.encode(texts[:8], show_progress_bar=False)
    ours.embed_documents(texts[:8])
    pairs = [(_timed(default_encode), _timed(in_our_batches)) for _ in range(ROUNDS)]
    theirs, mine = pairs[-1][0][1], pairs[-1][1][1]
    cosines = np.sum(theirs * mine, axis=1) / np.linalg.norm(theirs, axis=1) / np.linalg.norm(mine, axis=1)
    ratio, cosine = middle([slow[0] / fast[0] for slow, fast in pairs]), float(cosines.mean())
    return Part(
        figures=[
            Figure(
                f"embedding / sentence-transformers, {len(texts)} node texts",
                f"{ratio:.2f} x at a cosine of {cosine:.5f}",
                f">= {BOUND} at {BOUND_COSINE}",
                f">= {GOAL} at {GOAL_COSINE}",
                judge(ratio, cosine),
            ),
            Figure("  ours", f"{len(texts) / middle([fast[0] for _, fast in pairs]):.1f} texts/s ({ours.identity.precision})"),
            Figure("  sentence-transformers", f"{len(texts) / middle([slow[0] for slow, _ in pairs]):.1f} texts/s"),
        ],
        raw={
            "texts": len(texts),
            "words": sum(len(text.split()) for text in texts),
            "embedder": ours.identity.key,
            "reference_seconds": [slow[0] for slow, _ in pairs],
            "our_seconds": [fast[0] for _, fast in pairs],
            "cosine_mean": cosine,
            "cosine_least": float(cosines.min()),
        },
    )


def judge(ratio: float, cosine: float) -> Verdict:
    """Ask for speed and likeness together."""
    if ratio >= GOAL and cosine >= GOAL_COSINE:
        return Verdict.GOAL
    return Verdict.MET if ratio >= BOUND and cosine >= BOUND_COSINE else Verdict.MISSED


def published(bench: Bench) -> Path:
    """Return a home with a corpus: the one that another part made, else a new one."""
    made = [home for name, home in bench.homes.items() if name.startswith("without-ocr")]
    return made[-1] if made else ingested(bench, choose(bench)[0])[0]


def node_texts(home: Path) -> list[list[str]]:
    """Return what is embedded of the nodes of each document, documents by id, until there are enough."""
    os.environ["FLOWREADER_HOME"] = str(home)
    found: list[list[str]] = []
    with open_for_reading(corpus_location(CORPUS)) as snapshot:
        for record in snapshot.documents():
            missing = TEXTS - sum(map(len, found))
            if missing > 0:
                found.append([embedding_text(node, EmbeddingSettings().text) for node in snapshot.nodes(record.id)][:missing])
    return [texts for texts in found if texts]


def _timed(embed: Callable[[], Vectors]) -> tuple[float, Vectors]:
    began = time.monotonic()
    vectors = embed()
    return time.monotonic() - began, vectors
