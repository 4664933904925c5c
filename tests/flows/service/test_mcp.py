"""FlowReader by MCP, as the SDK's own client sees it: the same tools on stdio and over HTTP, bounded, read-only unless allowed."""

import asyncio
import base64
import io
import json
import os
import shutil
import signal
import subprocess
import sys

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from PIL import Image
from reportlab.pdfgen.canvas import Canvas
from starlette.testclient import TestClient

from flows.ask_deployed import answer_all
from flows.cli.main import main
from flows.cli.mcp_command import answer_here
from flows.service import mcp_tools
from flows.service.app import web_app
from flows.service.mcp_tools import OF_USE, Tools, get_answer
from tasks.asking.request import AskRequest
from tests.flows.service.worlds import ASKED, client, error, intake, served
from tests.program import flowreader

READING = ["ask", "get_answer", "get_outline", "get_page", "list_corpora", "list_documents", "search", "verify"]
QUESTION = ASKED["questions"][0]


@pytest.fixture(autouse=True)
def home(own_home):
    return own_home


async def said(client, tool, wrong=False, **arguments):
    """What a tool replies, its picture left out; an error is one in the product's words."""
    reply = await client.call_tool(tool, arguments)
    assert reply.is_error == wrong, reply
    value = json.loads(reply.content[0].text)
    return value["error"] if wrong else value


async def every_tool_that_reads_works(client, corpus):
    """Ask and look by all tools; a call that names no corpus goes to the server's own, or to the only one."""
    answer = await said(client, "ask", question=QUESTION, **corpus)
    cited = answer["citations"][0]
    assert "163 t" in cited["quote"]
    on = await said(client, "ask", question="and of an MT-2?", follow=answer["answer_id"][:8], **corpus)
    assert on["asked_as"] == QUESTION.replace("MT-3", "MT-2") and on["thread"] == on["follows"] == answer["answer_id"]
    again = await said(client, "get_answer", answer_id=answer["answer_id"][:8], **corpus)
    assert again["citations"] == answer["citations"]
    best = await said(client, "search", query="weight without its base", limit=3, **corpus)
    assert [hit["rank"] for hit in best["passages"]] == [1, 2, 3] and best["next_cursor"] == 3
    assert any(hit["document"] == cited["document"] and "163 t" in hit["quote"] for hit in best["passages"])
    (only,) = (await said(client, "search", query="fuel", documents=["budget.xlsx"], limit=1, **corpus))["passages"]
    assert only["document"]["name"] == "budget.xlsx"
    checked = await said(client, "verify", text=f'“{cited["quote"]}” and "the moon is made of cheese"', **corpus)
    assert [check["verdict"] for check in checked["checks"]] == ["found", "missing"] and not checked["all_found"]
    assert [place["document"] for place in checked["checks"][0]["places"]] == [cited["document"]]
    assert (await said(client, "get_outline", document="maintenance_manual.docx", **corpus))["sections"]
    slide = await said(client, "get_page", document=cited["document"]["id"][:8], page=1, **corpus)
    assert any("163 t" in each["text"] for each in slide["texts"]) and "no pictures" in slide["no_picture"]
    assert len((await said(client, "list_documents", **corpus))["documents"]) == 4
    assert [each["corpus"] for each in (await said(client, "list_corpora"))["corpora"]] == ["small"]
    for tool, arguments, value, remedy in (
        ("ask", {"question": "How deep?", "corpus": "smal"}, "smal", "take 'small'" if corpus else "leave corpus out"),
        ("search", {"query": "deep", "corpus": "../small"}, "../small", "take letters" if corpus else "leave corpus out"),
        ("get_page", {"document": "budget.xlsx", "page": 99, **corpus}, "99", "take 1 to 3"),
        ("get_outline", {"document": "../budged.xls", **corpus}, "../budged.xls", "a part that no other has"),
        ("ask", {"question": "and why?", "follow": "12345678", **corpus}, "12345678", "its id"),
        ("ask", {"question": "How deep?", "document": "budget.xlsx"}, "document", "it takes question"),
        ("search", {"query": "deep", "limit": 0}, "0", "schema"),
        ("verify", {"text": "no claim", **corpus}, "no claim", "quotation marks"),
        ("ask", {}, "", "schema"),
        ("ingest", {"paths": []}, "[]" if corpus == {} else "ingest", "schema" if corpus == {} else "take one of"),
    ):
        wrong = await said(client, tool, wrong=True, **arguments)
        assert wrong["what"] and wrong["value"] == value and remedy in wrong["remedy"], (tool, arguments, wrong)
    return {tool.name: tool.annotations.read_only_hint for tool in (await client.list_tools()).tools}


