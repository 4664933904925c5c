"""A benchmark's questions are asked twenty to a step; what was asked of the same by the same is not asked again."""

import os
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from flows.ask import answer_one
from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import RequestError
from storage.records.answers import AnswerStatus
from storage.records.evaluations import BenchmarkQuestion
from storage.runs.asked_questions import AskedQuestions
from tasks.evaluation import asking as benchmark_asking
from tasks.evaluation.arms import EvaluationRequest, arms_of, reader_arms
from tasks.evaluation.asking import (
    BATCH,
    EvaluationContext,
    ask_batch,
    batches,
    recall_asked,
)
from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import Endpoint
from tasks.progress import listening
from tasks.reading.choice import open_reader
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AllSettings
from tasks.settings.base import change_settings
from tests.asking_worlds import AxisEmbedder, Passage, at_work, published, run_of, written
from tests.chat_server import Misbehaviour, chat_server
from tests.program import CORPUS
from tests.scripted_answers import Reader, model_settings
from tests.storage import worlds

TIDES = written(
    "tides",
    Passage("The tide at the mill turns twice a day.", page=1),
    Passage("A steel blade weighs 40 tonnes.", page=2),
    Passage("The crew of the harbour is 12 strong.", page=3),
)
CABLES = written("cables", Passage("The cable is 31 kilometres long.", page=1), Passage("Its price was 9 crowns a metre.", page=2))
STORMS = written("storms", Passage("A storm tide at the mill turns the tide and the blade.", page=1))
"""A document of the corpus that no benchmark names, though its words are asked for."""

IDS = {"tides.pdf": worlds.document_id("tides"), "cables.pdf": worlds.document_id("cables")}


def question(name, text="How often does the tide at the mill turn?", *documents):
    return BenchmarkQuestion(name, text, documents or ("tides.pdf",), evidence=(((documents or ("tides.pdf",))[0], 1),))


TIDE = question("tide")
CABLE = question("cable", "How long is the cable?", "cables.pdf")
BOTH = question("both", "How often does the tide turn, and how long is the cable?", "tides.pdf", "cables.pdf")
QUESTIONS = (TIDE, CABLE, BOTH)
MANY = tuple(question(f"q{number}", f"How often does the tide turn at mill {number}?") for number in range(2 * BATCH + 5))


def arm_of(reader="flow", **change):
    return reader_arms(
        [reader], change_settings(AllSettings(), {name.replace("__", "."): value for name, value in change.items()})
    )[0]


