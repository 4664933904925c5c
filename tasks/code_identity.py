"""Which code this is: measurements are kept, and those of other code are no measurements of this one."""

from __future__ import annotations

import functools
import importlib.metadata
from pathlib import Path

from storage.artifacts import hash_bytes
from storage.records import identify

ROOT = Path(__file__).resolve().parents[1]
DECIDING = ("storage/*.*", "tasks/**/*.*", "flows/ask.py", "flows/document_graph.py", "flows/readers/*.py")
"""What an answer can depend on, the reading of its documents too: not how it is asked for."""

_COUNTING = "rankings bootstrap answers answer_words stated_numbers probe_wording probe_choice"
EVALUATING = (
    "tasks/evaluat*.py",
    "tasks/exam*.py",
    "tasks/benchmarks/*.py",
    "tasks/probing.py",
    "tasks/answer_judging.py",
    "tasks/comparing.py",
    "tasks/report/*.*",
    "tasks/prompts/judge_answer.md",
    *(f"tasks/algorithms/{name}.py" for name in _COUNTING.split()),
)
"""What only makes questions, shows answers or judges and counts them: where that changes, nothing need be asked anew."""

LIBRARIES = ("ortools", "numpy", "scipy", "lancedb", "duckdb")
"""Whose versions decide what is found and how it is routed."""


@functools.cache
def code_identity() -> str:
    """Return a hash of what decides answers: code, prompts and schemas, and the versions of libraries."""
    code = (part for path in deciding_files() for part in (path.relative_to(ROOT).as_posix(), hash_bytes(path.read_bytes())))
    return identify(*code, *(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES))


def deciding_files() -> list[Path]:
    """Return the files that decide answers, in order."""
    deciding, evaluating = ({path for pattern in some for path in ROOT.glob(pattern)} for some in (DECIDING, EVALUATING))
    return sorted(path for path in deciding - evaluating if path.suffix in {".py", ".md", ".sql"})
