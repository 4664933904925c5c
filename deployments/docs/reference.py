"""What the code says of itself, as Markdown: commands, settings, names of the environment, REST, MCP's tools."""

import argparse
import asyncio
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from fastapi import FastAPI

from flows.cli.arguments.commands import build_parser
from flows.readers import most_calls
from flows.service.mcp_tools import Tools
from flows.service.rest import api
from tasks.evaluation.tables.published import find_table, table_names
from tasks.settings.ask import AllSettings, method_of
from tasks.settings.base import bounds_of, change_settings, leaves
from tasks.settings.environment import NAMES


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def table(*head: str) -> list[str]:
    return ["", row(*head), "|" + "---|" * len(head)]


def list_commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parser of each command, a command with actions before them."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from list_commands(command)


def commands() -> str:
    os.environ["COLUMNS"] = "100"
    return "\n".join(f"## {each.prog}\n\n```text\n{each.format_help()}```\n" for each in list_commands(build_parser()))


def settings() -> str:
    lines, group = list[str](), ""
    for name, field in leaves(AllSettings):
        if not field.description:
            continue
        if (first := name.partition(".")[0]) != group:
            group = first
            lines += ["", f"## {group}", *table("setting", "default", "what it is", "bounds")]
        lines.append(row(f"`{name}`", f"`{json.dumps(field.default)}`", field.description, bounds_of(field)))
    return "\n".join(lines)


def environment() -> str:
    return "\n".join([*table("name", "what it is"), *(row(f"`{name}`", text) for name, text in NAMES.items())])


def name_type(form: Mapping[str, Any]) -> str:
    """Return the type of a JSON schema in a few words; one with a name leads to it."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in form:
        return " or ".join(map(name_type, form["anyOf"]))
    if "enum" in form:
        return ", ".join(f"`{value}`" for value in form["enum"])
    kind = str(form.get("type", form.get("const", "any")))
    return f"list of {name_type(form['items'])}" if kind == "array" and "items" in form else kind


def fields_of(form: Mapping[str, Any]) -> list[str]:
    needed = form.get("required", ())
    rows = [
        row(f"`{name}`", name_type(each), "must" if name in needed else "", each.get("description", ""))
        for name, each in form.get("properties", {}).items()
    ]
    return [*table("field", "type", "", "what it is"), *rows, ""] if rows else ["", name_type(form), ""]


def rest() -> str:
    app = FastAPI()
    api.install(app)
    described, lines = app.openapi(), list[str]()
    for path, methods in described["paths"].items():
        for method, each in methods.items():
            lines += [f"## {method.upper()} {path}", "", each["description"], *operation_of(each), ""]
    lines.append("## The shapes")
    for name, form in sorted(described["components"]["schemas"].items()):
        lines += ["", f"### {name}", "", form.get("description", ""), *fields_of(form)]
    return "\n".join(lines)


def operation_of(form: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an operation of OpenAPI takes and returns."""
    if given := form.get("parameters"):
        yield from table("parameter", "in", "type", "what it is")
        for one in given:
            yield row(f"`{one['name']}`", one["in"], name_type(one["schema"]), one.get("description", ""))
    for content in form.get("requestBody", {}).get("content", {}).values():
        yield from ["", "Body:", *fields_of(content["schema"])]
    for kind, content in next(iter(form["responses"].values())).get("content", {}).items():
        yield from ["", f"Reply, `{kind}`: {name_type(content.get('schema', {'type': 'bytes'}))}"]


def mcp() -> str:
    lines, nothing = list[str](), cast(Any, object())
    for tool in asyncio.run(Tools(nothing, ingesting=nothing).list_tools()):
        lines += [f"## {tool.name}", "", " ".join((tool.description or "").split()), *fields_of(tool.input_schema)]
        if tool.annotations and not tool.annotations.read_only_hint:
            lines += ["Only with `--allow-writes`, and never over HTTP.", ""]
    return "\n".join(lines)


PAPER_COLUMNS = ("`evaluate table`", "what it measures", "printed on", "rows here", "calls a question, all rows")


def rows_by_text(texts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a row for each thing that is said, with the tables that it is said of."""
    tables = dict[str, list[str]]()
    for what, name in texts:
        tables.setdefault(what, []).append(f"`{name}`")
    yield from (row(what, ", ".join(names)) for what, names in tables.items())


def papers() -> str:
    """Return the tables that have a name: what runs of each, where, at what most, and what is not here."""
    lines, paper = list[str](), ""
    for name in table_names():
        printed = find_table(name)
        if printed.paper != paper:
            paper = printed.paper
            lines += ["", f"## {paper}", *table(*PAPER_COLUMNS)]
        asked = change_settings(method_of(printed.preset), {"ask.reading.by": "model"})
        arms = [(reader, change_settings(asked, change).ask) for reader, change in printed.own_rows.values()]
        calls = sum(most_calls(reader, ask) for reader, ask in arms)
        rows = f"{len(arms)} of {len(printed.rows)}"
        lines.append(row(f"`{name}`", printed.title.partition(", ")[2], ", ".join(printed.datasets), rows, f"at most {calls:,}"))
    tables = [find_table(name) for name in table_names()]
    absent = ((f"{one.name}: {one.absent}", each.name) for each in tables for one in each.rows if one.absent)
    notes = ((note, each.name) for each in tables for note in each.notes)
    lines += [
        "",
        "## What stands in the way of the other rows",
        *table("row, and why it is not here", "tables"),
        *rows_by_text(absent),
    ]
    lines += ["", "## What the figures do not say", *table("note", "tables"), *rows_by_text(notes)]
    return "\n".join(lines)


GENERATED = {"commands": commands, "settings": settings, "environment": environment, "papers": papers, "rest": rest, "mcp": mcp}
