"""The page says what was measured of what and by which code; no name is markup."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tasks.evaluation_page import evaluation_markdown
from tests.tasks.evaluation_worlds import evaluation, figure, readers_evaluation


def test_the_page_says_what_was_asked_when_and_by_which_code():
    page = evaluation_markdown(readers_evaluation())
    for said in ("Evaluation of retrieval: reports", "2026-01-02 03:04 UTC", "run 01234567", "code 0.1.0", "snapshot 7", "95 %"):
        assert said in page
    assert "asked of its own documents" in page
    assert "all documents of the benchmark" in evaluation_markdown(evaluation(scope="corpus"))


def test_the_page_names_the_models_and_says_where_there_was_none():
    page = evaluation_markdown(evaluation(models={"embedder": "mini_lm", "chat": "qwen|3", "judge": ""}))
    assert r"its own documents. Models: embedder mini\_lm, chat qwen\|3, judge none." in page
    assert "Models" not in evaluation_markdown(evaluation())


def test_few_questions_or_documents_are_explained_where_they_are_marked_only():
    for few in ({"questions": 3}, {"documents": 3}):
        page = evaluation_markdown(evaluation(figure("recall@1", **few)))
        assert r"\* fewer than 10 questions or 5 documents." in page
    assert "fewer than" not in evaluation_markdown(evaluation(figure("recall@1", "a starred arm*")))


def shown(page):
    """The cells of the page's tables, as a reader of Markdown shows them."""
    inline = [token for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(page) if token.type == "inline"]
    assert all(child.type in {"text", "text_special"} for token in inline for child in token.children)
    return ["".join(child.content for child in token.children) for token in inline]


@given(name=st.text(st.sampled_from("ab |*_~`[]()<>!\\&;#$\n-"), max_size=12))
def test_no_name_becomes_markup(name):
    page = evaluation_markdown(evaluation(figure("recall@1", group=f"x{name}x"), benchmark=f"x{name}x"))
    assert " ".join(f"x{name}x".split()) in shown(page)
    assert shown(page)[0] == f"Evaluation of retrieval: {' '.join(f'x{name}x'.split())}"
