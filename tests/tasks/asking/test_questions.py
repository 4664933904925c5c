"""What may be asked, refused clearly before anything is loaded; what a question asks part by part; how its calls are counted."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import UnknownError
from storage.graph.search import Scope
from tasks.algorithms.questions.kinds import AnswerKind
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.asking.calls import CallBook, Stage, call_bounds, counting_calls, record_call
from tasks.asking.question import NAMED_PLACE
from tasks.asking.request import (
    LONGEST_QUESTION,
    QuestionError,
    check_questions,
    page_range,
    read_batch,
)
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome
from tasks.reading.rules import parts_of
from tasks.settings.ask import AskSettings
from tests.asking_worlds import asked, at_context, limited, published, run_of
from tests.library import TIDE
from tests.scripted_answers import model_settings
from tests.storage import worlds

WORLD = (TIDE,)


@pytest.mark.parametrize(
    ("question", "says"),
    [*((text, "holds no word; ask something") for text in ("", "   \n", "?!", "…")),
     ("a" * 100_000, r"has 100,000 characters; ask in at most 10,000")],
    ids=range(5),
)  # fmt: skip
def test_a_question_without_a_word_or_as_long_as_a_document_is_refused(question, says):
    with pytest.raises(QuestionError, match=says):
        check_questions([question])
    assert len(check_questions(["a" * LONGEST_QUESTION])[0]) == LONGEST_QUESTION


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        *((text, text) for text in ("収益はいくらですか", "Какова выручка?", "πόσο κοστίζει;", "كم الإيرادات؟", "क्\u200dष")),
        ("co\u00adoperate", "cooperate"),
        ("  what\nis \x1b[31mthis\ud800 ", "what is [31mthis?"),
    ],
)
def test_a_question_is_put_on_one_line_without_what_a_terminal_obeys_and_words_of_other_scripts_are_not_torn(question, kept):
    assert check_questions([question]) == (kept,)


@pytest.mark.parametrize(("pages", "range_"), [(None, (None, None)), ("3", (3, 3)), ("3-7", (3, 7)), (" 12 - 40 ", (12, 40))])
def test_a_page_range_is_read(pages, range_):
    assert page_range(pages) == range_


@pytest.mark.parametrize("pages", ["", "0", "7-3", "-2", "a-b", "3-", "1,2", "99999999"])
def test_what_is_no_page_range_is_refused(pages):
    with pytest.raises(QuestionError, match="is not a page range; write --pages 3-7"):
        page_range(pages)


@pytest.mark.parametrize(
    ("written", "questions"),
    [
        (
            '\ufeffWhat is it?\n\n{"question": "How deep?", "id": 7}\n"Who?"\n"quoted" words: what do they mean?\n',
            ("What is it?", "How deep?", "Who?", '"quoted" words: what do they mean?'),
        ),
        (
            '# of the report\n\nWhat is it?\n  # of the letter\n"# is a sign of what?"\nWho is #1?\n',
            ("What is it?", "# is a sign of what?", "Who is #1?"),
        ),
        ('{"question": "What\u2028is it?"}\r\nWho\x0csaid so?\r\n', ("What is it?", "Who said so?")),
    ],
    ids=["lines and JSON Lines", "comments and empty lines", "only the end of a line ends a question"],
)
def test_a_batch_is_read_line_by_line(tmp_path, written, questions):
    (tmp_path / "questions").write_text(written, "utf-8", newline="")
    assert read_batch(str(tmp_path / "questions")) == questions


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\n\n", "holds no question"),
        (b"# nothing but this\n", "holds no question; write one per line"),
        (b'{"text": "x"}\n', 'line 1 of .*has no "question"'),
        (b"{question: broken}\n", "line 1 of .*is not JSON"),
        (b"fine?\n???\n", "line 2 of .*holds no word"),
        (b"# of the report\n\n???\n", "line 3 of .*holds no word"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (None, "No such file"),
    ],
)
def test_a_batch_that_cannot_be_used_names_its_line(tmp_path, content, says):
    path = tmp_path / "questions.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(QuestionError, match=says):
        read_batch(str(path))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with open_for_writing(worlds.corpus_in(tmp_path_factory.mktemp("corpus")), embedder=worlds.EMBEDDER, wait_seconds=0) as writer:
        worlds.publish(writer, worlds.graph("report"), worlds.graph("paper"))
        writer.publish(records=[worlds.failed(worlds.graph("scan"), "it has no text; run OCR")])
    with open_for_reading(writer.location) as snapshot:
        yield snapshot


def test_without_limits_everything_is_asked(corpus):
    assert limited(corpus) == Scope(documents=(), first_page=None, last_page=None, modality=None)


@pytest.mark.parametrize(("texts", "made_by", "other"), [("content", "default", "paper"), ("paper", "paper", "default")])
def test_a_corpus_of_the_other_preset_is_refused_with_the_line_that_makes_one(tmp_path, texts, made_by, other):
    embedder = replace(worlds.EMBEDDER, texts=texts)
    with open_for_reading(published(tmp_path, worlds.graph("report"), embedder=embedder)) as snapshot:
        assert limited(snapshot, preset=made_by) == Scope()
        with pytest.raises(
            QuestionError, match=f"ingested with the preset '{made_by}'.*: flowreader ingest PATH --preset {other} "
        ):
            limited(snapshot, preset=other)


def test_documents_are_named_by_name_or_id(corpus):
    first, second = (corpus.find(name) for name in ("report.pdf", "paper.pdf"))
    scope = limited(corpus, documents=(first.name, second.id[:8]), pages="1")
    assert set(scope.documents) == {first.id, second.id} and (scope.first_page, scope.last_page) == (1, 1)


def test_a_document_named_twice_is_asked_once(corpus):
    one = corpus.find("report.pdf")
    assert limited(corpus, documents=(one.name, one.id, one.id[:8])).documents == (one.id,)


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        ({"documents": ("raport.pdf",)}, r"no document 'raport.pdf' in corpus 'default', the nearest is 'report.pdf'; name it"),
        ({"documents": ("scan.pdf",)}, r"'scan.pdf' cannot be asked, it is failed: it has no text; run OCR"),
        (
            {"documents": ("paper.pdf",), "pages": "3-700"},
            "the documents asked have no page '3'; the longest document has 2, write --pages 1-2",
        ),
    ],
)
def test_a_limit_that_leaves_nothing_to_ask_is_refused_with_the_remedy(corpus, limits, says):
    with pytest.raises((QuestionError, UnknownError), match=says):
        limited(corpus, **limits)
    assert limited(corpus, documents=("paper.pdf",), pages="2-700").last_page == 700


def test_a_corpus_of_which_nothing_can_be_read_says_where_to_look(tmp_path, home):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=0) as writer:
        writer.publish(records=[worlds.failed(worlds.graph("scan"))])
    with (
        open_for_reading(writer.location) as snapshot,
        pytest.raises(QuestionError, match="'small' holds no document that can be read; `flowreader status --corpus small`"),
    ):
        limited(snapshot, corpus="small")


def weighed(context, text, context_share=0.5, **rarity):
    question = asked(text, context)
    rarity = dict.fromkeys(question.terms.stems, 1.0) | rarity
    found = list(parts_of(question, rarity, context_share))
    return [
        (part, dict(zip(rarity, part.asked.tolist(), strict=True)), dict(zip(rarity, part.all.tolist(), strict=True)))
        for part in found
    ]


def test_a_name_says_of_whom_and_counts_for_no_part_of_what_is_asked(context):
    ((part, asks, weighs),) = weighed(context, "How much revenue did Merrow earn?", revenu=3.0)
    assert part.kind is AnswerKind.NUMBER and part.text == "How much revenue did Merrow earn?"
    assert asks == pytest.approx({"revenu": 0.75, "merrow": 0.0, "earn": 0.25})
    assert weighs == pytest.approx({"revenu": 0.6, "merrow": 0.2, "earn": 0.2})


def test_a_question_of_names_alone_asks_for_them(context):
    ((_part, asks, _weighs),) = weighed(context, "Who is Maren Oldcastle?")
    assert set(asks.values()) == {0.5}


def test_the_rest_of_a_question_is_the_context_of_a_part(context):
    why, cost = weighed(context, "Why did the pump fail, and how much did the crane cost?")
    assert why[1] == pytest.approx({"pump": 0.5, "fail": 0.5, "crane": 0.0, "cost": 0.0})
    assert why[2] == pytest.approx({"pump": 1 / 3, "fail": 1 / 3, "crane": 1 / 6, "cost": 1 / 6})
    assert (why[0].kind, cost[0].kind) == (AnswerKind.ANY, AnswerKind.NUMBER)


def test_a_name_counts_whole_for_every_part(context):
    _why, cost = weighed(context, "Why did the pump of Merrow fail, and how much did the crane cost?", context_share=0.0)
    assert cost[2] == pytest.approx({"pump": 0.0, "merrow": 1 / 3, "fail": 0.0, "crane": 1 / 3, "cost": 1 / 3})


def test_what_has_no_words_is_no_part(context):
    assert not weighed(context, "?!")
    ((part, _asks, _weighs),) = weighed(context, "How deep is the water, and why?")
    assert part.text == "How deep is the water"


def test_a_part_that_names_a_place_asks_for_it_and_perhaps_for_nothing_else(context):
    place = {NAMED_PLACE: 2.0}
    ((part, asks, _weighs),) = weighed(context, "What is on page 3?", **place)
    assert part.only_place and asks == {NAMED_PLACE: 1.0}
    price, colour = weighed(context, "What is the price in Table 1, and which colour has the crane?", **place)
    assert price[1][NAMED_PLACE] == pytest.approx(2 / 3) and colour[1][NAMED_PLACE] == 0.0
    assert not price[0].only_place and not colour[0].only_place


def test_a_question_is_understood_by_its_words_places_and_vector(context):
    question = asked("What does Table 2 on page 14 say of the steel cable?", context)
    assert {"steel", "cabl"} <= set(question.terms.stems)
    assert set(question.places) == {NamedPlace(PlaceKind.LABEL, "table 2"), NamedPlace(PlaceKind.PAGE, "14")}
    assert question.vector.shape == (8,) and np.isclose(question.vector[[2, 7]], np.sqrt(0.5)).all()


def ended(purpose="worker", attempts=1, outcome=Outcome.OK, prompt_hash="h"):
    return ModelCall(purpose, "", "path 1", "m", prompt_hash, "", 7, 3, 0.5, 0.1, attempts, outcome, "")


def test_rules_make_no_call_and_the_baseline_compares_and_refines_nothing():
    assert set(call_bounds(AskSettings(), gated=True).values()) == {0}
    assert [call_bounds(model_settings(), gated=False)[stage] for stage in Stage] == [11, 0, 1]
    assert call_bounds(model_settings(gate={"enabled": False}), gated=True)[Stage.REFINED] == 0


def test_the_bounds_follow_the_settings():
    settings = model_settings(selection={"read": 3}, reading={"model": {"compared_pairs": 2, "rating_calls": 2}})
    assert [call_bounds(settings, gated=True)[stage] for stage in Stage] == [5, 7, 1]


def test_a_call_too_many_is_refused_before_it_is_made_and_nothing_is_handed_on():
    book = CallBook("a", {Stage.FIRST: 3, Stage.REFINED: 2, Stage.LAST: 1})
    book.count(["keywords"])
    book.count(["path 1", "path 2"])
    book.count(["path 1", "path 2"])
    with pytest.raises(RuntimeError, match="4 calls in the first stage of a question, 3 are allowed"):
        book.count(["path 3"])
    book.stage = Stage.REFINED
    book.count(["path 1", "path 2"])
    with pytest.raises(RuntimeError, match="refined"):
        book.count(["path 3"])
    book.stage = Stage.LAST
    book.count(["answer"])


def test_two_questions_at_once_have_a_book_each(location):
    with at_context(location) as context:

        async def question(name, calls):
            with counting_calls(name, {}) as book:
                for _ in range(calls):
                    await asyncio.sleep(0)
                    await asyncio.to_thread(record_call, ended())
                return book

        async def both():
            return await asyncio.gather(question("one", 2), question("two", 3))

        one, two = asyncio.run(both())
        assert (len(one.made), len(two.made)) == (2, 3)
        entries = [entry for entry in run_of(context.snapshot.location).entries if entry["kind"] == "call"]
    assert sorted(entry["answer_id"] for entry in entries) == ["one"] * 2 + ["two"] * 3
    assert entries[0]["prompt_hash"] == "h" and entries[0]["input_tokens"] == 7 and entries[0]["outcome"] == "ok"
