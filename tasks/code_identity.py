"""Which code this is: measurements are kept, and those of other code are no measurements of this one."""

from __future__ import annotations

import functools
from pathlib import Path

from storage.artifacts import hash_bytes
from storage.records import identify

ROOT = Path(__file__).resolve().parents[1]
DECIDING = ("storage/*.*", "tasks/**/*.*", "flows/ask.py", "flows/readers/*.py")
"""What an answer can depend on: not how it is shown, asked for or counted."""


@functools.cache
def code_identity() -> str:
    """Return a hash of the files that decide answers: code, prompts and schemas."""
    files = sorted({path for pattern in DECIDING for path in ROOT.glob(pattern) if path.suffix in {".py", ".md", ".sql"}})
    return identify(*(part for path in files for part in (path.relative_to(ROOT).as_posix(), hash_bytes(path.read_bytes()))))
