"""all-MiniLM-L6-v2 for questions: one text at a time, without torch, which takes longer to load than all else of an answer.

In float32, whatever the documents were embedded in: bfloat16 is there for much text, and its vectors have a cosine of 0.9999 with
these.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from storage.records import EmbedderIdentity, Vectors
from tasks.models.bert_in_numpy import BertInNumpy
from tasks.models.minilm import LAST_TOKEN, NAME, WEIGHTS_SHA256, checked_weights, model_folder
from tasks.models.vector_checks import unit_vectors

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer


class QuestionMiniLM:
    """The model in memory; it loads while its owner does something else."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        """Begin to load; `identity` is one of this model's."""
        self.identity = identity
        loader = ThreadPoolExecutor(1, thread_name_prefix="question-embedder")
        self._asking = threading.Lock()
        self._loaded = loader.submit(_load)
        loader.shutdown(wait=False)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise EmbeddingError where the model's files are not the published ones."""
        return self.embed_documents([text])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts one after the other, in their order."""
        tokenizer, layers, threads = self._loaded.result()
        tokens = [tokenizer.encode(text.encode("utf-8", "replace").decode()).ids for text in texts]
        # For so small products threads wait for each other: 90 ms were seen where one needs 13. The limit is of the process, and
        # another number of threads gives other bits: one text at a time.
        with self._asking, threads.limit(limits=1, user_api="blas"):
            states = [layers.mean_state(ids) for ids in tokens]
        vectors = np.array(states, dtype=np.float32).reshape(len(texts), self.identity.dimension)
        return unit_vectors(vectors, count=len(texts), dimension=self.identity.dimension, source=NAME)


def _load() -> tuple[Tokenizer, BertInNumpy, ThreadpoolController]:
    from safetensors.numpy import load
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

    folder = model_folder()
    weights = load(checked_weights(folder / "model.safetensors", WEIGHTS_SHA256))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=LAST_TOKEN)
    return tokenizer, BertInNumpy(weights), ThreadpoolController()