@pytest.fixture
def pier(home, tmp_path):
    """A page that the corpus holds, too."""
    page = Canvas(str(tmp_path / "pier.pdf"), pagesize=(300, 400))
    page.drawString(40, 350, "The pier of Skarvik is 412 metres long.")
    page.save()
    flowreader("ingest", tmp_path / "pier.pdf", "--corpus", "small", home=home, check=0)


def test_on_stdio_a_program_reads_and_where_it_may_ingests_and_removes(pier, cheap_documents, tmp_path):
    """The client hears of whatever on standard output is no message of the protocol: there is nothing."""
    strange = []

    async def hear(message):
        strange.append(message)

    async def world():
        command = ["-m", "flows.cli.main", "mcp", "--corpus", "small", "--allow-writes"]
        server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
        async with Client(server, message_handler=hear) as client:
            reply = await client.call_tool("get_page", {"document": "pier.pdf", "page": 1})
            text, picture = reply.content
            assert "412 metres" in text.text and picture.mime_type == "image/webp"
            with Image.open(io.BytesIO(base64.b64decode(picture.data))) as drawn:
                assert drawn.size[0] == pytest.approx(mcp_tools.PICTURE_PIXELS, abs=2)
            assert (await said(client, "remove", document="pier.pdf"))["document"]["name"] == "pier.pdf"
            reads = await every_tool_that_reads_works(client, {})
            assert reads == dict.fromkeys(READING, True) | {"ingest": False, "remove": False}
            done = await said(client, "ingest", paths=[str(cheap_documents)])
            assert done["totals"]["documents"] == len(done["documents"]) == 4 and done["next_cursor"] is None
            nothing = await said(client, "ingest", wrong=True, paths=[str(tmp_path / "gone")])
            assert str(tmp_path / "gone") in nothing["value"] and nothing["remedy"]

    asyncio.run(world())
    assert strange == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http_a_program_reads_and_never_writes(mode):
    async def world():
        async with (
            httpx2.AsyncClient(headers={"Authorization": "Bearer sesame"}, timeout=60) as http,
            Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client,
        ):
            if mode == "auto":
                assert await every_tool_that_reads_works(client, {"corpus": "small"}) == dict.fromkeys(READING, True)
            assert len((await said(client, "list_documents"))["documents"]) == 4

    with served(token="sesame") as (address, _intake):
        asyncio.run(world())


def test_a_server_of_one_corpus_knows_no_other_and_one_of_several_has_it_named(home):
    shutil.copytree(home / "corpora" / "small", home / "corpora" / "another")

    async def world():
        async with Client(Tools(answer_here, corpus="small")) as client:
            assert [each["corpus"] for each in (await said(client, "list_corpora"))["corpora"]] == ["small"]
            for tool, more in (
                ("list_documents", {}),
                ("ask", {"question": QUESTION}),
                ("search", {"query": "weight"}),
                ("verify", {"text": "5 t"}),
            ):
                wrong = await said(client, tool, wrong=True, corpus="another", **more)
                assert "knows corpus 'small' alone" in wrong["what"] and wrong["value"] == "another"
            assert (await said(client, "list_documents", wrong=True, corpus="a" * 9_000))["value"] == "a" * 100
            assert len((await said(client, "list_documents", corpus="small"))["documents"]) == 4
        async with Client(Tools(answer_here)) as client:
            assert [each["corpus"] for each in (await said(client, "list_corpora"))["corpora"]] == ["another", "small"]
            assert (await said(client, "list_documents", wrong=True))["remedy"] == "take one of another, small"
            assert len((await said(client, "list_documents", corpus="another"))["documents"]) == 4

    asyncio.run(world())


