"""Text becomes HTML in one place, and stays text."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.report.markup import Markup, escape, fill, join, tag


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


def read(markup):
    reader = Reader()
    reader.feed(f"{markup}")
    reader.close()
    return reader


def test_signs_of_html_are_shown_and_do_nothing():
    assert escape("<b a=\"1\" c='2'>&amp;") == "&lt;b a=&quot;1&quot; c=&#x27;2&#x27;&gt;&amp;amp;"


def test_hidden_signs_are_written_out():
    assert escape("\x1b[31m \x00 \u202egnp \ud800 \x9b") == "\\x1b[31m \\x00 \\u202egnp \\ud800 \\x9b"


def test_lines_tabs_joiners_and_other_scripts_stay_as_they_are():
    text = "a\tb\nc\u200dd שלום 日本語 é"
    assert escape(text) == text


def test_a_line_end_of_windows_is_one_line_end():
    assert escape("a\r\nb") == "a\nb"


def test_markup_is_escaped_once():
    assert tag("p", tag("b", "<"), "<") == "<p><b>&lt;</b>&lt;</p>"
    assert join(["<", Markup("<br>")], ", ") == "&lt;, <br>"


def test_attributes_are_named_as_html_does_and_none_is_left_out():
    assert tag("a", class_="x", aria_label="y", title=None, width=1.5, height=2.0, tabindex=0) == (
        '<a class="x" aria-label="y" width="1.5" height="2" tabindex="0"></a>'
    )


def test_an_element_that_holds_nothing_is_not_closed():
    assert tag("img", alt="") == '<img alt="">'


@given(st.text())
def test_whatever_is_written_no_element_and_no_attribute_comes_of_it(text):
    found = read(tag("p", text, title=text))
    assert [name for name, _ in found.tags] == ["p"]
    assert set(found.tags[0][1]) == {"title"}


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs"), exclude_characters="\ufffe\uffff"), min_size=1))
def test_text_without_hidden_signs_reads_back_as_it_was(text):
    assert "".join(read(tag("p", text)).texts) == text


def test_a_template_is_filled_whole_or_not_at_all(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<p>$one $two $$</p>")
    assert fill(path, one="<", two=Markup("<br>")) == "<p>&lt; <br> $</p>"
    with pytest.raises(ValueError, match=r"differ in \['two'\]"):
        fill(path, one="")
    with pytest.raises(ValueError, match=r"differ in \['three'\]"):
        fill(path, one="", two="", three="")
