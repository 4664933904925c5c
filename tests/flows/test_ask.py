"""The question flow on a corpus that was really ingested: the page that tells, a record of every step, one snapshot."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest

from flows.ask import ask
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import ExpectedError
from storage.locations import corpus_location
from storage.records.answers import AnswerStatus
from storage.records.documents import Modality
from storage.runs.log import EntryKind
from tasks.asking.request import AskRequest, QuestionError
from tasks.models.embedding.vectors import EmbeddingError
from tasks.settings.readers import READERS
from tests.asking_worlds import (
    COAST,
    TOLD,
    TORQUE,
    WEIGHT,
    Passage,
    answer_to,
    answers_to,
    embedder_of,
    lasting,
    lasting_json,
    published,
    run_of,
    written,
)
from tests.openings import openings
from tests.storage import worlds
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("in_asked_home")


@pytest.mark.parametrize("reader", READERS)
def test_questions_are_answered_from_the_page_that_holds_the_answer(reader):
    for answer, (name, page, word) in zip(answers_to(*TOLD, reader=reader), TOLD.values(), strict=True):
        assert answer.status is not AnswerStatus.NOT_FOUND, answer.question
        assert any(
            (citation.document.name, citation.page) == (name, page) and word in citation.quote for citation in answer.citations
        ), answer.question


@pytest.mark.parametrize("reader", READERS)
def test_the_same_question_has_the_same_answer_alone_again_and_among_others(reader):
    alone = lasting(answer_to(COAST, reader=reader))
    assert lasting(answer_to(COAST, reader=reader)) == alone
    among = answers_to(WEIGHT, COAST, TORQUE, "What does page 3 show?", COAST, reader=reader)
    assert lasting(among[1]) == lasting(among[4]) == alone


@pytest.mark.parametrize("fresh", [True, False])
def test_a_question_opens_the_pointer_and_the_catalog_once(fresh):
    with open_for_reading(corpus_location("small")) as snapshot:
        published = f"{snapshot.number}.duckdb"
    with openings() as opened:
        answer_to(COAST, fresh=fresh)
    of_corpus = {name: count for name, count in opened.items() if name == "CURRENT" or name.endswith(".duckdb")}
    assert of_corpus == {"CURRENT": 1, published: 1, f"DuckDB {published}": 1}


@pytest.mark.torture
def test_another_process_with_other_hashes_says_the_same_and_loads_no_prefect(asked_home):
    code = (
        "import sys, json\nfrom flows.cli.main import main\n"
        f"code = main(['ask', {COAST!r}, '--corpus', 'small', '--json', '--fresh'])\n"
        "heavy = {'prefect', 'torch', 'mineru', 'transformers', 'httpx', 'openai', 'polars', 'jinja2', 'tasks.models.chat.model'}\n"
        "print(json.dumps(sorted(heavy & sys.modules.keys())))\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert done.returncode == 0, done.stderr
    said, heavy = done.stdout.splitlines()
    assert lasting_json(json.loads(said)) == lasting(answer_to(COAST)) and json.loads(heavy) == []


def test_every_step_leaves_its_record_and_its_seconds():
    answer = answer_to(COAST)
    run = run_of(corpus_location("small"))
    steps = run.steps()
    named = ["keywords", "candidates", "score", "size", "route", "fetch", "read", "synthesize"]
    assert set(named) <= set(answer.usage.seconds) and all(spent >= 0 for spent in answer.usage.seconds.values())
    assert set(answer.usage.seconds) == {step.step for step in steps} - {"record"}
    assert {step.subject for step in steps} == {answer.answer_id} and not any(step.error for step in steps)
    assert all(step.outputs for step in steps if step.step != "record")
    assert [entry["kind"] for entry in run.entries if entry["kind"] != EntryKind.STEP] == ["run", "answer", "end"] and run.torn == 0
    begun, ended = run.entries[0], run.entries[-1]
    assert begun["parameters"]["questions"] == [COAST] and begun["settings"]["routing"] and begun["code_version"]
    assert (ended["outcome"], ended["snapshot"]) == ("ended", answer.snapshot)


def test_a_run_that_is_left_early_is_closed():
    async def first_only():
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT), corpus="small", fresh=True))) as answers:
            return await anext(answers)

    answer = asyncio.run(first_only())
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["kind"] == EntryKind.END and {step.subject for step in run.steps()} == {answer.answer_id}


def test_pages_that_are_read_are_the_most_probable_and_each_citation_has_the_probability_of_its_page():
    answer = answer_to(COAST)
    assert np.isfinite([page.score for page in answer.pages]).all()
    known = {(page.document, page.page): page.probability for page in answer.pages if page.probability is not None}
    best = sorted(known, key=lambda place: -known[place])[: len(answer.evidence_pages)]
    assert [(place.document, place.page) for place in answer.evidence_pages] == best
    assert all(0 < chance < 1 for chance in known.values()) and 0 < answer.completeness <= 1
    assert answer.citations and all(cited.probability == known[cited.document, cited.page] for cited in answer.citations)


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "limits",
    [
        {"documents": ("budget.xlsx", "product_page.html")},
        {"pages": "2-3"},
        {"modality": Modality.FIGURE},
        {"documents": ("strategy.pptx",), "pages": "3-5", "modality": Modality.TEXT},
    ],
    ids=str,
)
def test_nothing_outside_its_limits_is_cited_ranked_or_walked(limits, reader):
    for question in (COAST, "What costs how many pounds in 2020?", "What does page 1 show of Table 1?"):
        answer = answer_to(question, reader=reader, **limits)
        first, last = map(int, (limits.get("pages", "1-99") + "-" + limits.get("pages", "1-99")).split("-")[:2])
        places = [
            *((page.document.name, page.page) for page in answer.pages),
            *((page.document.name, page.page) for page in answer.evidence_pages),
            *((place.document.name, place.page) for path in answer.paths for place in path.pages),
            *((citation.document.name, citation.page) for citation in answer.citations),
        ]
        assert places and all(first <= page <= last for _, page in places)
        assert not limits.get("documents") or {name for name, _ in places} <= set(limits["documents"])
        nodes = nodes_of({*(node for path in answer.paths for node in path.nodes), *(c.node_id for c in answer.citations)})
        assert not limits.get("modality") or {node.modality for node in nodes} <= {limits["modality"]}
        assert answer.scope["documents"] == list(limits.get("documents", ())) and answer.scope["pages"] == limits.get("pages")


def nodes_of(names):
    with open_for_reading(corpus_location("small")) as snapshot:
        return snapshot.find_nodes(sorted(names))


@pytest.mark.parametrize("question", ["収益はいくらですか", "كم الإيرادات؟", "½", "\U0001d7d9", "1.1." * 300, "x" * 10_000])
@pytest.mark.parametrize("candidates", [{}, {"whole_limit": 1}], ids=["whole", "large"])
def test_whatever_is_asked_is_answered_or_not_found_and_says_why(question, candidates):
    answer = answer_to(question, settings={"candidates": candidates})
    assert answer.why and answer.pages
    assert answer.status in {AnswerStatus.NOT_FOUND, AnswerStatus.EVIDENCE} and not answer.answer
    assert answer.citations, "what comes closest is shown all the same"


def test_a_corpus_of_another_embedder_is_not_asked(tmp_path):
    strange = replace(worlds.EMBEDDER, name="strange")
    published(corpus_location("strange").folder.parents[1], written("report", Passage("the tide")), embedder=strange)
    with pytest.raises(EmbeddingError, match=r"the corpus was embedded by strange, FLOWREADER_EMBED_MODEL is not set"):
        answer_to(COAST, corpus="default")


def test_an_error_within_a_run_stands_in_it():
    with pytest.raises(QuestionError):
        answer_to(COAST, documents=("budget.xlsx",), modality="figure")
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["outcome"] == "ended by an error"
    (failed,) = [step for step in run.steps() if step.error]
    assert failed.step == "candidates" and failed.error.startswith("QuestionError: there is no 'figure'")


@pytest.mark.parametrize("question", [*TOLD, "What does Figure 1 show?", "Was kostet eine Turbine?"])
def test_every_citation_and_path_exists_in_the_snapshot(question):
    answer = answer_to(question)
    with open_for_reading(corpus_location("small")) as snapshot:
        assert answer.snapshot == snapshot.number
        records = {record.id: record for record in snapshot.documents()}
        rows = snapshot.view.rows_by_node([citation.node_id for citation in answer.citations])
        for citation in answer.citations:
            (node,) = snapshot.find_nodes([citation.node_id])
            assert records[citation.document.id].name == citation.document.name and node.document_id == citation.document.id
            assert (node.page, node.section_path, node.modality) == (citation.page, citation.section, citation.modality)
            assert citation.box in {None, node.box}
            said = " ".join([node.content, node.caption, node.picture_text, *(row.text for row in rows.get(node.id, ()))])
            assert "".join(citation.quote.strip(" …").split()) in "".join(said.split())
        for path in answer.paths:
            assert {node.page for node in snapshot.find_nodes(path.nodes)} == {place.page for place in path.pages}
        all_pages = {(record.name, page) for record in records.values() for page in range(1, record.pages + 1)}
        assert {(page.document.name, page.page) for page in answer.pages} <= all_pages


def another(name, dimension=384):
    return worlds.graph(name, dimension=dimension)


@pytest.mark.torture
def test_a_question_answers_from_the_snapshot_it_began_with_while_others_ingest_and_remove(own_home):
    location = corpus_location("small")
    alone = [lasting(answer) for answer in answers_to(COAST, WEIGHT, COAST)]
    ended, done = threading.Event(), []

    def publish_on_and_on(identity):
        while not ended.is_set():
            with open_for_writing(location, embedder=identity, wait_seconds=5) as corpus:
                worlds.publish(corpus, another(f"report {len(done)}"))
                done.append(corpus.publish(removed=[record.id for record in corpus.documents() if record.name == "strategy.pptx"]))
                corpus.index()

    async def asking(writer):
        answers = []
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT, COAST), corpus="small", fresh=True))) as given:
            async for answer in given:
                answers.append(answer)
                if len(answers) == 1:
                    writer.start()
                    await asyncio.to_thread(wait_until, lambda: len(done) >= 2)
        return answers

    writer = threading.Thread(target=publish_on_and_on, args=(embedder_of("small"),))
    try:
        during = asyncio.run(asking(writer))
    finally:
        ended.set()
        writer.join()
    assert [lasting(answer) for answer in during] == alone
    after = answer_to(COAST)
    assert after.snapshot > during[0].snapshot and "strategy.pptx" not in {page.document.name for page in after.pages}


def test_threads_ask_at_once_and_say_the_same():
    alone = lasting(answer_to(COAST))
    found = []
    threads = [threading.Thread(target=lambda: found.append(lasting(answer_to(COAST)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


def test_a_corpus_that_is_deleted_meanwhile_is_named(own_home):
    async def asking():
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT), corpus="small"))) as answers:
            await anext(answers)
            shutil.rmtree(corpus_location("small").folder)
            return await anext(answers)

    with pytest.raises(ExpectedError, match="its corpus was removed meanwhile; ingest the documents again"):
        asyncio.run(asking())
