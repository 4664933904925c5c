"""What may be asked: clear refusals, naming the value and the remedy, before anything is loaded."""

from dataclasses import replace

import pytest

from storage.corpus.snapshot import UnknownDocumentError, open_for_reading
from storage.corpus.writer import open_for_writing
from storage.graph.search import Scope
from storage.records.documents import Modality
from tasks.asking.request import (
    LONGEST_QUESTION,
    AskRequest,
    QuestionError,
    asked_scope,
    checked_questions,
    nothing_in,
    page_range,
    read_batch,
)
from tests.storage import worlds


@pytest.mark.parametrize("question", ["", "   \n", "?!", "…"])
def test_a_question_without_a_word_is_refused(question):
    with pytest.raises(QuestionError, match="holds no word; ask something"):
        checked_questions([question])


def test_a_question_as_long_as_a_document_is_refused_with_its_length():
    with pytest.raises(QuestionError, match=r"has 100,000 characters; ask in at most 10,000"):
        checked_questions(["a" * 100_000])
    assert len(checked_questions(["a" * LONGEST_QUESTION])[0]) == LONGEST_QUESTION


@pytest.mark.parametrize("question", ["収益はいくらですか", "Какова выручка?", "πόσο κοστίζει;", "كم الإيرادات؟"])
def test_a_question_in_another_script_is_a_question(question):
    assert checked_questions([question]) == (question,)


@pytest.mark.parametrize(
    ("question", "kept"),
    [("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",) * 2, ("क्\u200dष",) * 2, ("co\u00adoperate", "cooperate")],
)
def test_words_of_other_scripts_are_not_torn(question, kept):
    assert checked_questions([question]) == (kept,)


def test_a_question_is_put_on_one_line_without_what_a_terminal_obeys():
    assert checked_questions(["  what\nis \x1b[31mthis\ud800 "]) == ("what is [31mthis?",)


@pytest.mark.parametrize(("pages", "range_"), [(None, (None, None)), ("3", (3, 3)), ("3-7", (3, 7)), (" 12 - 40 ", (12, 40))])
def test_a_page_range_is_read(pages, range_):
    assert page_range(pages) == range_


@pytest.mark.parametrize("pages", ["", "0", "7-3", "-2", "a-b", "3-", "1,2", "99999999"])
def test_what_is_no_page_range_is_refused(pages):
    with pytest.raises(QuestionError, match="is none; write --pages 3-7"):
        page_range(pages)


def test_a_batch_is_lines_or_json_lines(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(
        '\ufeffWhat is it?\n\n{"question": "How deep?", "id": 7}\n"Who?"\n"quoted" words: what do they mean?\n', "utf-8"
    )
    assert read_batch(str(path)) == ("What is it?", "How deep?", "Who?", '"quoted" words: what do they mean?')


def test_comments_and_empty_lines_of_a_batch_are_no_questions_and_are_counted_as_lines(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text('# of the report\n\nWhat is it?\n  # of the letter\n"# is a sign of what?"\nWho is #1?\n')
    assert read_batch(str(path)) == ("What is it?", "# is a sign of what?", "Who is #1?")
    path.write_text("# of the report\n\n???\n")
    with pytest.raises(QuestionError, match=r"line 3 of .*holds no word"):
        read_batch(str(path))
    path.write_text("# nothing but this\n")
    with pytest.raises(QuestionError, match="holds no question; write one a line"):
        read_batch(str(path))


def test_only_the_end_of_a_line_ends_a_question(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"question": "What\u2028is it?"}\r\nWho\x0csaid so?\r\n', "utf-8", newline="")
    assert read_batch(str(path)) == ("What is it?", "Who said so?")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\n\n", "holds no question"),
        (b'{"text": "x"}\n', 'line 1 of .*has no "question"'),
        (b"{question: broken}\n", "line 1 of .*is no JSON"),
        (b"fine?\n???\n", "line 2 of .*holds no word"),
        (b"\xff\xfe\x00", "is not UTF-8"),
    ],
)
def test_a_batch_that_cannot_be_used_names_its_line(tmp_path, content, says):
    path = tmp_path / "questions.txt"
    path.write_bytes(content)
    with pytest.raises(QuestionError, match=says):
        read_batch(str(path))


