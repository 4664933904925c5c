"""Whatever words a view holds, each language shows them as words, and nothing of them is obeyed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from flows.display.output import Output
from storage.text import one_line
from tasks.views.render import CHAT, FOLDER, LINE_BREAK, MARKDOWN, TEXT
from tests.hostile import HOSTILE_WORDS

WORDS = st.one_of(st.sampled_from(HOSTILE_WORDS), st.text(st.characters(exclude_categories=["Cs"])))
QUIET = {"paragraph_open", "paragraph_close", "inline", "text", "softbreak", "hardbreak", "text_special"}


def drawn(language, words):
    return language.from_string("{{ words }}").render(words=words)


def tokens(markdown):
    commonmark = MarkdownIt("commonmark", {"html": True}).enable("table")
    return [each for token in commonmark.parse(markdown) for each in (token, *(token.children or ()))]


@given(WORDS)
def test_on_a_terminal_every_sign_that_it_would_obey_is_written_out(words):
    drawn_words = drawn(TEXT, words)
    assert all(sign.isprintable() or sign == LINE_BREAK for sign in drawn_words)
    assert drawn_words.count(LINE_BREAK) == words.count("\n")


@pytest.mark.parametrize("words", HOSTILE_WORDS)
def test_what_a_template_shows_begins_no_line_and_gives_no_style(words, capsys, monkeypatch):
    monkeypatch.setitem(TEXT.globals, "words", words)
    monkeypatch.setattr(TEXT, "loader", None)
    monkeypatch.setattr(TEXT, "get_template", lambda _name: TEXT.from_string("dim| - {{ words }}\nbold| last"))
    Output(as_json=False).show("any")
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("- ") and last == "last" and "\x1b" not in first


@given(WORDS)
def test_in_markdown_words_are_letters_on_one_line(words):
    made = tokens(drawn(MARKDOWN, words))
    assert {token.type for token in made} <= QUIET
    assert "".join(token.content for token in made if token.type in ("text", "text_special")).strip() == one_line(words).strip()


@given(WORDS)
def test_in_a_table_of_markdown_words_stay_in_their_cell(words):
    made = tokens(MARKDOWN.from_string("| {{ words|cell }} | b |\n|---|---|\n").render(words=words))
    cells = [token.content for token in made if token.type in ("text", "text_special")]
    assert "".join(cells).strip() == f"{one_line(words).strip()}b" and {token.type for token in made} >= {"table_open", "th_open"}


@given(WORDS)
def test_in_a_chat_words_make_no_picture_no_link_and_no_element(words):
    assert not {"image", "html_inline", "html_block"} & {token.type for token in tokens(drawn(CHAT, words))}
    assert not re.search(r"\]\(", drawn(CHAT, words))


def test_no_template_joins_words_before_its_language_has_escaped_them():
    """`~` and `|e` of a template with markup in it escape as HTML, whatever the language."""
    for template in (each for each in FOLDER.rglob("*.j2") if each.parent.name != "html"):
        assert not re.search(r"~|\|\s*e\b|\|\s*escape\b", template.read_text("utf-8")), template


def test_what_a_template_says_itself_is_markup_and_numbers_are_no_words():
    said = "{% macro b(x) %}*{{ x }}*{% endmacro %}{{ b(words) }} {{ 0.25|number('.1f') }} {{ 12 }}"
    assert MARKDOWN.from_string(said).render(words="a*b") == r"*a\*b* 0.2 12"
