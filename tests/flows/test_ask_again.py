"""The same question again: answered from what was kept, as long as nothing that decides the answer changed."""

import asyncio
import os
import time
from contextlib import aclosing

import pytest

import flows.ask
from flows.ask import ask
from storage.cleaning.removing import ASKED_AGAIN_SECONDS, clean_up, remove_document
from storage.corpus.writer import open_for_writing
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.runs.answer_json import answer_json
from storage.runs.answers import read_answers
from storage.runs.log import asking_files
from tasks.asking import deciding
from tasks.asking.request import AskRequest
from tasks.models.chat.errors import ChatEndedError
from tasks.reading.kept import KeptAnswers
from tests.asking_worlds import COAST, TORQUE, WEIGHT, answer_to, answers_to, embedder_of, lasting, run_of
from tests.chat_server import Misbehaviour, chat_server
from tests.scripted_answers import Reader, model_settings
from tests.storage import worlds

REQUEST = AskRequest(questions=(COAST,), corpus="small")
READER = Reader({"1,150": "1,150 MW"})


@pytest.fixture
def location(own_home):
    return corpus_location("small")


@pytest.fixture
def no_embedder(monkeypatch):
    """No embedder can be opened any more."""

    def opened(*_arguments, **_more):
        raise AssertionError("an embedder was opened")

    monkeypatch.setattr(flows.ask, "open_question_embedder", opened)


def kept_files(location):
    return [path for path in location.asked.rglob("*") if path.is_file()]


def again(*questions, **limits):
    """Ask as a user does: what is kept is given."""
    return answers_to(*(questions or (COAST,)), fresh=False, **limits)


def said(answer):
    """Return what an answer says, whether it was kept or not."""
    return {name: value for name, value in answer_json(answer).items() if name not in {"usage", "cached"}}


def test_the_same_question_has_the_kept_answer_and_opens_nothing(location, request):
    (first,) = again()
    runs = len(asking_files(location))
    request.getfixturevalue("no_embedder")
    (second,) = again()
    assert (first.cached, second.cached) == (False, True) and said(second) == said(first)
    assert second.usage.calls == 0 and set(second.usage.seconds) == {"kept-answer"}
    steps = run_of(location).steps()
    assert [(step.step, step.cache_hit) for step in steps] == [("kept-answer", True)] and len(asking_files(location)) == runs + 1
    assert [kept.answer_id for kept in read_answers(location, present=())] == [first.answer_id], "it is one answer"


def test_a_fresh_request_asks_anew_and_its_answer_is_the_kept_one(location):
    (first,) = again()
    anew = answer_to(COAST, fresh=True)
    (third,) = again()
    assert not anew.cached and anew.answer_id != first.answer_id and lasting(anew) == lasting(first)
    assert third.cached and third.answer_id == anew.answer_id


@pytest.mark.parametrize(
    "other",
    [
        {"reader": "top-k"},
        {"documents": ("strategy.pptx",)},
        {"pages": "1-9"},
        {"modality": "text"},
        {"settings": {"reading": {"quotes": 2}}},
    ],
    ids=str,
)
def test_another_way_of_asking_is_another_answer_though_the_question_is_understood_already(location, other):
    again()
    (answer,) = again(**other)
    assert not answer.cached
    first = run_of(location).steps()[0]
    assert (first.step, first.cache_hit) == ("keywords", True), "the question is not embedded again"
    assert again(**other)[0].cached


def test_other_code_another_language_and_another_snapshot_are_other_answers(location, monkeypatch):
    again()
    with monkeypatch.context() as other:
        other.setattr(deciding, "code_identity", lambda: "f" * 64)
        other.setattr("tasks.reading.kept.code_identity", lambda: "f" * 64)
        assert not again()[0].cached
    with monkeypatch.context() as other:
        other.setenv("FLOWREADER_LANGUAGE", "german")
        assert not again()[0].cached
    assert again()[0].cached
    publish(location, "report")
    assert not again()[0].cached and again()[0].cached


def publish(location, name):
    with open_for_writing(location, embedder=embedder_of("small"), wait_seconds=5) as corpus:
        worlds.publish(corpus, worlds.graph(name, dimension=384))
        clean_up(corpus)


