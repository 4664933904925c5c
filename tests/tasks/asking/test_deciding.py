"""The hash of the code is of all that decides an answer, and of nothing else."""

import ast
import importlib.metadata
from pathlib import Path

from tasks.asking import deciding
from tasks.asking.deciding import (
    EVALUATING,
    FITTING,
    LIBRARIES,
    ROOT,
    deciding_files,
    fitting_identity,
)
from tasks.asking.deciding import code_identity as identity_of_code


def imported_by(path: Path) -> set[Path]:
    """Return the files of ours that a file imports, packages' own among them."""
    found: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            parts = name.split(".")
            inner = (ROOT.joinpath(*parts[:end]) for end in range(1, len(parts) + 1))
            found.update(file for place in inner for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file())
    return found


def reached_from(*starts: Path) -> set[Path]:
    reached, left = set(), set(starts)
    while left:
        reached |= left
        left = {file for path in left for file in imported_by(path)} - reached
    return reached


def test_all_that_answers_import_is_in_the_hash():
    readers = (ROOT / "flows" / "readers").glob("*.py")
    reached = reached_from(ROOT / "flows" / "ask.py", *readers)
    assert ROOT / "tasks" / "algorithms" / "flow" / "min_cost.py" in reached and len(reached) > 100
    assert reached - set(deciding_files()) == {ROOT / "flows" / "__init__.py"}


def test_all_that_reads_documents_in_is_in_the_hash_what_runs_in_children_too():
    workers = [path for room in ("models", "parsing") for path in (ROOT / "tasks" / room).rglob("*.py")]
    reached = reached_from(ROOT / "flows" / "document_graph.py", *workers)
    assert ROOT / "tasks" / "ingest" / "steps.py" in reached
    assert reached <= set(deciding_files())


def test_every_prompt_but_the_judge_s_and_that_of_training_is_in_the_hash():
    prompts = set((ROOT / "tasks" / "prompts").glob("*.md"))
    assert {path.name for path in prompts - set(deciding_files())} == {"judge_answer.md", "triple_question.md"}


def test_what_only_evaluates_is_not_and_each_pattern_names_something():
    names = {path.relative_to(ROOT).as_posix() for path in deciding_files()}
    assert names.isdisjoint(
        {"tasks/evaluation/probing.py", "tasks/evaluation/plan.py", "tasks/report/page.py", "tasks/algorithms/metrics/answers.py"}
    )
    assert {"tasks/evaluation/asking.py", "storage/catalog/schema.sql"} <= names
    assert all(list(ROOT.glob(pattern)) for pattern in EVALUATING)


def identities(folder, monkeypatch, *written):
    """Return the identity after each file that is written, beginning with none."""
    for room in ("prompts", "evaluation"):
        (folder / "tasks" / room).mkdir(parents=True)
    monkeypatch.setattr(deciding, "ROOT", folder)
    found = []
    for name, text in (("README.md", ""), *written):
        (folder / name).write_text(text)
        identity_of_code.cache_clear()
        found.append(identity_of_code())
    identity_of_code.cache_clear()
    return found


def test_another_line_of_code_of_a_prompt_or_of_a_glossary_is_another_identity(tmp_path, monkeypatch):
    changes = ("tasks/a.py", "x = 1\n"), ("tasks/a.py", "x = 2\n"), ("tasks/prompts/b.md", "Read."), ("tasks/c.toml", "d = 1\n")
    assert len(set(identities(tmp_path, monkeypatch, *changes))) == 5


def test_what_is_no_code_or_only_evaluates_changes_nothing(tmp_path, monkeypatch):
    changes = ("tasks/c.pyc", ""), ("tasks/evaluation/probing.py", "x = 1\n"), ("tasks/prompts/judge_answer.md", "Judge.")
    assert len(set(identities(tmp_path, monkeypatch, *changes))) == 1


def test_another_way_to_fit_is_another_identity_of_the_fit_alone(tmp_path, monkeypatch):
    (tmp_path / "tasks" / "evaluation").mkdir(parents=True)
    monkeypatch.setattr(deciding, "ROOT", tmp_path)
    identity_of_code.cache_clear()
    answers, fits = set(), set()
    for name in ("", *FITTING):
        for path in FITTING:
            (tmp_path / path).write_text("STRENGTH = 2.0\n" if path == name else "STRENGTH = 1.0\n")
        answers.add(identity_of_code())
        fits.add(fitting_identity())
    identity_of_code.cache_clear()
    assert len(answers) == 1 and len(fits) == 1 + len(FITTING)


def test_another_version_of_a_library_is_another_identity(monkeypatch):
    identity_of_code.cache_clear()
    seen = {identity_of_code()}
    known = importlib.metadata.version
    for library in LIBRARIES:
        monkeypatch.setattr(importlib.metadata, "version", lambda name, other=library: known(name) + "+ours" * (name == other))
        identity_of_code.cache_clear()
        seen.add(identity_of_code())
    identity_of_code.cache_clear()
    assert len(seen) == len(LIBRARIES) + 1 and all(len(identity) == 64 for identity in seen)
