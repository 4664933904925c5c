"""Greetings, thanks and questions about the documents as such: answered by what there is, in the same words at every door."""

import asyncio
import json
import re
from html import unescape

import httpx
import pytest
from mcp import Client

import flows.ask
from flows.cli.main import main
from flows.cli.mcp_command import answer_here
from flows.frames import Corpus
from flows.service.mcp_tools import Tools
from storage.cleaning.removing import remove_document
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.answers import AnswerStatus, Support
from tasks.asking.request import QuestionError
from tasks.views.introduction import THANKED
from tests.asking_worlds import COAST, WEIGHT, answer_to, answers_to, steps_of

NAMES = ["budget.xlsx", "maintenance_manual.docx", "product_page.html", "strategy.pptx"]
OUTLINE = "strategy.pptx: Strategy 2025 to 2030 (6 slides) [1]\n- Three aims, slide 2 [2]\n- The road to 120 pounds, slide 3 [3]"


@pytest.fixture
def nothing_loaded(monkeypatch):
    """No embedder, reader or graph may be opened."""
    monkeypatch.setattr(flows.ask.Asking, "open_context", None)


def documents_of(answer):
    return [citation.document.name for citation in answer.citations]


def test_a_greeting_is_answered_by_what_there_is_and_how_to_ask_without_a_search(in_asked_home, nothing_loaded):
    answer = answer_to("Hi there!")
    assert answer.answer.startswith("Hello! You can ask about 4 documents here, and every answer names its pages.\n- budget.xlsx: ")
    assert "strategy.pptx: Strategy 2025 to 2030 (6 slides) [4]" in answer.answer and documents_of(answer) == NAMES
    _before, examples = answer.answer.split("\n\nFor example:\n")
    with open_for_reading(corpus_location("small")) as snapshot:
        headings = {section.title for section in snapshot.sections_of([record.id for record in snapshot.documents()])}
    assert len(examples.split("\n")) == 3 and {line.split('"')[1] for line in examples.split("\n")} < headings
    assert (answer.status, answer.answer_by, answer.pages, answer.usage.calls) == (AnswerStatus.ANSWERED, "catalog", (), 0)
    assert {citation.probability for citation in answer.citations} == {None}
    assert steps_of(corpus_location("small")) == ["record"]


def test_what_examples_ask_is_found(in_asked_home):
    examples = answer_to("what can I ask?").answer.split("For example:\n- ")[1].split("\n- ")
    for example, answer in zip(examples, answers_to(*examples), strict=True):
        assert answer.citations[0].document.name in example, example


def test_what_a_document_is_about_is_its_title_its_length_and_its_headings_each_proven_by_its_page(in_asked_home, nothing_loaded):
    named = answer_to("What is strategy.pptx about?")
    limited = answer_to("what is this document about?", documents=("strategy.pptx",))
    assert named.answer == limited.answer and named.answer.startswith(OUTLINE)
    assert [part.support for part in named.parts] == [Support.COMPUTED, *[Support.QUOTED] * 5]
    for part in named.parts[1:]:
        (place,) = part.citations
        assert part.text == f"{named.citations[place].quote}, slide {named.citations[place].page}"
    everything = answer_to("summarize").answer
    assert OUTLINE.split(" [")[0] in everything and all(name in everything for name in NAMES) and "\n- and " in everything
    assert answer_to("which documents are there?", documents=("strategy", "budget")).answer.startswith(
        "You can ask about 2 documents"
    )


def test_many_documents_are_counted_and_the_first_are_named(in_asked_home, nothing_loaded, monkeypatch):
    monkeypatch.setattr("tasks.views.introduction.MOST_DOCUMENTS", 3)
    answer = answer_to("hello")
    assert documents_of(answer) == NAMES[:3] and "about 4 documents" in answer.answer and "\n- and 1 more\n" in answer.answer


def test_in_a_thread_it_is_the_documents_of_that_thread_and_the_next_question_goes_on_from_the_one_before(in_asked_home):
    first = answer_to(COAST, documents=("strategy.pptx",))
    about = answer_to("what is this about?", follow=first.answer_id)
    assert about.answer.startswith(OUTLINE) and (about.follows, about.thread) == (first.answer_id, first.thread)
    thanks = answer_to("ok, thanks", follow=first.answer_id)
    assert (thanks.answer, thanks.citations, thanks.thread) == (THANKED, (), first.thread)
    on = answer_to("and at the Quessant narrows?", follow=thanks.answer_id)
    assert "(about: How many megawatts" in on.asked_as and on.follows == thanks.answer_id
    greeting = answer_to("hello")
    assert answer_to("and of an MT-2?", follow=greeting.answer_id).asked_as == "and of an MT-2?"
    kept = answer_to("and of an MT-2?", earlier=("hello", WEIGHT, "thank you!"))
    assert kept.asked_as == WEIGHT.replace("MT-3", "MT-2")


def test_all_documents_are_all_also_in_a_thread_and_one_that_is_not_asked_is_not_introduced(in_asked_home):
    first = answer_to(COAST, documents=("strategy.pptx", "budget.xlsx"))
    everything = answer_to("What are all these documents about?", follow=first.answer_id)
    assert {*documents_of(everything)} == {"strategy.pptx", "budget.xlsx"}
    assert answer_to("what is strategy.pptx about?", documents=("budget.xlsx",)).answer_by != "catalog"


