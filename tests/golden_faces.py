"""The faces of the golden files: how a command, a page, a tool or an error is shown, in words that are the same each time."""

import asyncio
import io
import json
import os
import re
import unicodedata
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

import pytest
from PIL import Image
from starlette.requests import Request

from flows.cli.main import main
from flows.display.output import Output
from flows.service.app import reply_to_error
from flows.service.mcp_tools import Tools
from storage.corpus.snapshot import open_for_reading
from storage.errors import ExpectedError
from storage.locations import corpus_location
from storage.text import as_markdown
from tasks.parsing.parse import parser_identity
from tasks.readers.page_pictures import page_bytes
from tasks.views.answers import view_answer
from tests.flows.service.worlds import client

API = "/api/v1/corpora/default"
LINE = 120
HIDDEN = ("Cc", "Cf", "Zl", "Zp", "Co", "Cs")


def settled(text, home):
    """Return what is shown without what is another each time, and so that each sign of it can be seen."""
    found = {str(home): "HOME", str(home.parent): "TEMPORARY", parser_identity(): "PARSER"}
    for pattern, instead in (
        *((re.escape(written), instead) for value, instead in found.items() for written in (value, as_markdown(value))),
        (r"sha256-[\w+/=]+", "sha256-..."),
        (r"data:[\w/+;=-]+,[^\"') ]*", "data:..."),
        (r"(?s)(<style[^>]*>).*?</style>", r"\1</style>"),
        (r"(\\?\.md |prompt_hash\": \")[0-9a-f]{8,}", r"\1HASH"),
        ("\x1b\\[([\\d;]*)m", r"⟦\1⟧"),
    ):
        text = re.sub(pattern, instead, text)
    return "".join(sign if sign == "\n" or unicodedata.category(sign) not in HIDDEN else f"⟦{ord(sign):04X}⟧" for sign in text)


def command(*arguments, width=100, **environment):
    """Return what a command writes, with its exit code where that is not 0."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        for name, value in ({"COLUMNS": str(width)} | environment).items():
            patch.setenv(name, value)
        code = main(list(arguments))
    ended = f"exit code {code}\n" if code else ""
    return "".join(filter(None, (out.getvalue(), err.getvalue(), ended)))


def screen(*arguments):
    """Return what a command shows on a terminal, with its styles."""
    return command(*arguments, width=80, FORCE_COLOR="1")


def pretty(text):
    """Return JSON on as few lines as can be read; of all settings of a run only that they are there."""
    written = text if isinstance(text, str) else json.dumps(text)
    # Where lines are broken must not depend on how long the name of a folder is.
    return laid_out(json.loads(written.replace(os.environ["FLOWREADER_HOME"], "HOME")))


def laid_out(value, indent="", before=""):
    text = before + json.dumps(value, ensure_ascii=False)
    if len(indent + text) <= LINE or not isinstance(value, dict | list):
        return indent + text
    if isinstance(value, list):
        parts = [laid_out(each, f"{indent}  ") for each in value]
        return "\n".join([f"{indent}{before}[", ",\n".join(parts), f"{indent}]"])
    parts = [
        laid_out("..." if name == "settings" and len(each) > 5 else each, f"{indent}  ", f'"{name}": ')
        for name, each in value.items()
    ]
    return "\n".join([f"{indent}{before}{{", ",\n".join(parts), f"{indent}}}"])


@cache
def told(*arguments):
    """Return what a command tells programs."""
    return pretty(command(*arguments, "--json").partition("\n")[0])


def html(page):
    """Return a page without its indentation."""
    return "\n".join(filter(None, map(str.strip, page.text.split("\n"))))


def unless_same(words, others):
    return "as --json" if words == others else words


@cache
def door():
    return client()


@cache
def tools():
    return Tools(None)


def tool(name, **arguments):
    """Return what a tool replies by MCP; of a picture that it is there."""
    parts = asyncio.run(tools().call_tool(name, arguments)).content
    return "\n".join(pretty(part.text) if part.type == "text" else f"({part.mime_type})" for part in parts)


@cache
def kept(answer_id):
    with open_for_reading(corpus_location("default")) as snapshot:
        return view_answer(snapshot.answer(answer_id), snapshot)


def raised_by(do):
    with pytest.raises((ExpectedError, OSError)) as raised:
        do()
    return raised.value


def by_command(error, as_json):
    written = io.StringIO()
    with redirect_stdout(written), redirect_stderr(written):
        Output(as_json).error(error)
    return pretty(written.getvalue()) if as_json else written.getvalue()


def by_http(error, path):
    headers = [(b"accept", b"text/html" if path == "/" else b"*/*")]
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": headers}
    return asyncio.run(reply_to_error(Request(scope), error))


def as_rest(error):
    reply = by_http(error, API)
    more = "".join(f", {name} {value}" for name, value in reply.headers.items() if not name.startswith("content-"))
    return f"{reply.status_code}{more}\n{unless_same(pretty(reply.body.decode()), by_command(error, as_json=True))}"


def by_mcp(error):
    async def answering(_request):
        raise error

    tools().answering = answering
    return unless_same(tool("ask", question="How deep?", corpus="default"), by_command(error, as_json=True))


def blank_page(artifacts, document, page, copies, *, dpi):
    """Return a picture of a page of paper.pdf, which needs no file; other documents have none."""
    if document.name != "paper.pdf":
        return page_bytes(artifacts, document, page, copies, dpi=dpi)
    written = io.BytesIO()
    Image.new("RGB", (100, 141), "white").save(written, "PNG")
    return written.getvalue()
