"""Whatever is written, Markdown shows it as it was written."""

import html
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from storage.text import as_markdown, one_line, paragraphs

GITHUB = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLACES = ("{}", "# {}", "- {}", "> {}", "**[1]** {}", "[{}](/page)", "words\n{}")
MARKUP = st.text(alphabet="ab 12.()-+=>#:|~*_`\\\\[]!<&;/@\"'", max_size=30)


def words_seen(markdown):
    """What a reader sees, without spaces."""
    return "".join(html.unescape(re.sub(r"<[^>]*>", "", GITHUB.render(markdown))).split())


@pytest.mark.parametrize("place", PLACES)
@given(text=st.text() | MARKUP)
@example(text="2024. A year")
@example(text="# Title #")
@example(text="Title ## ###")
@example(text="<b>&amp;</b> &copy;")
@example(text="--- | ---")
@example(text="[1]: http://a.example ![2](b) [3][4] [5] [[6]] [7")
@example(text="C:\\dir\\")
def test_no_sign_keeps_its_meaning_and_every_word_is_seen(place, text):
    assert "\n" not in as_markdown(text)
    expected = words_seen(place.replace("{}", "QQ")).replace("QQ", "".join(one_line(text).split()))
    assert words_seen(place.replace("{}", as_markdown(text))) == expected


def test_what_means_nothing_where_it_stands_is_left_as_it_is():
    plain = "Sales rose, by 4.1% (to $5 million) | recall@5 [1] [12]; a_b_c, 2 * 3 < 7 & R&D: see #2, 1.5-2.0 or C:\\dir!"
    assert as_markdown(plain) == plain
    assert (
        as_markdown("http://a.example www.a.example a@b.example :smile:")
        == r"http\://a.example www\.a.example a\@b.example \:smile:"
    )


@pytest.mark.parametrize("below", ["--- | ---", ":-- | --:", "|---|---|", "| --- | --- |"])
def test_lines_below_each_other_make_no_table(below):
    assert words_seen(paragraphs(f"a | b\n{below}")) == f"a|b{below}".replace(" ", "")


def test_paragraphs_lines_and_lists_are_kept():
    assert paragraphs("one:\n- *a*\n- b - c\n\nd") == "one:\n\n- \\*a\\*\n- b - c\n\nd"
    assert paragraphs("one\ntwo\n\n\nthree *four*") == "one\\\ntwo\n\nthree \\*four\\*"
