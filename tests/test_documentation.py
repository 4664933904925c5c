"""What the documentation shows is there: commands are parsed by the real parser, settings, names, links and pictures exist."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from deployments.docs import build
from deployments.docs.reference import list_commands
from flows.cli.arguments.commands import build_parser
from flows.service.app import web_app
from flows.service.web import documentation
from storage.errors import RequestError
from tasks.settings.ask import AllSettings
from tasks.settings.base import leaves
from tasks.settings.environment import NAMES
from tests.flows.service.worlds import intake

ROOT = Path(__file__).parents[1]
TEXTS = sorted(
    path
    for place in (ROOT, *(ROOT / folder for folder in ("deployments", "flows", "tests", ".github")))
    for path in (place.glob("*.md") if place == ROOT else place.rglob("*.md"))
)
SHELL = {">", "<", "|", "||", "&&", ";", "2>", "&"}
FILLED = {"N": "1", "COMMAND": "ask"}
"""Placeholders that stand where the parser takes not any word."""


@cache
def verbs():
    return {parser.prog.split()[1] for parser in list_commands(build_parser()) if " " in parser.prog}


def code_of(path):
    """Each line of a block of code, and each piece of code in a sentence, with whether it is the latter."""
    for token in build.MARKDOWN.parse(path.read_text("utf-8")):
        if token.type in ("fence", "code_block") and token.info in ("", "sh", "bash"):
            yield from ((line, False) for line in token.content.replace("\\\n", " ").splitlines())
        for child in token.children or ():
            if child.type == "code_inline":
                yield child.content, True


def calls_in(path):
    """The arguments of each call of `flowreader`; in a sentence its name may be left out: `answers list`."""
    for line, in_sentence in code_of(path):
        try:
            words = shlex.split(line, comments=not in_sentence)
        except ValueError:
            continue
        while words and re.match(r"[A-Z_]+=", words[0]):
            words.pop(0)
        named = [place for place, word in enumerate(words) if word == "flowreader"]
        # At the beginning, or behind `docker compose exec SERVICE`.
        at = next((place for place in named if place == 0 or words[place - 2] == "exec"), None)
        if at is None and in_sentence and len(words) > 1 and words[0] in verbs():
            at = -1
        if at is not None and line != "flowreader":
            call = words[at + 1 :]
            end = next((place for place, word in enumerate(call) if word in SHELL), len(call))
            # "[--as NAME]" may be left out, "rules|model" is either
            yield [FILLED.get(word, word.strip("[]").split("|")[0]) for word in call[:end]], in_sentence


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_command_that_is_shown_is_one(path, capsys):
    for call, in_sentence in calls_in(path):
        try:
            build_parser().parse_args(call)
        except SystemExit as end:
            said = capsys.readouterr().err
            # A sentence may name a command without what it takes.
            left_out = in_sentence and ("are required" in said or "expected one argument" in said)
            assert end.code == 0 or left_out, f"flowreader {shlex.join(call)}: {said}"


def test_many_commands_are_shown():
    assert sum(len(list(calls_in(path))) for path in TEXTS) > 100


def test_each_setting_and_name_of_the_environment_that_is_shown_is_there():
    settings = {name for name, _ in leaves(AllSettings)}
    groups = {name.rsplit(".", count)[0] for name in settings for count in range(1, name.count(".") + 1)}
    for path in TEXTS:
        text = path.read_text("utf-8")
        shown = re.findall(r"`\[?((?:reading|limits|work|models|ask)\.[a-z_.]+[a-z_])\]?(?: = [^`]*)?`", text)
        assert set(shown) <= settings | groups, path
        names = set(re.findall(r"FLOWREADER_[A-Z_]*[A-Z](?!_)\b", text)) - {"FLOWREADER_NAME"}
        assert {name for name in names if not any(each.startswith(name) for each in NAMES)} == set(), path


def test_each_link_and_picture_is_there():
    for path in TEXTS:
        page = build.read_page(path)
        for child in (child for token in page.tokens for child in token.children or ()):
            link = str(child.attrs.get("href", child.attrs.get("src", "")))
            if link and not build.ELSEWHERE.match(link):
                target, _, anchor = link.partition("#")
                there = (path.parent / target).resolve() if target else path
                assert there.exists(), f"{path}: {link}"
                assert not anchor or anchor in build.read_page(there).anchors, f"{path}: {link}"


def test_the_site_is_built_whole_and_a_link_to_nowhere_ends_the_build(tmp_path, monkeypatch):
    pages = build.build(tmp_path / "site")
    site = tmp_path / "site"
    assert pages == len(list(site.rglob("*.html"))) and (site / "llms.txt").read_text("utf-8").startswith("# FlowReader")
    for page, words in {"commands": "usage: flowreader ask", "settings": "ask.seconds", "environment": "FLOWREADER_HOME"}.items():
        assert words in (site / "reference" / f"{page}.html").read_text("utf-8")
    assert "/api/v1/ask" in (site / "reference" / "rest.html").read_text("utf-8")
    assert "list_documents" in (site / "reference" / "mcp.html").read_text("utf-8")
    assert all("<script" not in page.read_text("utf-8") for page in site.rglob("*.html"))
    index = tmp_path / "index.md"
    index.write_text("# It\n\n[there](nowhere.md) [here](#nothing)\n")
    monkeypatch.setattr(build, "INDEX", index)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    with pytest.raises(RequestError, match="2 links lead nowhere"):
        build.build(tmp_path / "broken")


def test_the_service_shows_what_is_built_and_says_how_to_build_it(tmp_path, monkeypatch):
    def client():
        return TestClient(web_app(intake()), base_url="http://127.0.0.1:4280")

    monkeypatch.setattr(documentation, "FOLDER", tmp_path)
    reply = client().get("/docs")
    assert reply.status_code == 404 and "make docs" in reply.json()["error"]["remedy"]
    (tmp_path / "index.html").write_text("<title>It</title>")
    assert client().get("/docs").text == "<title>It</title>"
