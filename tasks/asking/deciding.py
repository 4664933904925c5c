"""What decides an answer apart from the question and the documents: code, prompts, libraries and settings."""

import functools
import importlib.metadata
from collections.abc import Mapping
from pathlib import Path

from storage.artifacts import hash_bytes
from storage.records.documents import identify
from tasks.asking.weights import read_weights
from tasks.settings.ask import AskSettings

ROOT = Path(__file__).resolve().parents[2]
DECIDING = ("storage/**/*.*", "tasks/**/*.*", "flows/ask.py", "flows/document_graph.py", "flows/readers/*.py")
"""What an answer can depend on, the reading of its documents too: not how it is asked for."""

ASKING = "tasks/evaluation/asking.py"
EVALUATING = (
    "tasks/evaluation/**/*.py",
    "tasks/report/*.*",
    "tasks/views/*/*.*",
    "tasks/views/*.j2",
    "tasks/prompts/judge_answer.md",
    "tasks/prompts/triple_question.md",
    "tasks/algorithms/metrics/benchmark_scores.py",
    "tasks/algorithms/metrics/bootstrap.py",
    "tasks/algorithms/metrics/rankings.py",
)
"""Code that only makes questions, or shows, judges and counts answers: when it changes, nothing need be asked again."""

FITTING = tuple(f"tasks/evaluation/{name}.py" for name in ("looks", "pieces", "refusals", "sizing"))
"""Evaluation code that decides the weights of a fit and what is measured out of fold."""

LIBRARIES = ("ortools", "numpy", "scipy", "lancedb", "duckdb", "PyStemmer", "sentence-transformers", "torch", "httpx")

UNDECIDING: Mapping[str, bool | set[str]] = {"seconds": True, "models": {"budget", "prices"}}
"""Settings that decide no answer: the cost limits of models, and the deadline of a question, since nothing is kept when it passes.
How long to wait for a slow model does decide."""


@functools.cache
def code_identity() -> str:
    """Return a hash of what decides answers: code, prompts, schemas and glossaries, and the versions of libraries."""
    code = (part for path in deciding_files() for part in (path.relative_to(ROOT).as_posix(), hash_bytes(path.read_bytes())))
    return identify(*code, *(f"{name} {importlib.metadata.version(name)}" for name in LIBRARIES))


def fitting_identity() -> str:
    """Return a hash of what decides answers and what is fitted to them."""
    return identify(code_identity(), *(hash_bytes((ROOT / name).read_bytes()) for name in FITTING))


def deciding_files() -> list[Path]:
    deciding, evaluating = ({path for pattern in some for path in ROOT.glob(pattern)} for some in (DECIDING, EVALUATING))
    found = deciding - evaluating | ({ROOT / ASKING} & deciding)
    return sorted(path for path in found if path.suffix in {".json", ".md", ".py", ".sql", ".toml"})


def deciding_settings(settings: AskSettings) -> str:
    """Return, as JSON, what of the settings decides an answer; of a file of weights it is what stands in it."""
    own = read_weights(Path(settings.weights)).model_dump_json() if settings.weights else ""
    return settings.model_dump_json(exclude=UNDECIDING) + own
