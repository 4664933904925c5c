"""The house stands: arrows point down, nothing goes in circles, rooms are small, algorithms are pure."""

import ast
import re
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent
SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for top in ("deployments", "flows", "tasks", "storage")
    for path in (ROOT / top).rglob("*.py")
}
ORDER = """
deployments
flows.cli
flows.service
flows.evaluate
flows.evolve
flows.ingest flows.maintain flows.ask_deployed
flows.prefect_runs
flows.display flows.frames
flows.ask flows.cluster
flows.readers
flows.document_graph tasks.report
tasks.views
tasks.evaluation
tasks.readers tasks.checking
tasks.reading
tasks.routing tasks.lineage
tasks.asking tasks.ingest
tasks.step tasks.watching tasks.content_graph tasks.finding
tasks.parsing tasks.events
tasks.models
tasks.prompts
tasks.algorithms.proof
tasks.algorithms.metrics
tasks.algorithms.graphs
tasks.algorithms.questions
tasks.algorithms.flow
tasks.algorithms.evidence
tasks.algorithms.quotes
tasks.algorithms.layout
tasks.algorithms.text
tasks.algorithms
tasks.settings tasks.progress tasks.address
storage.corpus.transfer storage.cleaning.removing storage.cleaning.threads
storage.corpus
storage.cleaning
storage.runs storage.evaluations
storage.catalog
storage.graph storage.memo storage.object_client
storage.artifacts storage.object_copies
storage.codec storage.locations
storage.lock storage.object_address storage.system storage.records
storage.errors storage.text
"""
"""The rooms, the highest first. A room imports what stands on lower lines, and itself."""
RANKS = {room: rank for rank, line in enumerate(ORDER.split("\n")) for room in line.split()}
IMPURE = {"prefect", "duckdb", "lancedb", "pyarrow", "polars", "torch", "openai", "mineru", "rapidocr", "onnxruntime",
          "sentence_transformers", "time", "datetime", "random", "os", "pathlib", "io", "socket", "subprocess"}  # fmt: skip
MODELS = {"openai", "rapidocr", "onnxruntime", "sentence_transformers", "torch", "transformers", "peft", "onnx"}
INSIDE_A_RUN = {"flows.ask_deployed", "flows.evaluate", "flows.evolve", "flows.ingest", "flows.maintain",
                "flows.prefect_runs.labels", "flows.prefect_runs.pages",
                "deployments.automations", "deployments.declared", "flows.service.intake",
                "flows.service.resident", "flows.service.runs_here", "deployments.serve"}  # fmt: skip
"""Imported where a run is at work already: they may import Prefect at once, all others where they need it."""


@cache
def imports(module: str, *, at_once: bool = False) -> frozenset[str]:
    """What a module imports, also inside functions and for types; `at_once`: only when it is imported itself."""
    tree = ast.parse(SOURCES[module].read_text("utf-8"))
    names: set[str] = set()
    for node in tree.body if at_once else ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            modules = {f"{node.module}.{alias.name}" for alias in node.names} & SOURCES.keys()
            names.update(modules or {node.module or ""})
    return frozenset(names)


def libraries(module: str, **how: bool) -> set[str]:
    return {name.split(".")[0] for name in imports(module, **how)}


def room_of(module: str) -> str:
    """The room that a module stands in: the longest name in the order that its own begins with."""
    return max((room for room in RANKS if f"{module}.".startswith(f"{room}.")), key=len)


def test_a_room_imports_only_what_stands_below_it():
    for module in SOURCES.keys() - {"flows", "tasks", "storage"}:
        for name in imports(module) & SOURCES.keys():
            mine, other = room_of(module), room_of(name)
            assert mine == other or RANKS[mine] < RANKS[other], f"{module} imports {name}: {other} does not stand below {mine}"


def test_no_file_imports_itself_by_way_of_others():
    arrows = nx.DiGraph([(module, name) for module in SOURCES for name in imports(module) & SOURCES.keys()])
    assert [sorted(circle) for circle in nx.strongly_connected_components(arrows) if len(circle) > 1] == []


def test_a_room_has_at_most_15_modules_and_a_module_at_most_350_lines():
    for folder in {path.parent for path in SOURCES.values()}:
        assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= 15, folder
    for path in SOURCES.values():
        assert len(path.read_text("utf-8").splitlines()) <= 350, path


def test_algorithms_know_only_arrays_and_records():
    for module in SOURCES:
        if module.startswith("tasks.algorithms"):
            assert not libraries(module) & IMPURE, module
            ours = imports(module) & SOURCES.keys()
            assert all(name.startswith(("tasks.algorithms", "storage.records")) for name in ours), (module, ours)


def test_libraries_and_the_home_stay_in_their_rooms():
    for module, path in SOURCES.items():
        assert module.startswith(("tasks.models", "deployments.training")) or not libraries(module) & MODELS, module
        assert not (module.startswith("storage") and libraries(module) & {"prefect", "mineru"}), module
        assert module in INSIDE_A_RUN or "prefect" not in libraries(module, at_once=True), module
        # a type of DuckDB's in an annotation lives longer than DuckDB, which says so on the terminal
        assert "DuckDBPyConnection" not in path.read_text("utf-8") or "__future__" in imports(module, at_once=True), module
        assert module == "storage.locations" or 'environ["FLOWREADER_HOME"]' not in path.read_text("utf-8"), module


def test_every_dependency_is_imported_or_a_comment_says_what_it_is_for():
    listed = (ROOT / "pyproject.toml").read_text("utf-8").partition("\ndependencies = [\n")[2].partition("\n]")[0].splitlines()
    imported = set().union(*map(libraries, SOURCES))
    used = {
        re.sub(r"[-_.]+", "-", name).lower()
        for each, names in packages_distributions().items()
        if each in imported
        for name in names
    }
    names = {re.match(r' *"([\w.-]+)', line)[1].lower(): "#" in line for line in listed}
    assert [name for name, explained in names.items() if not explained and name not in used] == []


def test_every_row_of_the_tests_readme_names_tests_that_are_there():
    rows = re.findall(r"`([\w/]+\.py)`: ((?:`\w+`(?:, )?)+)", (ROOT / "tests" / "README.md").read_text("utf-8"))
    named = [(file, test) for file, tests in rows for test in re.findall(r"`(\w+)`", tests)]
    lost = [row for row in named if f"def test_{row[1]}(" not in (ROOT / "tests" / row[0]).read_text("utf-8")]
    assert len(named) > 100 and not lost, "rename them in tests/README.md as well"
