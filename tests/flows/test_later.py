"""Every command that the command line knows is there, and none is loaded before it runs."""

import argparse
import subprocess
import sys

import pytest

from flows.arguments import build_parser
from flows.later import Later

HEAVY = {"numpy", "pydantic", "duckdb", "lancedb", "pyarrow", "polars", "prefect", "ortools", "asyncio"}


def names_of(parser):
    """Return the name of every command that a parser and those below it would run."""
    found = [parser.get_default("run")]
    for action in parser._actions:
        found += [action.const] if action.dest == "run" else []
        if isinstance(action, argparse._SubParsersAction):
            found += [name for below in action.choices.values() for name in names_of(below)]
    return [command for command in found if command is not None]


def test_every_command_is_there(monkeypatch):
    asked = []
    monkeypatch.setattr("pkgutil.resolve_name", lambda name: asked.append(name) or (lambda *_given: 0))
    assert {command.load()(None, None) for command in names_of(build_parser())} == {0}
    monkeypatch.undo()
    assert len(asked) > 15 and all(callable(__import__("pkgutil").resolve_name(name)) for name in asked)


def test_nothing_that_takes_long_is_loaded_to_understand_a_call():
    program = "import sys; from flows.cli import build_parser; build_parser(); print(*sys.modules)"
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())
    assert not HEAVY & loaded


def test_a_name_that_leads_nowhere_is_an_error_when_it_is_loaded():
    with pytest.raises(AttributeError):
        Later("flows.commands:nothing").load()
