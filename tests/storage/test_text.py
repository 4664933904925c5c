"""Whatever is written, Markdown shows it as it was written."""

import html
import re

from hypothesis import given
from hypothesis import strategies as st

from storage.text import as_markdown, paragraphs


def unescaped(markdown):
    """What a reader sees of escaped text: CommonMark takes the backslash before any ASCII punctuation away."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@given(st.text())
def test_no_sign_keeps_its_meaning_and_every_word_is_seen(text):
    shown = as_markdown(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[!-/:-@\[\]^-`{-~]", shown), "a sign without its backslash"
    assert (
        "\n" not in shown
        and html.unescape(unescaped(shown)).split()
        == html.unescape("".join(sign if sign.isprintable() else " " for sign in text)).split()
    )


def test_paragraphs_lines_and_lists_are_kept():
    assert paragraphs("one:\n- *a*\n- b - c\n\nd") == "one\\:\n\n- \\*a\\*\n- b \\- c\n\nd"
    assert paragraphs("one\ntwo\n\n\nthree *four*") == "one\\\ntwo\n\nthree \\*four\\*"