def test_a_batch_that_is_not_there_says_so(tmp_path):
    with pytest.raises(QuestionError, match="No such file"):
        read_batch(str(tmp_path / "absent.txt"))


@pytest.fixture
def corpus(tmp_path, home):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=0) as writer:
        worlds.publish(writer, worlds.graph("report"), worlds.graph("paper"))
        writer.publish(records=[worlds.failed(worlds.graph("scan"), "it has no text; run OCR")])
    with open_for_reading(writer.location) as snapshot:
        yield snapshot


def asked(**limits):
    return AskRequest(questions=("What?",), corpus="small", **limits)


def test_without_limits_everything_is_asked(corpus):
    assert asked_scope(corpus, asked()) == Scope(documents=(), first_page=None, last_page=None, modality=None)


@pytest.mark.parametrize(("texts", "made_by", "other"), [("content", "default", "paper"), ("paper", "paper", "default")])
def test_a_corpus_of_the_other_preset_is_refused_with_the_line_that_makes_one(tmp_path, texts, made_by, other):
    embedder = replace(worlds.EMBEDDER, texts=texts)
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=embedder, wait_seconds=0) as writer:
        worlds.publish(writer, worlds.graph("report"))
    with open_for_reading(writer.location) as snapshot:
        assert asked_scope(snapshot, asked(preset=made_by)) == Scope()
        with pytest.raises(QuestionError, match=f"read in by the preset '{made_by}'.*: flowreader ingest PATH --preset {other} "):
            asked_scope(snapshot, asked(preset=other))


def test_documents_are_named_by_name_or_id(corpus):
    first, second = (corpus.find(name) for name in ("report.pdf", "paper.pdf"))
    scope = asked_scope(corpus, asked(documents=(first.name, second.id[:8]), pages="1"))
    assert set(scope.documents) == {first.id, second.id} and (scope.first_page, scope.last_page) == (1, 1)


def test_a_document_named_twice_is_asked_once(corpus):
    one = corpus.find("report.pdf")
    assert asked_scope(corpus, asked(documents=(one.name, one.id, one.id[:8]))).documents == (one.id,)


def test_the_nearest_name_is_suggested(corpus):
    with pytest.raises(
        UnknownDocumentError, match=r"no document 'raport.pdf' in corpus 'default', the nearest is 'report.pdf'; name it"
    ):
        asked_scope(corpus, asked(documents=("raport.pdf",)))


def test_a_document_that_could_not_be_read_says_why(corpus):
    with pytest.raises(QuestionError, match=r"'scan.pdf' cannot be asked, it is failed: it has no text; run OCR"):
        asked_scope(corpus, asked(documents=("scan.pdf",)))


def test_the_longest_of_the_documents_asked_bounds_the_pages(corpus):
    assert asked_scope(corpus, asked(documents=("paper.pdf",), pages="2-700")).last_page == 700
    with pytest.raises(QuestionError, match="there is no page '3' in what is asked; the longest document has 2, write --pages 1-2"):
        asked_scope(corpus, asked(documents=("paper.pdf",), pages="3-700"))


def test_a_corpus_of_which_nothing_can_be_read_says_where_to_look(tmp_path, home):
    with open_for_writing(worlds.corpus_in(tmp_path), embedder=worlds.EMBEDDER, wait_seconds=0) as writer:
        writer.publish(records=[worlds.failed(worlds.graph("scan"))])
    with (
        open_for_reading(writer.location) as snapshot,
        pytest.raises(QuestionError, match="'small' holds no document that can be read; `flowreader status --corpus small`"),
    ):
        asked_scope(snapshot, asked())


@pytest.mark.parametrize(
    ("scope", "says"),
    [
        (Scope(), "there is no passage in the corpus; ask without that limit"),
        (Scope(documents=("a" * 64,), modality=Modality.FIGURE), "there is no 'figure' in the documents asked; ask without"),
        (Scope(first_page=3, last_page=7), "there is no passage on the pages '3-7' of the corpus; ask without that limit"),
    ],
)
def test_what_holds_nothing_is_named_with_a_way_out(scope, says):
    assert nothing_in(scope).startswith(says)
