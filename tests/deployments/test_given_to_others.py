"""What other programs and other people's pages read of this repository: MCP's registry, agents, forms for issues, pre-commit."""

import asyncio
import json
import re
import shlex
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
import yaml

from flows.cli.arguments.commands import build_parser
from flows.service.mcp_tools import Tools

ROOT = Path(__file__).parents[2]
MCP = ROOT / "deployments" / "mcp"
SKILL = (MCP / "SKILL.md").read_text("utf-8")


@pytest.mark.parametrize("line", re.findall(r"^    flowreader (.*)$", SKILL, re.MULTILINE))
def test_every_command_that_agents_are_given_is_one(line):
    build_parser().parse_args(shlex.split(line))


def test_the_skill_names_all_tools_and_no_other():
    async def never(*_):
        raise AssertionError

    listed = re.search(r"^Tools: (.*?)alone", SKILL, re.MULTILINE | re.DOTALL)[1]
    there = {tool.name for tool in asyncio.run(Tools(never, ingesting=never).list_tools())}
    assert set(re.findall(r"`(\w+)`", listed)) == there


def test_the_registry_is_given_this_version_and_a_command_that_runs():
    server = json.loads((MCP / "server.json").read_text("utf-8"))
    (package,) = server["packages"]
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert server["version"] == package["version"] == version and len(server["description"]) <= 100
    words = [one.get("value") or f"{one['name']}=reports" for one in package["packageArguments"]]
    assert build_parser().parse_args(words).command == "mcp"


@pytest.mark.parametrize("name", ["fault", "wish"])
def test_forms_for_issues_have_known_fields(name):
    pytest.importorskip("check_jsonschema")
    schemas = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / "github-issue-forms.json").read_text("utf-8"))
    jsonschema.validate(yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text("utf-8")), schema)
