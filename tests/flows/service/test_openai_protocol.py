"""`/v1` asked by OpenAI's own client over a socket: corpora as models, answers with their sources, refusals in its words."""

import json
import textwrap
from html import escape

import httpx
import openai
import pytest
from hypothesis import given, strategies
from markdown_it import MarkdownIt

from flows.service import news
from tasks.models.process import ROOT
from tasks.views.render import chat_text
from tests.asking_worlds import COAST, WEIGHT
from tests.flows.service.worlds import FACT, client, error, model_reads, unproven, weighed

ASKED = [{"role": "user", "content": WEIGHT}]


@pytest.fixture
def official(service):
    with openai.OpenAI(base_url=f"{service}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_each_corpus_is_a_model_by_its_name(official):
    assert [(model.id, model.owned_by) for model in official.models.list()] == [("small", "flowreader")]
    assert official.models.retrieve("small").id == "small"


def test_evidence_comes_with_its_sources_and_their_pages(official):
    reply = official.chat.completions.create(model="small", messages=ASKED)
    (choice,) = reply.choices
    said, cited = choice.message.content, [one.url_citation for one in choice.message.annotations]
    assert choice.finish_reason == "stop" and reply.model == "small" and reply.usage.total_tokens == 0
    assert FACT in said and reply.flowreader["status"] == "evidence"
    assert [said[one.start_index :][:3] for one in cited] == [f"[{number}]" for number in range(1, len(cited) + 1)]
    assert all(one.title == "product_page.html" for one in cited)
    assert all(said[one.start_index : one.end_index].endswith(f" <{one.url}>") for one in cited)
    html = MarkdownIt("commonmark").render(said)
    assert all(f'<a href="{escape(one.url)}">' in html for one in cited) and html.count("<a ") == len(cited)
    page = httpx.get(cited[0].url, timeout=60)
    assert page.status_code == 200 and FACT in page.text.partition('<tr class="cited lit">')[2].partition("</tr>")[0]


def test_the_lines_of_the_documentation_print_an_answer_and_its_sources(service, capsys):
    lines = (
        (ROOT / "deployments" / "docs" / "how-to" / "service.md")
        .read_text("utf-8")
        .split("    from openai import OpenAI\n")[1]
        .split("\n\n")[0]
    )
    program = textwrap.dedent(f"    from openai import OpenAI\n{lines}")
    for written, meant in {
        "http://127.0.0.1:4280": service,
        '"default"': '"small"',
        "What was the revenue in 2024?": WEIGHT,
    }.items():
        assert written in program
        program = program.replace(written, meant)
    exec(program, {})
    printed = capsys.readouterr().out
    assert FACT in printed and f"{service}/documents/" in printed


def test_a_stream_tells_how_it_goes_and_then_the_same(official, service):
    pieces = list(
        official.chat.completions.create(model="small", messages=ASKED, stream=True, stream_options={"include_usage": True})
    )
    whole = official.chat.completions.create(model="small", messages=ASKED)
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces[:-1]) == whole.choices[0].message.content
    told = [one["url_citation"]["title"] for one in pieces[0].choices[0].delta.annotations]
    assert told == [one.url_citation.title for one in whole.choices[0].message.annotations]
    assert pieces[-2].choices[0].finish_reason == "stop" and pieces[-1].usage.total_tokens == 0
    asked = {"model": "small", "messages": [{"role": "user", "content": COAST}], "stream": True}
    raw = httpx.post(f"{service}/v1/chat/completions", json=asked, timeout=60).text
    assert "\n\n: found " in f"\n\n{raw}" and raw.endswith("data: [DONE]\n\n")


@given(strategies.text(r"![]()<>:\\`a/ \n", max_size=30))
def test_markdown_makes_no_picture_link_or_element_of_a_quote(words):
    html = MarkdownIt("commonmark").render(f"[1] {chat_text(words)}\n\n[2] {chat_text(words)}")
    assert not any(tag in html for tag in ("<img", "<a ", "<a>"))
    assert chat_text("p < 0.05 [see 2]") == "p < 0.05 [see 2]" and chat_text("![x](http://evil)") == r"![x]\(http://evil)"


def test_while_nothing_happens_a_stream_says_that_it_is_there(official, service, monkeypatch):
    monkeypatch.setattr(news, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(news, "QUIET_SECONDS", 0.01)
    asked = {"model": "small", "messages": ASKED, "stream": True, "flowreader": {"fresh": True}}
    raw = httpx.post(f"{service}/v1/chat/completions", json=asked, timeout=60).text
    assert raw.startswith(": waiting\n\n") and raw.count(": ") > 3 and raw.endswith("data: [DONE]\n\n")


def test_the_model_of_the_service_answers_unless_the_caller_wants_it_otherwise(official, monkeypatch):
    with model_reads(monkeypatch, weighed):
        how = {"flowreader": {"settings": {"reading": {"by": "rules"}}}}
        by_rules = official.chat.completions.create(model="small", messages=ASKED, extra_body=how)
        reply = official.chat.completions.create(model="small", messages=ASKED)
    assert by_rules.usage.total_tokens == 0 < reply.usage.completion_tokens < reply.usage.total_tokens
    assert reply.choices[0].message.content.startswith("It weighs 163 t without its base.\n\n[1] product_page.html: ")


def test_what_nothing_proves_is_not_streamed(official, monkeypatch):
    how = {"fresh": True, "settings": {"reading": {"by": "model"}}, "reader": "top-k"}
    with model_reads(monkeypatch, unproven):
        pieces = official.chat.completions.create(model="small", messages=ASKED, stream=True, extra_body={"flowreader": how})
        streamed = "".join(piece.choices[0].delta.content or "" for piece in pieces)
    assert "99 tonnes" not in streamed and FACT in streamed


def test_the_last_message_of_the_user_is_asked_and_what_changes_nothing_is_named(official):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}, *ASKED]
    more = {"temperature": 0.2, "max_tokens": 5, "stop": ["."], "n": 1, "response_format": {"type": "text"}, "top_p": None}
    odd = {"evil\r\nx: y": 1, "seed": 3, "logprobs": False}
    create = official.chat.completions.with_raw_response.create
    reply = create(model="small", messages=messages, extra_body=odd, **more)
    told = reply.headers["FlowReader-Not-Used"]
    assert set(told.split(", ")) == {"temperature", "max_tokens", "stop", "seed"}
    assert FACT in reply.parse().choices[0].message.content
    alone = create(model="small", messages=[{"role": "user", "content": [{"type": "text", "text": WEIGHT}]}])
    assert "FlowReader-Not-Used" not in alone.headers and alone.parse().flowreader["status"] == "evidence"