def test_a_removal_takes_the_kept_answers_along_at_once(location):
    first = again(COAST, WEIGHT)
    assert any(b"1,150" in path.read_bytes() for path in kept_files(location))
    remove_document(location, "strategy.pptx", now=False)
    assert kept_files(location) == []
    after = again(COAST, WEIGHT)
    assert not any(answer.cached for answer in after) and "1,150" not in str(after[0].citations)
    assert "1,150" in str(first[0].citations)


def test_a_question_that_was_being_answered_during_a_removal_leaves_nothing(location):
    async def asking():
        async with aclosing(ask(AskRequest(questions=(WEIGHT, COAST), corpus="small"))) as answers:
            await anext(answers)
            await asyncio.to_thread(remove_document, location, "strategy.pptx", now=False)
            return await anext(answers)

    answer = asyncio.run(asking())
    assert "1,150" in str(answer.citations), "it reads the snapshot that it began with"
    assert not any(b"1,150" in path.read_bytes() for path in kept_files(location))


@pytest.mark.parametrize("damage", ["cut", "emptied", "altered", "gone"])
def test_a_damaged_file_is_asked_anew(location, damage):
    (first,) = again()
    for path in kept_files(location):
        data = path.read_bytes()
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes({"cut": data[:-1], "emptied": b"", "altered": data.replace(b"1", b"2").replace(b"a", b"b")}[damage])
    (second,) = again()
    assert not second.cached and lasting(second) == lasting(first)
    assert again()[0].answer_id == second.answer_id


async def together(*requests):
    async def one(request):
        async with aclosing(ask(request)) as answers:
            return await anext(answers)

    return await asyncio.gather(*map(one, requests), return_exceptions=True)


def by_model(monkeypatch, server, named=True):
    """Return a request that the model behind this server reads."""
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", server.base_url)
    if named:
        monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    return AskRequest(questions=(COAST,), corpus="small", settings=model_settings())


def test_no_model_is_asked_again_nor_need_it_be_there(location, monkeypatch):
    with chat_server(READER) as server:
        request = by_model(monkeypatch, server)
        (first,) = asyncio.run(together(request))
        made = server.calls
    (second,) = asyncio.run(together(request))
    assert (first.cached, second.cached) == (False, True) and said(second) == said(first)
    assert made == first.usage.calls > 1 and second.usage.cached == made and second.usage.calls == second.usage.input_tokens == 0
    assert [entry["kind"] for entry in run_of(location).entries] == ["run", "step", "end"]


def test_a_model_that_is_not_named_is_asked_for_its_name_first(location, monkeypatch):
    with chat_server(READER, models=("scripted",)) as server:
        asyncio.run(together(by_model(monkeypatch, server, named=False)))
        assert asyncio.run(together(by_model(monkeypatch, server, named=False)))[0].cached
    with chat_server(READER, models=("other",)) as server:
        (answer,) = asyncio.run(together(by_model(monkeypatch, server, named=False)))
        assert not answer.cached and answer.models["chat"] == "other" and server.calls


def test_an_answer_in_which_the_model_failed_is_not_kept(location, monkeypatch):
    failing = [True]

    def misbehave(request):
        return Misbehaviour.REFUSAL if request.form == "PathAnswer" and "1,150" not in request.prompt and failing else None

    with chat_server(READER, misbehave=misbehave) as server:
        request = by_model(monkeypatch, server)
        (poor,) = asyncio.run(together(request))
        failing.clear()
        (good,) = asyncio.run(together(request))
        (last,) = asyncio.run(together(request))
    assert any("the model failed" in note for note in poor.notes)
    assert not good.cached and not good.notes and last.cached and last.answer_id == good.answer_id


def test_a_model_that_was_not_there_is_looked_for_again_for_the_next_question_of_the_same_request(location, monkeypatch):
    with chat_server(READER) as server:
        request = by_model(monkeypatch, server, named=False)
        server.go_away()

        async def asking():
            async with aclosing(ask(request.model_copy(update={"questions": (WEIGHT, COAST)}))) as answers:
                first = await anext(answers)
                server.come_back()
                return first, await anext(answers)

        without, read = asyncio.run(asking())
        (again,) = asyncio.run(together(request))
    assert without.answer_by is None and "the model could not be asked" in without.notes[0]
    assert (read.answer, read.notes) == ("1,150 MW", ()) and again.cached, "it is kept as what the model says that was found"