def test_in_a_conversation_that_its_client_keeps_it_is_the_documents_that_were_cited(in_asked_home):
    first = answer_to(WEIGHT)
    about = answer_to("what is this document about?", earlier=(WEIGHT,))
    assert set(documents_of(about)) == set(documents_of(first)) and len(set(documents_of(about))) < len(NAMES)


def test_a_question_with_content_is_asked_among_others_and_its_greeting_is_no_word_of_it(in_asked_home):
    hello, asked = answers_to("hello", f"Hello, {WEIGHT}")
    assert hello.answer_by == "catalog" and (asked.status, asked.answer_by) == (AnswerStatus.EVIDENCE, None)
    assert "Hello" not in " ".join(asked.notes)


def test_no_model_is_asked_even_where_one_is_required_and_away(in_asked_home, monkeypatch):
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "away")
    assert answer_to("thanks", require_model=True, settings={"reading": {"by": "model"}}).answer == THANKED


def test_it_is_kept_like_others_and_goes_with_a_document_that_it_names(own_home, capsys):
    location = corpus_location("small")
    hello, about = answers_to("hello", "what is strategy.pptx about?")
    remove_document(location, "budget.xlsx", now=False)
    with open_for_reading(location) as snapshot:
        kept = {answer.answer_id: answer for answer in snapshot.answers()}
    assert kept[hello.answer_id].answer == "" and kept[about.answer_id].answer == about.answer
    assert main(["answers", "show", hello.answer_id, "--corpus", "small"]) == 0
    assert "not shown: it holds words of a document that was removed" in capsys.readouterr().out
    assert main(["answers", "remove", about.answer_id, "--corpus", "small"]) == 0
    for name in NAMES[1:]:
        remove_document(location, name, now=False)
    with pytest.raises(QuestionError) as empty:
        answer_to("hello")
    assert empty.value.remedy == "read some in: `flowreader ingest PATH --corpus small`"


def test_on_the_page_documents_lead_to_their_pages_and_examples_are_asked_at_one_click(service):
    with httpx.Client(base_url=service, headers={"Origin": service}, follow_redirects=True, timeout=60) as door:
        page = door.post("/", data={"corpus": "small", "question": "hello", "reader": "flow"}).text
        said = page.split('<div class="said">')[1].split("</section>")[0]
        assert said.count("<li") == 7 and "\n- " not in said and 'id="citation-1"' not in page
        links = re.findall('<a href="([^"]*)" target="page">([^<]*)</a>', said)
        assert [words.split(":")[0] for _, words in links] == NAMES
        for link, words in links:
            assert words.split(":")[0] in door.get(unescape(link)).text
        fields = [dict(re.findall('name="(.*?)" value="(.*?)"', form)) for form in re.findall("<form.*?</form>", said)]
        assert len(fields) == 3
        asked = {name: unescape(value) for name, value in fields[0].items()}
        assert fields[0]["question"] in door.post("/", data=asked).text.split("<h1 id=")[1].split("</h1>")[0]


def test_its_lineage_says_that_it_comes_from_the_catalog(in_asked_home, capsys):
    answer = answer_to("hello")
    assert main(["lineage", answer.answer_id, "--corpus", "small"]) == 0
    said = capsys.readouterr().out
    assert f"introduced from the catalog of snapshot {answer.snapshot}" in said and "read by flow" not in said


async def asked_by_mcp(question):
    async with Client(Tools(answer_here, corpus="small")) as client:
        return json.loads((await client.call_tool("ask", {"question": question})).content[0].text)


def test_every_door_says_the_same_and_none_a_probability(service, capsys):
    said = answer_to("hello").answer
    lines = said.split("\n")
    assert main(["ask", "hello", "--corpus", "small"]) == 0
    terminal = capsys.readouterr().out
    rest = httpx.post(f"{service}/api/v1/ask", json={"questions": ["hello"], "corpus": "small"}, timeout=60)
    chat = {"model": "small", "messages": [{"role": "user", "content": "hello"}]}
    openai = httpx.post(f"{service}/v1/chat/completions", json=chat, timeout=60)
    form = {"corpus": "small", "question": "hello", "reader": "flow"}
    page = httpx.post(f"{service}/", data=form, headers={"Origin": service}, follow_redirects=True, timeout=60)
    mcp = asyncio.run(asked_by_mcp("hello"))
    assert said in terminal and mcp["answer"] == rest.json()["answers"][0]["answer"] == said
    message = openai.json()["choices"][0]["message"]
    assert (message["content"], message["annotations"]) == (re.sub(r" \[\d\]$", "", said, flags=re.MULTILINE), [])
    assert Corpus("small").ask("hello")["answer"].to_list() == [said]
    assert all(line.removeprefix("- ").split(" [")[0].replace('"', "&#34;") in page.text for line in lines)
    for shown in (terminal, openai.text, page.text, json.dumps(mcp)):
        assert not any(word in shown for word in ("0 %", "unsure", "likely", "Evidence found"))
