"""The embedder's own process: `python -m tasks.models.embedding.minilm_worker PRECISION`; minilm_process.py speaks to it.

It reads a line of JSON with texts, and writes one with their vectors, in base64, or with what is wrong.
"""

import base64
import json
import sys
from typing import BinaryIO

from storage.system import bound_arenas, give_back
from tasks.models.embedding.minilm import MiniLM
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.process import READY, reply, speak


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    bound_arenas()
    try:
        model = MiniLM(sys.argv[1])
    except EmbeddingError as error:
        _refuse(replies, error)
        return
    reply(replies, READY)
    while line := requests.readline():
        try:
            vectors = model.embed_documents(json.loads(line))
        except EmbeddingError as error:
            _refuse(replies, error)
        else:
            reply(replies, json.dumps({"vectors": base64.b64encode(vectors.tobytes()).decode()}).encode() + b"\n")
        # The layers' activations are free now, but kept: a third of a gigabyte after a long document.
        give_back()


def _refuse(replies: BinaryIO, error: EmbeddingError) -> None:
    reply(replies, json.dumps({"error": str(error)}).encode() + b"\n")


if __name__ == "__main__":
    speak(serve)