def test_a_rater_that_was_not_there_is_looked_for_again_and_what_it_rated_is_kept_by_its_name(location, monkeypatch):
    reader = Reader(READER.facts, instead={"RatedPage": {"needed": "", "relevance": 3}})
    with chat_server(reader, sees=False) as chat, chat_server(reader, models=("base",)) as rater:
        request = by_model(monkeypatch, chat).model_copy(update={"reader": "walk"})
        monkeypatch.setenv("FLOWREADER_RATER_BASE_URL", rater.base_url)
        rater.go_away()
        (without,) = asyncio.run(together(request))
        rater.come_back()
        (rated,), (again,) = asyncio.run(together(request)), asyncio.run(together(request))
    assert without.answer == "1,150 MW" and without.notes[0].startswith("the chat model rated the pages, because")
    assert not rated.cached and rated.models["chat"] == "base, scripted" and again.cached


def test_of_two_at_once_one_is_computed_and_the_other_waits_for_it(location, monkeypatch):
    with chat_server(READER) as server:
        request = by_model(monkeypatch, server)
        answers = asyncio.run(together(request, request, request))
        made = server.calls
    assert sorted(answer.cached for answer in answers) == [False, True, True]
    assert len({answer.answer_id for answer in answers}) == 1 and made == max(answer.usage.calls for answer in answers)


def test_where_the_first_of_two_fails_the_second_tries_itself(location, monkeypatch):
    begun = []

    async def understand(answer_id, text, context):
        begun.append(answer_id)
        await asyncio.sleep(0)
        if len(begun) == 1:
            raise ChatEndedError("the model is gone")
        return await real(answer_id, text, context)

    real = flows.ask.understand
    monkeypatch.setattr(flows.ask, "understand", understand)
    failed, answer = sorted(asyncio.run(together(REQUEST, REQUEST)), key=lambda one: isinstance(one, Answer))
    assert isinstance(failed, ChatEndedError) and not answer.cached and "1,150" in str(answer.citations)


def test_a_batch_with_a_question_twice_asks_it_once(location):
    first, other, second = again(TORQUE, WEIGHT, TORQUE)
    assert [first.cached, other.cached, second.cached] == [False, False, True] and second.answer_id == first.answer_id


def test_who_asks_what_is_kept_takes_no_seat(location):
    again()

    async def asking():
        seat = asyncio.Semaphore(0)
        async with asyncio.timeout(20), aclosing(ask(REQUEST, seat)) as answers:
            return [answer async for answer in answers]

    assert asyncio.run(asking())[0].cached


def test_what_cannot_be_kept_stops_no_question(location):
    location.asked.touch()
    try:
        (first,), (second,) = again(), again()
    finally:
        location.asked.unlink()
    assert first.answer_id != second.answer_id and not second.cached and second.citations


def test_what_was_asked_long_ago_is_kept_no_longer(location):
    again()
    old, kept = time.time() - ASKED_AGAIN_SECONDS - 60, kept_files(location)
    for path in kept[:3]:
        os.utime(path, (old, old))
    with open_for_writing(location, embedder=embedder_of("small"), wait_seconds=5) as corpus:
        clean_up(corpus)
    assert sorted(kept_files(location)) == sorted(kept[3:])


def test_who_waits_for_the_same_question_takes_no_seat(location, monkeypatch):
    async def understand(answer_id, text, context):
        if text == TORQUE:
            await other_answered.wait()
        return await real(answer_id, text, context)

    async def asked(text):
        async with aclosing(ask(AskRequest(questions=(text,), corpus="small"), lambda: seats)) as answers:
            return [answer async for answer in answers]

    async def all_of_them():
        same = [asyncio.ensure_future(asked(TORQUE)) for _ in range(3)]
        await asyncio.sleep(0.2)
        async with asyncio.timeout(20):
            await asked(WEIGHT)
        other_answered.set()
        return [answer for (answer,) in await asyncio.gather(*same)]

    real, seats, other_answered = flows.ask.understand, asyncio.Semaphore(2), asyncio.Event()
    monkeypatch.setattr(flows.ask, "understand", understand)
    monkeypatch.setattr(KeptAnswers, "keep", lambda *_answer: None)
    assert sorted(answer.cached for answer in asyncio.run(all_of_them())) == [False, True, True]
