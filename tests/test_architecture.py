"""The house stands: arrows point down, algorithms are pure."""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("deployments", "flows", "tasks", "storage")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
IMPURE = {"prefect", "duckdb", "lancedb", "pyarrow", "polars", "torch", "openai", "mineru", "rapidocr", "onnxruntime",
          "sentence_transformers", "time", "datetime", "random", "os", "pathlib", "io", "socket", "subprocess"}  # fmt: skip


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return names


def toplevel_imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    found = (node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    return {
        name for node in found for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
    }


def test_arrows_point_down():
    for path in SOURCES:
        above = set(ROOMS[: ROOMS.index(path.relative_to(ROOT).parts[0])])
        upward = {name for name in imports(path) if name.split(".")[0] in above}
        assert not upward, f"{path.relative_to(ROOT)} imports {upward} from above"


def test_algorithms_know_only_arrays_and_records():
    for path in (ROOT / "tasks" / "algorithms").rglob("*.py"):
        for name in imports(path):
            top = name.split(".")[0]
            assert top not in IMPURE, f"{path.name} imports {name}"
            assert top not in {"tasks", "storage"} or name == "storage.records" or name.startswith("tasks.algorithms."), (
                path,
                name,
            )


def test_storage_knows_neither_prefect_nor_models():
    for path in (ROOT / "storage").rglob("*.py"):
        assert not {name.split(".")[0] for name in imports(path)} & {"prefect", "torch", "mineru", "openai", "rapidocr"}, path


def test_only_the_models_room_talks_to_models():
    model_libraries = {"openai", "rapidocr", "onnxruntime", "sentence_transformers", "torch", "transformers", "onnx"}
    for path in SOURCES:
        if "models" not in path.parts:
            assert not {name.split(".")[0] for name in imports(path)} & model_libraries, path


RUNS = {
    "answer_pages.py",
    "ask_task.py",
    "automations.py",
    "intake.py",
    "questions.py",
    "declared.py",
    "errand.py",
    "evaluate.py",
    "ingest.py",
    "maintain.py",
    "run_labels.py",
    "serve.py",
}
"""Imported where a run is at work already."""


def test_prefect_is_imported_only_inside_a_run():
    for path in SOURCES:
        assert not any(name.split(".")[0] == "prefect" for name in toplevel_imports(path)) or path.name in RUNS, path


def test_only_locations_reads_the_home():
    for path in SOURCES:
        if path.name != "locations.py":
            assert 'environ["FLOWREADER_HOME"]' not in path.read_text("utf-8"), path
            assert 'environ.get("FLOWREADER_HOME' not in path.read_text("utf-8"), path
