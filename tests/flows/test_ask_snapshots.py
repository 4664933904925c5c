"""A question sees one snapshot, whatever others ask, publish, remove or delete meanwhile."""

import asyncio
import shutil
import threading
import time
from contextlib import aclosing

import pytest

from flows.ask import ask
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.locations import corpus_location
from storage.runs.log import RunGoneError
from tasks.asking.request import AskRequest
from tests.asking_worlds import COAST, TOLD, WEIGHT, answer_to, answers_to, embedder_of, lasting
from tests.storage import worlds

pytestmark = pytest.mark.usefixtures("in_asked_home")


@pytest.mark.parametrize("question", [*TOLD, "What does Figure 1 show?", "Was kostet eine Turbine?"])
def test_every_citation_and_path_exists_in_the_snapshot(question):
    answer = answer_to(question)
    with open_for_reading(corpus_location("small")) as snapshot:
        assert answer.snapshot == snapshot.number
        records = {record.id: record for record in snapshot.documents()}
        rows = snapshot.view.rows_by_node([citation.node_id for citation in answer.citations])
        for citation in answer.citations:
            (node,) = snapshot.view.nodes_by_id([citation.node_id])
            assert records[citation.document.id].name == citation.document.name and node.document_id == citation.document.id
            assert (node.page, node.section_path, node.modality) == (citation.page, citation.section, citation.modality)
            assert citation.box in {None, node.box}
            said = " ".join([node.content, node.caption, node.picture_text, *(row.text for row in rows.get(node.id, ()))])
            assert "".join(citation.quote.strip(" …").split()) in "".join(said.split())
        for path in answer.paths:
            assert {node.page for node in snapshot.view.nodes_by_id(path.nodes)} == {place.page for place in path.pages}
        all_pages = {(record.name, page) for record in records.values() for page in range(1, record.pages + 1)}
        assert {(page.document.name, page.page) for page in answer.pages} <= all_pages


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
        async with aclosing(ask(AskRequest(questions=(COAST, WEIGHT, COAST), corpus="small", fresh=True))) as given:
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
    after = answer_to(COAST)
    assert after.snapshot > during[0].snapshot and "strategy.pptx" not in {page.document.name for page in after.pages}


def _wait_for(happened, seconds=60.0):
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until
        time.sleep(0.05)


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

    with pytest.raises(RunGoneError, match="its corpus was removed meanwhile; ingest the documents again"):
        asyncio.run(asking())
