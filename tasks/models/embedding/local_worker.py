"""The process of a model on this machine: `python -m tasks.models.embedding.local_worker MODEL PRECISION PROMPTS`, see local.py.

A request is "document" or "query" and texts. The reply are the lengths in bytes of what is kept of the tokens of each text, in
int32, the vectors of the texts, in float32, and what is kept: of a document bits, of a question the states in float32.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np

from storage.records.documents import Vectors
from storage.system import bound_arenas, give_back
from tasks.algorithms.late_interaction import pack, tells
from tasks.models.embedding.local import model_folder
from tasks.models.embedding.minilm import NAME, read_checked_weights
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.process import speak

TOKENS_PER_GROUP = 768
"""Texts of like length go through the layers together up to this many tokens; more only wait for memory."""
THREADS = min(4, os.cpu_count() or 1)
"""Groups at the same time, each on one thread: no result depends on the number, and no thread spins at a barrier
for another that a parser has pushed off its core."""


def length_groups(lengths: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Yield the positions of the texts, shortest first, in groups of at most `limit` tokens when padded to the longest."""
    group: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda place: (lengths[place], place)):
        if group and (len(group) + 1) * lengths[position] > limit:
            yield group
            group = []
        group.append(position)
    if group:
        yield group


class SentenceModel:
    """A model of sentence-transformers; in bf16 linear layers and attention compute so, sums and norms stay in float32."""

    def __init__(self, named: str, precision: str, prompts: str = "{}") -> None:
        """Load a model by name or folder, with these prompts (JSON) over its own.

        Raise EmbeddingError where it is not here or, by its hash, not the published one.
        """
        folder = model_folder(named)
        if named == NAME:
            read_checked_weights(folder)
        import torch
        from sentence_transformers import SentenceTransformer

        kind = {"dtype": torch.float32}
        try:
            self._model = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=kind)
        except (OSError, ValueError, RuntimeError, LookupError, ImportError) as error:
            what = f"{folder} is no model that sentence-transformers loads ({error})"
            raise EmbeddingError(what, folder, "set FLOWREADER_EMBED_MODEL to another") from error
        self._model.prompts.update(json.loads(prompts))
        vocabulary = self._model.tokenizer.get_vocab()
        self._tells = torch.zeros(max(vocabulary.values()) + 1, dtype=torch.bool)
        self._tells[[number for token, number in vocabulary.items() if tells(token)]] = True
        self._in_bf16 = precision == "bf16"
        if self._in_bf16:  # now, or autocast does it again for each group
            for module in self._model.modules():
                if isinstance(module, torch.nn.Linear):
                    module.to(torch.bfloat16)
        # torch keeps the number for each thread that asks
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="embedder", initializer=torch.set_num_threads, initargs=(1,))

    def embed(self, task: str, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        """Return what the model makes of each text, (texts, dimension), and of each of its tokens that tells something (t, width).

        Texts may not be empty. `task` chooses the prompt.
        """
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        # With the padding of `encode`: a tokenizer that is set otherwise while a thread uses it raises an error.
        groups = list(length_groups(self._model.preprocess(texts)["attention_mask"].sum(dim=1).tolist(), TOKENS_PER_GROUP))
        encoded = self._threads.map(lambda group: self._encode(task, [texts[place] for place in group]), groups)
        order = [place for group in groups for place in group]
        made = dict(zip(order, chain.from_iterable(encoded), strict=True))
        vectors, states = zip(*(made[place] for place in range(len(texts))), strict=True)
        return np.stack(vectors), list(states)

    def _encode(self, task: str, texts: list[str]) -> list[tuple[Vectors, Vectors]]:
        import torch

        encode = self._model.encode_query if task == "query" else self._model.encode_document
        with torch.autocast("cpu", torch.bfloat16, enabled=self._in_bf16):
            found: Any = encode(texts, batch_size=len(texts), show_progress_bar=False, output_value=None)
        told = [self._tells[one["input_ids"]] for one in found]
        return [
            (one["sentence_embedding"].float().numpy(), one["token_embeddings"][places].float().numpy())
            for one, places in zip(found, told, strict=True)
        ]


def load() -> Callable[[tuple[str, Sequence[str]]], bytes]:
    bound_arenas()
    model = SentenceModel(*sys.argv[1:])

    def reply(request: tuple[str, Sequence[str]]) -> bytes:
        vectors, states = model.embed(*request)
        kept = [one.tobytes() for one in states] if request[0] == "query" else list(map(pack, states))
        give_back()  # the layers' activations are free now, but kept: a third of a gigabyte after a long document
        return b"".join([np.array(list(map(len, kept)), np.int32).tobytes(), vectors.tobytes(), *kept])

    return reply


if __name__ == "__main__":
    speak(load)
