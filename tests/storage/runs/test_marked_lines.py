import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.codec import CodecError
from storage.records.documents import identify
from storage.records.evaluations import Figure
from storage.runs.replies import CachedReply, marked_line, read_marked

FIRST, SECOND = Figure("a", "all", "recall", 0.5, 0.25, 0.75, 4, 4), Figure("b", "all", "recall", 1.0, 1.0, 1.0, 2, 2)
KEY, OTHER = identify("first"), identify("second")


@given(st.text())
def test_whatever_a_text_holds_it_is_one_line(text):
    record = CachedReply(text, "model", 1, 2)
    try:
        line = marked_line(KEY, record)
    except CodecError:
        return
    assert line.count(b"\n") == 1 and read_marked(CachedReply, line) == {KEY: record}


def test_a_cut_anywhere_costs_the_last_record_and_no_other():
    first, second = marked_line(KEY, FIRST), marked_line(OTHER, SECOND)
    for end in range(len(second) - 1):
        assert read_marked(Figure, first + second[:end]) == {KEY: FIRST}


def test_a_flipped_bit_anywhere_costs_its_record_and_no_other():
    first, second = bytearray(marked_line(KEY, FIRST)), marked_line(OTHER, SECOND)
    for place in range(len(first) - 1):
        first[place] ^= 0x81
        assert read_marked(Figure, bytes(first) + second) == {OTHER: SECOND}
        first[place] ^= 0x81


@pytest.mark.parametrize("line", [b"", b"\xff\xfe", b"a b c", b" ", KEY.encode()])
def test_lines_that_are_none_are_left_out(line):
    assert read_marked(Figure, marked_line(KEY, FIRST) + line + b"\n") == {KEY: FIRST}


def test_a_record_of_another_kind_is_left_out():
    assert read_marked(Figure, marked_line(KEY, CachedReply("text", "model", 1, 2))) == {}


@pytest.mark.parametrize("key", ["", "k", KEY.upper(), f"{KEY}\n", f"{KEY[:-1]} "])
def test_a_key_that_is_no_hash_is_refused(key):
    with pytest.raises(ValueError, match="no key of Figure; keys are SHA-256 in hexadecimal"):
        marked_line(key, FIRST)
