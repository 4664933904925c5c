"""Local models without weights: the beginnings of GGUF files, and a model that seems to run."""

import json
import os
import struct
from contextlib import contextmanager

from storage.lock import lock_file, try_lock
from tasks.models.local import of_file


def write_gguf(path):
    """Write what begins as a GGUF file does, and holds nothing."""
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    return path


@contextmanager
def announced(base_url, path, at):
    """Have another process's model run, as far as can be seen: the lock is held, and the file says where."""
    at.mkdir(parents=True, exist_ok=True)
    with lock_file(at / "local-model.json") as held:
        assert try_lock(held)
        os.pwrite(
            held,
            json.dumps({"base_url": base_url, "model": of_file(path).model, "weights": str(path), "api_key": "key"}).encode(),
            0,
        )
        yield