class Counting:
    """Asks really, as an evaluation does, and counts what it is asked."""

    def __init__(self):
        self.texts, self.at_once, self.most_at_once = [], 0, 0

    async def __call__(self, text, *more):
        self.texts.append(text)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        answer = await partial(answer_one, recorded=False)(text, *more)
        self.at_once -= 1
        return answer


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus with two documents of the benchmark and one besides; nobody changes it."""
    return published(tmp_path_factory.mktemp("asked"), TIDES, CABLES, STORMS)


@contextmanager
def asking_context(location, kept, *, arm=None, whole=False, ids=IDS, answer=None, at_once=2):
    arm = arm or arm_of("top-k")
    with open_for_reading(location) as snapshot, at_work(location, snapshot):
        reader = ExtractiveReader(arm.ask.reading)
        asking = answer or Counting()
        yield EvaluationContext(arm, snapshot, AxisEmbedder(), reader, ids, whole, AskedQuestions(kept), asking, at_once)


def asked_all(questions, context):
    """Ask what was not asked before; return what came of all, by their ids."""
    answers = recall_asked(questions, context)
    for batch in batches([one for one in questions if one.id not in answers]):
        answers |= {asked.question_id: asked for asked in ask_batch(batch, context)}
    return answers


@pytest.fixture
def kept(tmp_path, home):
    (tmp_path / "kept").mkdir()
    return tmp_path / "kept"


def test_what_was_asked_of_the_same_by_the_same_is_not_asked_again(corpus, kept):
    with asking_context(corpus, kept) as context:
        first = asked_all(QUESTIONS, context)
        assert context.answer.texts == [one.text for one in QUESTIONS]
    with asking_context(corpus, kept) as context:
        assert recall_asked(QUESTIONS, context) == asked_all(QUESTIONS, context) == first
        assert context.answer.texts == []
    assert [first[one.id].reader for one in QUESTIONS] == ["top-k"] * 3 and len({one.key for one in first.values()}) == 3


@pytest.mark.parametrize(
    "other",
    [
        {"arm": arm_of("flow")},
        {"arm": arm_of("top-k", ask__relevance__lexical_share=0.25)},
        {"arm": arm_of("top-k", ask__reading__quotes=2)},
        {"whole": True},
    ],
    ids=["another reader", "another setting of the ranking", "another setting of the reading", "another scope"],
)
def test_another_reader_setting_or_scope_asks_again(corpus, kept, other):
    with asking_context(corpus, kept) as context:
        asked_all(QUESTIONS, context)
    with asking_context(corpus, kept, **other) as context:
        assert recall_asked(QUESTIONS, context) == {}
        asked_all(QUESTIONS, context)
        assert len(context.answer.texts) == len(QUESTIONS)
    with asking_context(corpus, kept) as context:
        assert len(recall_asked(QUESTIONS, context)) == len(QUESTIONS)


def test_other_code_and_another_embedder_ask_again(corpus, kept, monkeypatch):
    with asking_context(corpus, kept) as context:
        asked_all(QUESTIONS, context)
        fine = replace(worlds.EMBEDDER, precision="bf16")
        assert recall_asked(QUESTIONS, replace(context, embedder=AxisEmbedder(fine))) == {}
        monkeypatch.setattr(benchmark_asking, "code_identity", lambda: "f" * 64)
        assert recall_asked(QUESTIONS, context) == {}


def test_another_chat_model_asks_again_and_what_it_cost_is_kept(corpus, kept):
    arm = reader_arms(["flow"], AllSettings(ask=model_settings()))[0]
    with (
        chat_server(Reader({"twice a day": "twice a day"}), models=("small", "large")) as server,
        asking_context(corpus, kept, arm=arm) as context,
    ):
        for model in ("small", "large"):
            with open_reader(Endpoint(server.base_url, model), arm.ask, context.snapshot) as reader:
                by_model = replace(context, reader=reader)
                assert recall_asked([TIDE], by_model) == {}
                asked = asked_all([TIDE], by_model)["tide"]
                assert recall_asked([TIDE], by_model) == {"tide": asked}
                assert asked.answer.startswith("twice a day") and asked.calls > 0 and asked.input_tokens > asked.output_tokens > 0
        assert {request.body["model"] for request in server.requests} == {"small", "large"}


@contextmanager
def asking_a_model(corpus, kept, reply, misbehave, *, unproven=False, **reading):
    settings = model_settings(reading={"model": reading, "unproven": unproven})
    arm = reader_arms(["flow"], AllSettings(ask=settings))[0]
    with (
        chat_server(reply, misbehave=misbehave) as server,
        asking_context(corpus, kept, arm=arm) as context,
        open_reader(Endpoint(server.base_url), arm.ask, context.snapshot) as reader,
    ):
        yield replace(context, reader=reader)


def test_where_no_reply_comes_the_evaluation_stops_and_nothing_counts_that_rules_quote(corpus, kept):
    with asking_a_model(corpus, kept, Reader({}), lambda _: Misbehaviour.ERROR) as context:
        with pytest.raises(ChatEndedError, match="could read none of"):
            asked_all([TIDE], context)
        assert recall_asked([TIDE], context) == {}


@pytest.mark.parametrize("how", [Misbehaviour.INVALID_JSON, None], ids=["unusable", "unproven"])
def test_a_question_to_which_a_small_model_has_no_answer_that_counts_is_answered_by_nobody_and_the_others_go_on(corpus, kept, how):
    said = Reader({}, instead={"ShortAnswer": lambda request: '"31 kilometres"' if CABLE.text in request.prompt else '"nine"'})

    def misbehave(request):
        return how if TIDE.text in request.prompt else None

    with asking_a_model(corpus, kept, said, misbehave, forms="small") as context:
        found = asked_all([TIDE, CABLE], context)
        assert recall_asked([TIDE, CABLE], context) == found
    tide, cable = found["tide"], found["cable"]
    assert (tide.unanswered, tide.answer, tide.cited, tide.doubts) == (True, "", (), ()) and tide.ranked[0] == ("tides.pdf", 1)
    assert (cable.unanswered, cable.answer, cable.status) == (False, "31 kilometres", AnswerStatus.ANSWERED.value)


def test_an_answer_that_nothing_proves_is_kept_as_the_models_and_what_rules_cite_is_not_its_own(corpus, kept):
    said = Reader({}, instead={"ShortAnswer": '"nine"'})
    with asking_a_model(corpus, kept, said, lambda _: None, forms="small", unproven=True) as context:
        tide = asked_all([TIDE], context)["tide"]
    assert (tide.unanswered, tide.answer, tide.status, tide.cited) == (False, "nine", "unverified", ())


def test_what_a_reader_counts_of_its_way_is_kept(corpus, kept):
    def counts_of(reader, question=TIDE):
        with asking_context(corpus, kept, arm=arm_of(reader)) as context:
            return asked_all([question], context)[question.id].counts

    assert counts_of("walk").keys() == {"pages rated", "share of pages rated", "hops"}
    assert counts_of("map")["reflections"] == 0.0
    assert counts_of("map", question("more", "How often does the tide turn, and who paid the price?"))["reflections"] == 1.0
    assert (counts_of("plan")["rounds"], counts_of("agent")["queries"], counts_of("flow")) == (0.0, 0.0, {})
    with asking_a_model(corpus, kept, Reader({"twice a day": "twice a day"}), lambda _: None) as context:
        assert asked_all([TIDE], context)["tide"].counts == {"gate opened": 0.0}


def test_each_repeat_asks_the_model_again_and_goes_on_where_it_was_stopped(corpus, kept):
    request = EvaluationRequest(what="answers", readers=("flow",), repeats=2, settings=AllSettings(ask=model_settings()))
    arms = arms_of(request)
    assert [arm.name for arm in arms] == ["flow", "flow, repeat 2"]
    with chat_server(Reader({"twice a day": "twice a day"})) as server:

        def asked_by(arm):
            with (
                asking_context(corpus, kept, arm=arm) as context,
                open_reader(Endpoint(server.base_url), arm.ask, context.snapshot) as reader,
            ):
                return asked_all([TIDE], replace(context, reader=reader))["tide"]

        first = asked_by(arms[0])
        once = server.calls
        second = asked_by(arms[1])
        assert server.calls == 2 * once > 0 == second.cached and first.answer == second.answer
        assert [asked_by(arm) for arm in arms] == [first, second] and server.calls == 2 * once
    with pytest.raises(RequestError, match="2 repeats measure how a model's answers differ"):
        arms_of(EvaluationRequest(what="answers", repeats=2))


def test_a_question_in_other_words_is_asked_again_and_one_with_other_evidence_is_not(corpus, kept):
    with asking_context(corpus, kept) as context:
        asked_all(QUESTIONS, context)
        assert recall_asked([replace(TIDE, text="How often does the tide turn?")], context) == {}
        assert recall_asked([replace(TIDE, documents=("cables.pdf",))], context) == {}
        assert list(recall_asked([replace(TIDE, evidence=(("tides.pdf", 3),))], context)) == ["tide"]
        # Whether the quotes show it was looked up for the answers that were known then.
        assert recall_asked([replace(TIDE, answers=("twice",))], context) == {}


@pytest.mark.parametrize(
    ("answers", "answer_format", "shown"),
    [
        (("thrice a day", "TWICE a day"), "Str", True),
        (("never || twice a day",), "", True),
        (("wice a day",), "Str", False),
        (('["the mill", "day"]',), "List", True),
        (('["the mill", "night"]',), "List", False),
        (("twice",), "None", None),
        ((), "Str", None),
    ],
)
def test_of_the_quotes_is_kept_whether_a_known_answer_stands_in_them_and_how_many_words_they_have(
    corpus, kept, answers, answer_format, shown
):
    one = replace(TIDE, answers=answers, answer_format=answer_format)
    with asking_context(corpus, kept) as context:
        found = asked_all([one], context)["tide"]
        assert recall_asked([one], context) == {"tide": found}
    assert (found.answer_shown, found.answer_first) == (shown, shown)
    assert found.words_shown == 9  # "The tide at the mill turns twice a day."


def test_only_the_questions_of_a_document_that_was_read_in_anew_are_asked_again(tmp_path, kept):
    graphs = [worlds.graph(name) for name in ("tides", "cables")]
    location = published(tmp_path, *graphs)
    with asking_context(location, kept) as context:
        before = asked_all(QUESTIONS, context)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=5) as writer:
        worlds.publish(writer, worlds.graph("tides", settings="b"))
    with asking_context(location, kept) as context:
        assert list(recall_asked(QUESTIONS, context)) == ["cable"]
        after = asked_all(QUESTIONS, context)
        assert context.answer.texts == [TIDE.text, BOTH.text]
    assert after["cable"] == before["cable"] and after["tide"].key != before["tide"].key


def test_a_step_is_a_batch_and_is_in_the_lineage(tmp_path, kept):
    location = published(tmp_path, TIDES)
    heard = []
    with asking_context(location, kept, ids={"tides.pdf": IDS["tides.pdf"]}) as context, listening(heard.append):
        asked_all(MANY, context)
    steps = [record for record in run_of(location).steps() if record.step == "ask-batch"]
    assert len(steps) == 3 and len({record.key for record in steps}) == 3
    assert all(record.outputs["asked"] and not record.error for record in steps)
    assert [(one.subject, one.step, one.done, one.total) for one in heard] == [("top-k", "ask", 1, 1)] * len(MANY)


def test_no_more_questions_than_allowed_are_asked_side_by_side(corpus, kept):
    for allowed in (1, 3):
        counting = Counting()
        with asking_context(corpus, kept / str(allowed), answer=counting, at_once=allowed) as context:
            asked_all(MANY[:12], context)
        assert counting.most_at_once == allowed


def die_in_the_second_batch(corpus, kept):
    """Ask until the fifth question of the second batch has its answer, and be gone; for a process of its own."""
    heard = []

    def hear(progress):
        heard.append(progress)
        if len(heard) == BATCH + 5:
            os._exit(9)

    with asking_context(worlds.corpus_in(Path(corpus).parents[1]), Path(kept)) as context, listening(hear):
        asked_all(MANY, context)


@pytest.mark.torture
def test_a_kill_loses_the_questions_in_flight_and_no_other(corpus, kept, home):
    die = f"die_in_the_second_batch({str(corpus.folder)!r}, {str(kept)!r})"
    work = f"from tests.tasks.evaluation.test_benchmark_asking import *; {die}"
    environment = {**os.environ, "FLOWREADER_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", work], cwd=CORPUS.parents[1], env=environment, capture_output=True, timeout=200)
    assert done.returncode == 9, done.stderr.decode()
    with asking_context(corpus, kept) as context:
        known = recall_asked(MANY, context)
        assert BATCH + 5 <= len(known) < BATCH + 5 + 2
        assert len(asked_all(MANY, context)) == len(MANY)
        assert context.answer.texts == [one.text for one in MANY if one.id not in known]


def test_a_question_of_documents_that_cannot_be_read_is_not_asked_and_counts_as_nothing_found(tmp_path, kept):
    location = published(tmp_path, TIDES)
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=5) as writer:
        writer.publish(records=[worlds.failed(CABLES)])
    heard = []
    questions = (TIDE, replace(CABLE, answers=("31 kilometres",)), BOTH)
    with asking_context(location, kept) as context, listening(heard.append):
        found = asked_all(questions, context)
        assert context.answer.texts == [TIDE.text, BOTH.text] and len(heard) == len(questions)
        assert sorted(recall_asked(questions, context)) == ["both", "cable", "tide"]
    cable = found["cable"]
    assert (cable.ranked, cable.evidence, cable.answer, cable.status) == ((), (), "", AnswerStatus.NOT_FOUND.value)
    assert (cable.reader, cable.seconds, cable.calls, cable.cited) == ("top-k", 0.0, 0, ())
    assert (cable.words_shown, cable.answer_shown, cable.answer_first) == (0, False, False)
    assert {name for name, _ in found["both"].ranked} == {"tides.pdf"}
    with open_for_writing(location, embedder=worlds.EMBEDDER, wait_seconds=5) as writer:
        worlds.publish(writer, CABLES)
    with asking_context(location, kept) as context:
        assert list(recall_asked(questions, context)) == ["tide"]
        assert asked_all(questions, context)["cable"].ranked[0] == ("cables.pdf", 1)


@pytest.mark.parametrize("reader", ["flow", "top-k"])
def test_a_question_is_asked_of_its_own_documents_or_of_all_that_the_benchmark_has_and_of_no_other(corpus, kept, reader):
    with asking_context(corpus, kept, arm=arm_of(reader)) as context:
        own = asked_all(QUESTIONS, context)
    assert {name for name, _ in own["tide"].ranked} == {"tides.pdf"}
    assert {name for name, _ in own["cable"].ranked} == {"cables.pdf"}
    with asking_context(corpus, kept, arm=arm_of(reader), whole=True) as context:
        whole = asked_all(QUESTIONS, context)
    every = {("tides.pdf", 1), ("tides.pdf", 2), ("tides.pdf", 3), ("cables.pdf", 1), ("cables.pdf", 2)}
    assert all(set(one.ranked) == every for one in whole.values())
    assert all(set(one.evidence) | set(one.cited) <= every for one in whole.values())
    assert whole["tide"].ranked[0] == ("tides.pdf", 1) and whole["cable"].ranked[0] == ("cables.pdf", 1)


def test_of_the_same_file_under_several_names_the_question_gets_its_own(corpus, kept):
    tides = IDS["tides.pdf"]
    ids = {**IDS, "a copy.pdf": tides, "the same.pdf": tides, "z.pdf": tides}
    for whole in (False, True):
        with asking_context(corpus, kept, ids=ids, whole=whole) as context:
            found = asked_all([replace(TIDE, id=name, documents=(name,)) for name in ids if ids[name] == tides], context)
            other = asked_all([CABLE], context)["cable"]
        assert all(one.ranked[0] == (name, 1) for name, one in found.items())
        assert {name for name, _ in other.ranked} == ({"cables.pdf", "a copy.pdf"} if whole else {"cables.pdf"})


def test_what_only_changes_how_documents_are_read_asks_nothing_again(corpus, kept):
    """What they became is in their versions."""
    with asking_context(corpus, kept) as context:
        asked_all(QUESTIONS, context)
    with asking_context(corpus, kept, arm=arm_of("top-k", reading__evolution__rounds=0), at_once=7) as context:
        assert len(recall_asked(QUESTIONS, context)) == len(QUESTIONS)
