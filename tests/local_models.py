"""Local models without weights: the beginnings of GGUF files, and a model that seems to run."""

import json
import os
import struct
from contextlib import contextmanager

from storage.lock import lock_file, taken
from tasks.models.local import of_file


def write_gguf(path, *, size=0, context_length=131_072, **more):
    """Write what a model of the size and shape of SmolLM2-135M says of itself; `more` are other numbers or lists of them."""
    shape = {"block_count": 30, "embedding_length": 576, "attention.head_count": 9, "attention.head_count_kv": 3}
    shape |= {name.replace("attention_", "attention."): value for name, value in more.items()}
    numbers = {f"llama.{name}": value for name, value in {"context_length": context_length, **shape}.items()}
    fields = [text("general.architecture") + struct.pack("<I", 8) + text("llama"), *(number(*field) for field in numbers.items())]
    words = text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("the")
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(fields) + 1) + words + b"".join(fields))
    with path.open("r+b") as file:
        file.truncate(max(size, path.stat().st_size))
    return path


def text(words):
    return struct.pack("<Q", len(words)) + words.encode()


def number(name, value):
    if isinstance(value, list):
        return text(name) + struct.pack(f"<IIQ{len(value)}I", 9, 4, len(value), *value)
    return text(name) + struct.pack("<II", 4, value)


@contextmanager
def announced(base_url, path, at):
    """Have another process's model run, as far as can be seen: the lock is held, and the file says where."""
    at.mkdir(parents=True, exist_ok=True)
    with lock_file(at / "local-model.json") as held:
        assert taken(held)
        os.pwrite(
            held,
            json.dumps({"base_url": base_url, "model": of_file(path).model, "weights": str(path), "api_key": "key"}).encode(),
            0,
        )
        yield