def test_over_http_a_search_and_a_check_take_the_place_of_a_question():
    async def world():
        async with Client(streamable_http_client(f"{address}/mcp")) as client:
            for tool, given in (("search", {"query": "weight"}), ("verify", {"text": "weight 5 t"})):
                assert "full" in (await said(client, tool, wrong=True, **given))["what"]

    with served(room=0) as (address, _intake):
        asyncio.run(world())


def test_over_http_only_json_is_taken_and_none_without_a_token():
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    reply = TestClient(web_app(intake(), token="sesame")).post("/mcp", json=message)
    assert "FLOWREADER_ASK_TOKEN" in error(reply, 401)["remedy"]
    with TestClient(web_app(intake()), base_url="http://localhost") as welcome:
        assert welcome.get("/mcp").status_code == 405
        # A page of the web can send a form without asking first, but no JSON.
        assert welcome.post("/mcp", content=json.dumps(message), headers={"Content-Type": "text/plain"}).status_code == 400


def test_an_answer_is_one_json_for_commands_rest_and_prefect_and_for_agents_the_part_that_is_declared(capsys):
    (asked,) = asyncio.run(answer_all(AskRequest(**ASKED)))
    rest = client().get(f"/api/v1/corpora/small/answers/{asked['answer_id']}").json()
    assert main(["answers", "show", asked["answer_id"], "--corpus", "small", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == rest == asked | {"cached": rest["cached"], "usage": rest["usage"]}
    told = json.loads(get_answer(asked["answer_id"], "small").content[0].text)
    assert told.pop("next_cursor") is None

    def declared(fields):
        return {name: value for name, value in fields.items() if name in OF_USE}

    assert told == declared(rest) | {name: list(map(declared, rest[name])) for name in ("citations", "parts")}


def test_a_reply_is_bounded_and_its_cursor_goes_on_to_the_end(monkeypatch):
    async def gathered(client, tool, name, **arguments):
        found, cursor, replies = [], 0, 0
        while cursor is not None:
            reply = await client.call_tool(tool, arguments | {"cursor": cursor})
            value = json.loads(reply.content[0].text)
            assert len(reply.content[0].text.encode()) <= mcp_tools.MOST_BYTES
            found, cursor, replies = [*found, *value[name]], value["next_cursor"], replies + 1
        return found, replies

    async def world():
        async with Client(Tools(answer_here, corpus="small")) as client:
            assert sorted(tool.name for tool in (await client.list_tools()).tools) == READING
            for tool, name, most, arguments in (
                ("list_documents", "documents", 500, {}),
                ("get_outline", "sections", 700, {"document": "maintenance_manual.docx"}),
                ("search", "passages", 2000, {"query": "turbine", "limit": 100}),
            ):
                whole, _ = await gathered(client, tool, name, **arguments)
                with monkeypatch.context() as patched:
                    patched.setattr(mcp_tools, "MOST_BYTES", most)
                    parts, replies = await gathered(client, tool, name, **arguments)
                assert replies > 1 and parts == whole, tool
            page = {"document": "budget.xlsx", "page": 1}
            whole, _ = await gathered(client, "get_page", "texts", **page)
            monkeypatch.setattr(mcp_tools, "LONGEST_VALUE", 300)
            monkeypatch.setattr(mcp_tools, "MOST_BYTES", 1_000)
            parts, replies = await gathered(client, "get_page", "texts", **page)
            assert replies > 1
            assert "".join(each["text"] for each in parts) == "".join(each["text"] for each in whole)

    asyncio.run(world())


@pytest.mark.torture
def test_ctrl_c_ends_the_server_at_once_and_the_end_of_input_well(home):
    for end in (lambda running: running.send_signal(signal.SIGINT), lambda running: running.stdin.close()):
        with subprocess.Popen(
            [sys.executable, "-m", "flows.cli.main", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            running.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["jsonrpc"] == "2.0"
            end(running)
            assert running.wait(10) in (0, 130)
            assert running.stdout.read() == b"" and b"Traceback" not in running.stderr.read()
