"""A model of sentence-transformers on this machine, by name or folder, in a process of its own: torch is not in our memory."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from storage.records.documents import EmbedderIdentity, Vectors
from storage.records.embedded import Embedded, Tokens
from tasks.models.embedding.minilm import NAME, package_folder
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors
from tasks.models.process import ModelProcess

PRECISIONS = ("bf16", "fp32")
SECONDS_PER_TEXT = 10.0
"""A text of 256 tokens takes a fiftieth of a second; one that takes this much longer hangs."""
WEIGHTS = {".safetensors", ".bin"}
DECIDING = WEIGHTS | {".json", ".txt", ".model"}
"""Endings of the files that decide what vectors a model gives."""
PREFIXES = {"nomic-embed-text-v1.5": ("search_document: ", "search_query: ")} | {
    f"{kind}{size}{version}": ("passage: ", "query: ")
    for kind, version in (("e5-", ""), ("e5-", "-v2"), ("multilingual-e5-", ""))
    for size in ("small", "base", "large")
}
"""Before a document and before a question, by the last part of the model's name; a model on this machine that has prompts of its
own gets those."""


def machine_precision(processor: str) -> str:
    """Return the precision to embed a new corpus in, given the text of /proc/cpuinfo: bf16 where the processor computes it."""
    flags = next((line.split() for line in processor.splitlines() if line.startswith("flags")), [])
    return "bf16" if {"avx512_bf16", "amx_bf16"} & set(flags) else "fp32"


def this_precision() -> str:
    processor = Path("/proc/cpuinfo")
    return machine_precision(processor.read_text("utf-8") if processor.exists() else "")


def model_folder(named: str) -> Path:
    """Return where the model of this name or folder is, raise EmbeddingError where not on this machine; nothing is fetched."""
    if named == NAME:
        return package_folder()
    folder = Path(named).expanduser()
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        try:
            folder = Path(snapshot_download(named, local_files_only=True))
        except (OSError, ValueError) as error:  # ValueError: no name of the hub, so a folder was meant
            fetch = "" if isinstance(error, ValueError) else f"fetch it where there is a network (`hf download {named}`), or "
            raise EmbeddingError(
                f"embedding model {named!r} is not on this machine",
                named,
                f"{fetch}set FLOWREADER_EMBED_MODEL to a folder that sentence-transformers saved",
            ) from error
    if not any(path.suffix in WEIGHTS for path in folder.rglob("*")):
        raise EmbeddingError(
            f"embedding model {named!r}: {folder} holds no weights",
            named,
            "set FLOWREADER_EMBED_MODEL to a folder that sentence-transformers saved",
        )
    return folder.resolve()


def last_part(named: str) -> str:
    """Return what a model is called, by its name or folder."""
    return Path(named).expanduser().name if Path(named).expanduser().is_dir() else named.rsplit("/", 1)[-1]


def find_missing_prompts(named: str) -> dict[str, str]:
    """Return the prompts for texts and questions that a model needs and sentence-transformers would not take from its folder.

    Many have none there, and some call `passage` what is asked for as `document`: then none would be taken.
    """
    config = model_folder(named) / "config_sentence_transformers.json"
    own = (json.loads(config.read_text("utf-8")).get("prompts") or {}) if config.is_file() else {}
    if any(own.values()):
        passage = own.get("document") or own.get("passage") or own.get("corpus") or ""
        return {"document": passage} if passage != own.get("document", "") else {}
    return dict(zip(("document", "query"), PREFIXES.get(last_part(named), ()), strict=False))


@lru_cache
def model_name(named: str) -> str:
    """Return the name in the identity of a corpus: but for the default with a hash of the files that decide vectors."""
    if named == NAME:
        return NAME
    folder, digest = model_folder(named), hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in DECIDING and path.is_file()):
        with path.open("rb") as file:
            digest.update(f"{path.relative_to(folder)}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    last = last_part(named)
    if prompts := find_missing_prompts(named):
        digest.update(json.dumps(prompts, sort_keys=True).encode())
    return f"{last}@{digest.hexdigest()[:12]}"


class LocalEmbedder:
    """The model in its process; it loads while its owner does something else, and is started again once where it ends."""

    def __init__(self, named: str, identity: EmbedderIdentity) -> None:
        """Start the model of this name or folder, in the precision of the identity."""
        self.identity = identity
        prompts = {} if named == NAME else find_missing_prompts(named)
        named = named if named == NAME else str(model_folder(named))  # the process has another working folder
        self._process = ModelProcess(
            "tasks.models.embedding.local_worker",
            named,
            identity.precision,
            json.dumps(prompts),
            failure=EmbeddingError,
            environment={"HF_HUB_OFFLINE": "1"},
        )
        self._process.start()

    def with_dimension(self) -> EmbedderIdentity:
        """Complete the identity by what the model gives, and return it; waits until the model is loaded."""
        self.identity = replace(self.identity, dimension=self._ask("document", ["dimension"])[1].shape[1])
        return self.identity

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts in their order; raise EmbeddingError where that fails, StoppedError where the user asked for the end."""
        _width, rows, tokens = self._ask("document", texts) if texts else (0, (), ())
        return Embedded(self._unit(rows, len(texts)), tokens)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise what `embed_documents` raises."""
        return self._unit(self._ask("query", [text])[1], 1)

    def states_of_query(self, text: str) -> Vectors:
        """Return the states of a question's tokens that are worth comparing (t, width); raise what `embed_documents` raises."""
        width, _rows, (states,) = self._ask("query", [text])
        return np.frombuffer(states, np.float32).reshape(-1, width)

    def _unit(self, rows: npt.ArrayLike, count: int) -> Vectors:
        return unit_vectors(rows, count=count, dimension=self.identity.dimension, source=self.identity.name)

    def _ask(self, task: str, texts: Sequence[str]) -> tuple[int, Vectors, Tokens]:
        request, seconds = (task, list(texts)), SECONDS_PER_TEXT * len(texts)
        reply = self._process.ask(request, seconds=seconds) or self._process.ask(request, seconds=seconds)
        if reply is None:
            raise EmbeddingError(
                f"{self.identity.name} ended or hung twice on the same {len(texts)} texts",
                remedy="ingest again with more free memory",
            )
        width, *lengths = np.frombuffer(reply, np.int32, count=1 + len(texts)).tolist()
        first = len(reply) - sum(lengths)
        vectors = np.frombuffer(reply[4 * (1 + len(texts)) : first], np.float32).reshape(len(texts), -1)
        return width, vectors, tuple(reply[one:other] for one, other in pairwise(accumulate(lengths, initial=first)))
