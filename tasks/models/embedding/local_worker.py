"""The process of a model on this machine: `python -m tasks.models.embedding.local_worker MODEL PRECISION PROMPTS`, see local.py.

A request is "document" or "query" and texts. The reply: how wide the states of tokens are and how many bytes the tokens of each
text take, in int32; the vectors of the texts, in float32; the tokens, of a document its bits, of a question its states in float32.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any

import numpy as np

from storage.records.documents import Vectors
from storage.system import bound_arenas, give_back
from tasks.algorithms.text.late_interaction import is_content, pack
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
        self._is_content = torch.zeros(max(vocabulary.values()) + 1, dtype=torch.bool)
        self._is_content[[number for token, number in vocabulary.items() if is_content(token)]] = True
        self._in_bf16 = precision == "bf16"
        if self._in_bf16:  # now, or autocast does it again for each group
            for module in self._model.modules():
                if isinstance(module, torch.nn.Linear):
                    module.to(torch.bfloat16)
        # torch keeps the number for each thread that asks
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="embedder", initializer=torch.set_num_threads, initargs=(1,))

    def embed(self, task: str, texts: Sequence[str]) -> tuple[Vectors, list[bytes]]:
        """Return what the model makes of each text, (texts, dimension), and of its tokens; texts may not be empty.

        `task` chooses the prompt, and what is kept of tokens.
        """
        texts = [text.encode("utf-8", "replace").decode() for text in texts]
        # With the padding of `encode`: a tokenizer that is set otherwise while a thread uses it raises an error.
        groups = list(length_groups(self._model.preprocess(texts)["attention_mask"].sum(dim=1).tolist(), TOKENS_PER_GROUP))
        encoded = self._threads.map(lambda group: self._encode(task, [texts[place] for place in group]), groups)
        order = [place for group in groups for place in group]
        made = dict(zip(order, chain.from_iterable(encoded), strict=True))
        vectors, tokens = zip(*(made[place] for place in range(len(texts))), strict=True)
        return np.stack(vectors), list(tokens)

    def _encode(self, task: str, texts: list[str]) -> list[tuple[Vectors, bytes]]:
        import torch

        encode = self._model.encode_query if task == "query" else self._model.encode_document
        with torch.autocast("cpu", torch.bfloat16, enabled=self._in_bf16):
            found: Any = encode(texts, batch_size=len(texts), show_progress_bar=False, output_value=None)
        return [(one["sentence_embedding"].float().numpy(), self._tokens_of(task, one)) for one in found]

    def _tokens_of(self, task: str, made: Mapping[str, Any]) -> bytes:
        """Return what is kept of the tokens of one text, without those of the prompt."""
        places = self._is_content[made["input_ids"]] & made["attention_mask"].bool()
        places[: int(made.get("prompt_length") or 0)] = False
        states = made["token_embeddings"][places].float().numpy()
        self.width = states.shape[1]
        return states.tobytes() if task == "query" else pack(states)


def load() -> Callable[[tuple[str, Sequence[str]]], bytes]:
    bound_arenas()
    model = SentenceModel(*sys.argv[1:])

    def reply(request: tuple[str, Sequence[str]]) -> bytes:
        vectors, tokens = model.embed(*request)
        give_back()  # the layers' activations are free now, but kept: a third of a gigabyte after a long document
        return b"".join([np.array([model.width, *map(len, tokens)], np.int32).tobytes(), vectors.tobytes(), *tokens])

    return reply


if __name__ == "__main__":
    speak(load)
