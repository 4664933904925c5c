"""The question flow on a corpus that was really ingested: the same again, inside its limits, from the snapshot it began with."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import aclosing
from dataclasses import replace

import numpy as np
import pytest

from flows.ask import ask
from storage.answer_records import AnswerStatus
from storage.answers import answer_json, find_answer
from storage.corpus import open_for_writing
from storage.locations import corpus_location
from storage.records import Modality
from storage.runs import EntryKind, RunGoneError
from storage.snapshot import UnknownCorpusError, UnknownDocumentError, open_for_reading
from tasks.ask_request import AskRequest, QuestionError
from tasks.models.vector_checks import EmbeddingError
from tests.asking_worlds import (
    COAST,
    TOLD,
    TORQUE,
    WEIGHT,
    Passage,
    answers_to,
    collected,
    copy_of,
    lasting,
    published,
    run_of,
    written,
)
from tests.storage import worlds

READERS = ("flow", "top-k")


@pytest.fixture(scope="module")
def asked_home(library, tmp_path_factory):
    """A home of its own with the corpus `small`: whoever asks leaves a run."""
    return copy_of(library, tmp_path_factory.mktemp("asking"))


@pytest.fixture(autouse=True)
def in_home(asked_home, monkeypatch):
    monkeypatch.setenv("FLOWREADER_HOME", str(asked_home))


@pytest.fixture
def own_home(library, tmp_path, monkeypatch):
    """A home that a test may change."""
    home = copy_of(library, tmp_path)
    monkeypatch.setenv("FLOWREADER_HOME", str(home))
    return home


def one(question, **limits):
    (answer,) = answers_to(question, **limits)
    return answer


@pytest.mark.parametrize("reader", READERS)
def test_questions_are_answered_from_the_page_that_tells(reader):
    for answer, (name, page, word) in zip(answers_to(*TOLD, reader=reader), TOLD.values(), strict=True):
        assert answer.status is not AnswerStatus.NOT_FOUND, answer.question
        assert any(
            (citation.document.name, citation.page) == (name, page) and word in citation.quote for citation in answer.citations
        ), answer.question


@pytest.mark.parametrize("reader", READERS)
def test_the_same_question_has_the_same_answer_alone_again_and_among_others(reader):
    alone = lasting(one(COAST, reader=reader))
    assert lasting(one(COAST, reader=reader)) == alone
    among = answers_to(WEIGHT, COAST, TORQUE, "What does page 3 show?", COAST, reader=reader)
    assert lasting(among[1]) == lasting(among[4]) == alone


def test_another_process_with_other_hashes_says_the_same_and_loads_no_prefect(asked_home):
    code = (
        "import sys, json\nfrom flows.cli import main\n"
        f"code = main(['ask', {COAST!r}, '--corpus', 'small', '--json'])\n"
        "print(json.dumps([name for name in sorted(sys.modules) if name in ('prefect', 'torch', 'mineru', 'transformers')]))\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": "7"})
    assert done.returncode == 0, done.stderr
    said, heavy = done.stdout.splitlines()
    told = json.loads(said)
    del told["answer_id"], told["asked"], told["usage"]["seconds"]
    assert told == lasting(one(COAST)) and json.loads(heavy) == []


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "limits",
    [
        {"documents": ("strategy.pptx",)},
        {"documents": ("budget.xlsx", "product_page.html")},
        {"pages": "2-3"},
        {"pages": "4"},
        {"modality": Modality.TABLE},
        {"modality": Modality.FIGURE},
        {"documents": ("strategy.pptx",), "pages": "3-5", "modality": Modality.TEXT},
    ],
    ids=str,
)
def test_nothing_outside_its_limits_is_cited_ranked_or_walked(limits, reader):
    for question in (COAST, "What costs how many pounds in 2020?", "What does page 1 show of Table 1?"):
        answer = one(question, reader=reader, **limits)
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
        return snapshot.nodes_by_id(sorted(names))


@pytest.mark.parametrize("question", [*TOLD, "What does Figure 1 show?", "Was kostet eine Turbine?"])
def test_every_citation_and_path_exists_in_the_snapshot(question):
    answer = one(question)
    with open_for_reading(corpus_location("small")) as snapshot:
        assert answer.snapshot == snapshot.number
        records = {record.id: record for record in snapshot.documents()}
        rows = snapshot.rows_by_node([citation.node_id for citation in answer.citations])
        for citation in answer.citations:
            (node,) = snapshot.nodes_by_id([citation.node_id])
            assert records[citation.document.id].name == citation.document.name and node.document_id == citation.document.id
            assert (node.page, node.section_path, node.modality) == (citation.page, citation.section, citation.modality)
            assert citation.box in {None, node.box}
            said = " ".join([node.content, node.caption, node.picture_text, *(row.text for row in rows.get(node.id, ()))])
            assert "".join(citation.quote.strip(" …").split()) in "".join(said.split())
        for path in answer.paths:
            assert {node.page for node in snapshot.nodes_by_id(path.nodes)} == {place.page for place in path.pages}
        all_pages = {(record.name, page) for record in records.values() for page in range(1, record.pages + 1)}
        assert {(page.document.name, page.page) for page in answer.pages} <= all_pages


def test_every_step_leaves_its_record_and_its_seconds():
    answer = one(COAST)
    run = run_of(corpus_location("small"))
    steps = run.steps()
    named = ["keywords", "candidates", "score", "lay-out", "route", "select", "fetch", "read", "judge", "synthesize"]
    assert set(named) <= set(answer.usage.seconds) and all(spent >= 0 for spent in answer.usage.seconds.values())
    assert set(answer.usage.seconds) == {step.step for step in steps} - {"record"}
    assert {step.subject for step in steps} == {answer.answer_id} and not any(step.error for step in steps)
    assert all(step.outputs for step in steps if step.step != "record")
    assert [entry["kind"] for entry in run.entries if entry["kind"] != EntryKind.STEP] == ["run", "answer", "end"] and run.torn == 0
    begun, ended = run.entries[0], run.entries[-1]
    assert begun["parameters"]["questions"] == [COAST] and begun["settings"]["routing"] and begun["code_version"]
    assert (ended["outcome"], ended["snapshot"]) == ("ended", answer.snapshot)


def test_an_answer_is_kept_as_it_was_given():
    answer = one(TORQUE)
    with open_for_reading(corpus_location("small")) as snapshot:
        present = {record.id for record in snapshot.documents()}
    kept = find_answer(corpus_location("small"), answer.answer_id[:8], present=present)
    assert json.dumps(answer_json(kept)) == json.dumps(answer_json(answer))


@pytest.mark.parametrize(
    "question", ["収益はいくらですか", "Какова выручка?", "كم الإيرادات؟", "½", "\U0001d7d9", "Ⅷ", "1.1." * 300, "x" * 10_000]
)
@pytest.mark.parametrize("candidates", [{}, {"whole_limit": 1}], ids=["whole", "large"])
def test_whatever_is_asked_has_an_answer_in_words(question, candidates):
    answer = one(question, settings={"candidates": candidates})
    assert answer.answer and answer.confidence.why and answer.pages
    assert (answer.status is AnswerStatus.NOT_FOUND) == (not answer.citations)


@pytest.mark.parametrize(
    ("questions", "limits", "error", "says"),
    [
        (("",), {}, QuestionError, "holds no word; ask something"),
        (("a " * 50_000,), {}, QuestionError, "has 99,999 characters; ask in at most 10,000"),
        ((COAST, "???"), {}, QuestionError, r"'\?\?\?' holds no word"),
        ((COAST,), {"corpus": "smal"}, UnknownCorpusError, "no corpus 'smal', the nearest is 'small'; make it"),
        (
            (COAST,),
            {"documents": ("budget.xls",)},
            UnknownDocumentError,
            "no document 'budget.xls' .* the nearest is 'budget.xlsx'",
        ),
        ((COAST,), {"pages": "7"}, QuestionError, "no page '7' in what is asked; the longest document has 6"),
        ((COAST,), {"documents": ("budget.xlsx",), "modality": "figure"}, QuestionError, "no 'figure' in the documents asked; ask"),
        ((COAST,), {"pages": "2", "modality": "figure"}, QuestionError, "no 'figure' on the pages '2-2' of the corpus; ask"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_way_out(questions, limits, error, says):
    with pytest.raises(error, match=says):
        answers_to(*questions, **limits)


def test_a_corpus_of_another_embedder_is_not_asked(tmp_path):
    strange = replace(worlds.EMBEDDER, name="strange")
    published(corpus_location("strange").folder.parents[1], written("report", Passage("the tide")), embedder=strange)
    with pytest.raises(EmbeddingError, match=r"embedder strange/fp32/8 is unknown here; only"):
        one(COAST, corpus="default")


def test_a_corpus_whose_documents_went_says_so(own_home):
    with open_for_writing(corpus_location("small"), embedder=embedder_of("small"), wait_seconds=5) as corpus:
        corpus.publish(removed=[record.id for record in corpus.documents()])
    with pytest.raises(QuestionError, match="corpus 'small' holds no document that can be read; `flowreader status"):
        one(COAST)


def embedder_of(name):
    with open_for_reading(corpus_location(name)) as snapshot:
        return snapshot.embedder


def another(name, dimension=384):
    return worlds.graph(name, dimension=dimension)


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
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT, COAST), corpus="small"))) as given:
            async for answer in given:
                answers.append(answer)
                if len(answers) == 1:
                    writer.start()
                    await asyncio.to_thread(_wait_for, lambda: len(done) >= 2)
        return answers

    writer = threading.Thread(target=publish_on_and_on, args=(embedder_of("small"),))
    try:
        during = asyncio.run(asking(writer))
    finally:
        ended.set()
        writer.join()
    assert [lasting(answer) for answer in during] == alone
    after = one(COAST)
    assert after.snapshot > during[0].snapshot and "strategy.pptx" not in {page.document.name for page in after.pages}


def _wait_for(happened, seconds=60.0):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_two_processes_and_threads_ask_at_once_and_say_the_same(asked_home):
    alone = lasting(one(COAST))
    found = []
    threads = [threading.Thread(target=lambda: found.append(lasting(one(COAST)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [alone] * 4


def test_two_questions_at_once_of_one_snapshot_say_what_they_say_alone():
    async def both():
        requests = [AskRequest(questions=(text, text), corpus="small") for text in (COAST, TORQUE)]
        return await asyncio.gather(*(collected(ask(request)) for request in requests))

    coast, torque = asyncio.run(both())
    assert {json.dumps(lasting(answer)) for answer in coast} == {json.dumps(lasting(one(COAST)))}
    assert {json.dumps(lasting(answer)) for answer in torque} == {json.dumps(lasting(one(TORQUE)))}


def test_a_corpus_that_is_deleted_meanwhile_is_named(own_home):
    async def asking():
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT), corpus="small"))) as answers:
            await anext(answers)
            shutil.rmtree(corpus_location("small").folder)
            return await anext(answers)

    with pytest.raises(RunGoneError, match="its corpus was removed meanwhile; ingest the documents again"):
        asyncio.run(asking())


def test_a_run_that_is_left_early_is_closed():
    async def first_only():
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT), corpus="small"))) as answers:
            return await anext(answers)

    answer = asyncio.run(first_only())
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["kind"] == EntryKind.END and {step.subject for step in run.steps()} == {answer.answer_id}


def test_an_error_within_a_run_stands_in_it():
    with pytest.raises(QuestionError):
        one(COAST, documents=("budget.xlsx",), modality="figure")
    run = run_of(corpus_location("small"))
    assert run.entries[-1]["outcome"] == "ended by an error"
    (failed,) = [step for step in run.steps() if step.error]
    assert failed.step == "candidates" and failed.error.startswith("QuestionError: there is no 'figure'")


def test_scores_are_finite_and_shares():
    answer = one(COAST)
    assert np.isfinite([page.score for page in answer.pages]).all() and 0 <= answer.confidence.score <= 1
    assert sum(path.share for path in answer.paths) <= 1 + 1e-9