def test_the_users_earlier_messages_are_the_thread_whatever_stands_between_them(official):
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    between = [{"role": "assistant", "content": "It weighs 9,999 t in Quessant."}, {"role": "user", "content": [picture]}]
    titled = {"role": "user", "content": '### Task:\nGive a "title".'}
    official.chat.completions.create(model="small", messages=ASKED)
    messages = [*ASKED, *between, titled, {"role": "user", "content": "and of an MT-2?"}]
    reply = official.chat.completions.create(model="small", messages=messages)
    assert reply.flowreader["asked_as"] == WEIGHT.replace("MT-3", "MT-2")
    assert (reply.flowreader["follows"], reply.flowreader["thread"]) == (None, reply.flowreader["answer_id"])
    assert reply.choices[0].message.content.startswith(f"*asked as: {WEIGHT.replace('MT-3', 'MT-2')}*\n\n")
    assert "9,999" not in reply.choices[0].message.content


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda client: client.responses.create(model="small", input="How deep?"), openai.NotFoundError),
        (lambda client: client.embeddings.create(model="small", input="a"), openai.NotFoundError),
        (lambda client: client.get("/chat/completions", cast_to=object), openai.APIStatusError),
    ],
)
def test_what_is_not_there_says_where_to_ask_in_these_clients_words(official, call, kind):
    with pytest.raises(kind) as refused:
        call(official)
    assert "ask by POST /v1/chat/completions" in refused.value.body["message"] and refused.value.body["type"]


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ({"model": "smal"}, openai.NotFoundError, "corpus"),
        ({"model": "../small"}, openai.BadRequestError, "not usable"),
        ({"model": "smal", "stream": True}, openai.NotFoundError, "corpus"),
        ({"messages": []}, openai.BadRequestError, "no message of a user"),
        ({"messages": [{"role": "user", "content": " "}]}, openai.BadRequestError, "no message of a user"),
        ({"messages": [{"role": "user", "content": [PICTURE]}]}, openai.BadRequestError, "without pictures"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, openai.BadRequestError, "tools are not called"),
        ({"messages": "hello"}, openai.BadRequestError, "messages"),
        ({"n": 2}, openai.BadRequestError, "leave n out"),
        ({"logprobs": True}, openai.BadRequestError, "leave logprobs out"),
        ({"response_format": {"type": "json_object"}}, openai.BadRequestError, "asks for 'json_object'"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}}, openai.BadRequestError, "POST /api/v1/ask"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(official, asked, kind, words):
    with pytest.raises(kind) as refused:
        official.chat.completions.create(**{"model": "small", "messages": ASKED, **asked})
    assert words in refused.value.body["message"] and {"what", "value", "remedy"} <= set(refused.value.body)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ('Generate a concise title. Output JSON: { "title": "..." }', {"title": "How heavy is it?"}),
        ('Generate 1-3 broad tags. JSON format: { "tags": ["tag1"] }', {"tags": []}),
        ('Suggest questions. JSON format: { "follow_ups": ["Q1"] }', {"follow_ups": []}),
    ],
)
def test_what_a_front_end_wants_for_itself_costs_no_search(home, wanted, told):
    text = f"### Task:\n{wanted}\n<chat_history>\nUSER: How heavy is it?\nASSISTANT: 163 t\n</chat_history>"
    asked = {"model": "no corpus at all", "messages": [{"role": "user", "content": text}]}
    reply = client(room=0).post("/v1/chat/completions", json=asked)
    assert json.loads(reply.json()["choices"][0]["message"]["content"]) == told and reply.json()["usage"]["total_tokens"] == 0
    streamed = client(room=0).post("/v1/chat/completions", json={**asked, "stream": True}).text
    assert json.loads(json.loads(streamed.split("\n\n")[0].removeprefix("data: "))["choices"][0]["delta"]["content"]) == told


@pytest.mark.parametrize(
    ("service", "status", "words", "header"),
    [({"room": 0}, 503, "full", "Retry-After"), ({"token": "sesame"}, 401, "token", "WWW-Authenticate")],
)
def test_who_may_not_ask_or_comes_when_it_is_full_is_refused_as_everywhere(in_library, service, status, words, header):
    reply = client(**service).post("/v1/chat/completions", json={"model": "small", "messages": ASKED})
    assert words in error(reply, status)["message"] and header in reply.headers
