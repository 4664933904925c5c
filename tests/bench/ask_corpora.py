"""`python -m tests.bench.ask_corpora --folder FOLDER --nodes 1000 10000`: the synthetic corpora of `make bench-ask`.

FOLDER is a FLOWREADER_HOME; the corpora are called nodes-1000 and so on, are published as an ingest publishes them, and are kept:
what is there whole is not made again.
"""

import argparse
import shutil
import time
from pathlib import Path

import numpy as np

from storage.corpus import open_for_writing
from storage.locations import CorpusLocation
from tasks.models.embedder import open_embedder
from tasks.models.minilm import minilm_identity
from tests.bench.ask_world import NODES, World, cross_edges, normalised, record_of, topic_sentences

DOCUMENTS_AT_ONCE = 100


def corpus(folder: Path, nodes: int) -> CorpusLocation:
    """Return the corpus of about so many nodes, made where it is missing or was left half made."""
    location = CorpusLocation(f"nodes-{nodes}", folder / "corpora" / f"nodes-{nodes}")
    whole = location.folder / "WHOLE"
    if not whole.exists():
        shutil.rmtree(location.folder, ignore_errors=True)
        make(location, nodes, World(topic_vectors(folder)))
        whole.touch()
    return location


def topic_vectors(folder: Path) -> np.ndarray:
    """Return the embedded topics, kept beside the corpora."""
    kept = folder / "topics.npy"
    if not kept.exists():
        folder.mkdir(parents=True, exist_ok=True)
        embedder = open_embedder(minilm_identity())
        np.save(kept, normalised(embedder.embed_documents(topic_sentences())))
    return np.load(kept)


def make(location: CorpusLocation, nodes: int, world: World) -> None:
    """Publish the documents in batches, then index and clean up, and say how long that took."""
    began = time.monotonic()
    count = max(1, nodes // NODES)
    with open_for_writing(location, embedder=minilm_identity(), wait_seconds=0) as writer:
        for start in range(0, count, DOCUMENTS_AT_ONCE):
            numbers = range(start, min(count, start + DOCUMENTS_AT_ONCE))
            graphs = [world.document(number) for number in numbers]
            links = [edge for number in numbers for edge in cross_edges(number, NODES)]
            writer.publish(graphs=graphs, records=[record_of(graph) for graph in graphs], cross_edges=links)
            say(location, f"{numbers.stop} of {count} documents", began)
        writer.index()
        say(location, "indexed", began)
        writer.tidy(keep_seconds=0)
        say(location, "tidied", began)


def say(location: CorpusLocation, what: str, began: float) -> None:
    """Print how far the corpus is."""
    print(f"{location.name}: {what}, {time.monotonic() - began:.0f} s", flush=True)  # noqa: T201


def main() -> None:
    """Make the corpora asked for."""
    parser = argparse.ArgumentParser(prog="ask_corpora", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the corpora lie: a FLOWREADER_HOME of their own")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="how large (default: %(default)s)")
    asked = parser.parse_args()
    for nodes in asked.nodes:
        corpus(asked.folder.absolute(), nodes)


if __name__ == "__main__":
    main()
