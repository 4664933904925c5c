"""What is looked up is what the file holds now, and no byte of it is read twice without need."""

import io
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.codec import CodecError
from storage.records.documents import identify
from storage.records.evaluations import Figure
from storage.runs import replies as kept_replies
from storage.runs.replies import CachedReply, CallCache, KeptReplies, marked_line, questions_owner, read_marked
from tests.storage.worlds import document_id

DOCUMENT, OTHER = document_id("report"), document_id("another")
KEY = identify("key")
REPLY = CachedReply(text='{"summary": "Umsatz \u2028 stieg\\n"}\n\n', model="qwen", input_tokens=100, output_tokens=20)


def test_a_reply_is_recalled_with_its_owner(cache):
    assert cache.recall(DOCUMENT) == {} and cache.subjects() == []
    cache.keep(DOCUMENT, KEY, REPLY)
    cache.keep(DOCUMENT, identify("second"), reply("two"))
    cache.keep(OTHER, KEY, reply("other"))
    assert cache.recall(DOCUMENT) == {KEY: REPLY, identify("second"): reply("two")}
    assert cache.recall(OTHER) == {KEY: reply("other")}
    assert cache.subjects() == sorted([DOCUMENT, OTHER])


def test_the_questions_of_each_corpus_have_an_owner_of_their_own(cache):
    cache.keep(questions_owner("default"), KEY, REPLY)
    assert cache.recall(questions_owner("default")) == {KEY: REPLY} and cache.recall(questions_owner("other")) == {}


def test_a_forgotten_owner_leaves_nothing(cache):
    cache.keep(DOCUMENT, KEY, REPLY)
    cache.keep(OTHER, KEY, REPLY)
    cache.forget(DOCUMENT)
    cache.forget(DOCUMENT)
    assert cache.recall(DOCUMENT) == {} and cache.subjects() == [OTHER]


@pytest.mark.parametrize(
    ("subject", "key"), [("../../x", KEY), ("", KEY), (DOCUMENT.upper(), KEY), (DOCUMENT, "../x"), (DOCUMENT, "")]
)
def test_a_reply_cannot_leave_its_folder(cache, subject, key):
    with pytest.raises(ValueError, match="SHA-256 in hexadecimal"):
        cache.keep(subject, key, REPLY)


KEYS = [identify(number) for number in range(2000)]


def reply(text):
    return CachedReply(text=text, model="qwen", input_tokens=1, output_tokens=1)


@pytest.fixture
def cache(tmp_path):
    return CallCache(tmp_path / "calls")


@pytest.fixture
def kept(cache):
    return KeptReplies(cache)


@pytest.fixture
def bytes_read(monkeypatch):
    """Counts what is really read from files that are opened while it watches."""
    sizes = []

    class Counted(io.FileIO):
        def readinto(self, buffer):
            sizes.append(super().readinto(buffer))
            return sizes[-1]

    monkeypatch.setattr(Path, "open", lambda path, mode: io.BufferedReader(Counted(path, mode)))
    return sizes


def test_the_replies_to_the_keys_that_are_asked_for_are_found(cache, kept):
    assert kept.find(DOCUMENT, KEYS[:1]) == {}
    cache.keep(DOCUMENT, KEYS[0], reply("one"))
    cache.keep(OTHER, KEYS[1], reply("two"))
    assert kept.find(DOCUMENT, KEYS[:2]) == {KEYS[0]: reply("one")} and kept.find(OTHER, KEYS[:2]) == {KEYS[1]: reply("two")}
    assert kept.find(DOCUMENT, []) == {}


def test_what_another_process_appended_is_seen_and_the_last_reply_counts(cache, kept):
    cache.keep(DOCUMENT, KEYS[0], reply("one"))
    assert kept.find(DOCUMENT, KEYS[:2]) == {KEYS[0]: reply("one")}
    code = (
        "import sys; from pathlib import Path; from storage.runs.replies import CachedReply, CallCache\n"
        f"for key in sys.argv[2:]: CallCache(Path(sys.argv[1])).keep({DOCUMENT!r}, key, CachedReply('other', 'qwen', 1, 1))"
    )
    root = Path(kept_replies.__file__).parents[2]
    subprocess.run([sys.executable, "-c", code, str(cache.folder), *KEYS[:2]], cwd=root, check=True)
    assert kept.find(DOCUMENT, KEYS[:2]) == dict.fromkeys(KEYS[:2], reply("other")) == cache.recall(DOCUMENT)


def test_a_second_look_reads_what_was_written_since_and_the_replies_that_are_wanted(cache, kept, bytes_read):
    for key in KEYS:
        cache.keep(DOCUMENT, key, reply("word " * 20))
    size = cache.path(DOCUMENT).stat().st_size
    kept.find(DOCUMENT, KEYS[:1])
    assert size <= sum(bytes_read) < size + 4 * io.DEFAULT_BUFFER_SIZE
    bytes_read.clear()
    cache.keep(DOCUMENT, identify("new"), reply("new"))
    assert set(kept.find(DOCUMENT, [KEYS[7], identify("new")])) == {KEYS[7], identify("new")}
    assert 0 < sum(bytes_read) <= 4 * io.DEFAULT_BUFFER_SIZE < size / 10
    bytes_read.clear()
    assert len(kept.find(DOCUMENT, KEYS)) == len(KEYS)
    assert sum(bytes_read) < 1.1 * size


def test_a_file_that_was_replaced_between_two_looks_is_read_anew(cache, kept):
    """Whether it gets the number of the old one or another, whether it is shorter or longer."""
    cache.keep(DOCUMENT, KEYS[0], reply("one"))
    kept.find(DOCUMENT, KEYS[:1])
    cache.forget(DOCUMENT)
    assert kept.find(DOCUMENT, KEYS[:1]) == {}
    for key in KEYS[1:4]:
        cache.keep(DOCUMENT, key, reply("another file"))
    assert kept.find(DOCUMENT, KEYS[:4]) == dict.fromkeys(KEYS[1:4], reply("another file"))
    whole = cache.path(DOCUMENT).read_bytes()
    first = whole.splitlines(keepends=True)[2]
    cache.path(DOCUMENT).write_bytes(first)  # the same file, shorter
    assert set(kept.find(DOCUMENT, KEYS[:4])) == {KEYS[3]}
    cache.path(DOCUMENT).with_suffix(".new").write_bytes(whole)
    cache.path(DOCUMENT).with_suffix(".new").rename(cache.path(DOCUMENT))
    assert set(kept.find(DOCUMENT, KEYS[:4])) == {*KEYS[1:4]}


def test_another_file_that_ends_alike_is_read_anew(cache, kept):
    cache.keep(OTHER, KEYS[1], reply("two"))
    for owner, key in ((DOCUMENT, KEYS[0]), (DOCUMENT, KEYS[2]), (OTHER, KEYS[2])):
        cache.keep(owner, key, reply("one"))
    assert set(kept.find(DOCUMENT, KEYS[:3])) == {KEYS[0], KEYS[2]}
    cache.path(OTHER).rename(cache.path(DOCUMENT))
    assert kept.find(DOCUMENT, KEYS[:3]) == {KEYS[1]: reply("two"), KEYS[2]: reply("one")}


def test_damaged_lines_are_left_out_whenever_they_were_damaged(cache, kept):
    cache.keep(DOCUMENT, KEYS[0], reply("one"))
    first = cache.path(DOCUMENT).stat().st_size
    with cache.path(DOCUMENT).open("ab") as stream:
        stream.write(b"\xff no line of ours\n\n" + KEYS[1].encode() + b" 0 {}\n")
    cache.keep(DOCUMENT, KEYS[2], reply("three"))
    assert set(kept.find(DOCUMENT, KEYS[:3])) == {KEYS[0], KEYS[2]}
    spoilt = bytearray(cache.path(DOCUMENT).read_bytes())
    spoilt[first - 5] ^= 0x81
    with cache.path(DOCUMENT).open("r+b") as stream:
        stream.write(spoilt)
    assert set(kept.find(DOCUMENT, KEYS[:3])) == {KEYS[2]}


def test_a_line_that_is_half_written_counts_once_it_is_whole(cache, kept):
    cache.keep(DOCUMENT, KEYS[0], reply("one"))
    one = cache.path(DOCUMENT).read_bytes()
    cache.keep(DOCUMENT, KEYS[1], reply("two"))
    both = cache.path(DOCUMENT).read_bytes()
    for end in range(len(one), len(both)):
        cache.path(DOCUMENT).write_bytes(both[:end])
        assert set(kept.find(DOCUMENT, KEYS[:2])) == {KEYS[0]}
    cache.path(DOCUMENT).write_bytes(both)
    assert set(kept.find(DOCUMENT, KEYS[:2])) == set(KEYS[:2])


def test_of_many_owners_the_places_of_the_last_ones_are_remembered(cache, kept, monkeypatch, bytes_read):
    monkeypatch.setattr(kept_replies, "MOST_OWNERS", 2)
    owners = [document_id(str(number)) for number in range(3)]
    for owner in owners:
        for key in KEYS[:200]:
            cache.keep(owner, key, reply("word " * 20))
    size = cache.path(owners[0]).stat().st_size

    def read_for(owner):
        bytes_read.clear()
        assert kept.find(owner, KEYS[:1]) == {KEYS[0]: reply("word " * 20)}
        return sum(bytes_read) >= size

    assert [read_for(owner) for owner in [*owners, owners[2], owners[1], owners[0]]] == [True, True, True, False, False, True]


def test_many_threads_find_what_others_keep(cache, kept):
    missed = []

    def work(number):
        for each in range(40):
            key = identify(number, each)
            cache.keep(DOCUMENT, key, reply(f"{number} {each}"))
            if kept.find(DOCUMENT, [key]) != {key: reply(f"{number} {each}")}:
                missed.append(key)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [identify(number, each) for number in range(4) for each in range(40)]
    assert missed == [] and set(cache.recall(DOCUMENT)) == set(kept.find(DOCUMENT, keys)) == set(keys)


FIRST, SECOND = Figure("a", "all", "recall", 0.5, 0.25, 0.75, 4, 4), Figure("b", "all", "recall", 1.0, 1.0, 1.0, 2, 2)
FIRST_KEY, SECOND_KEY = identify("first"), identify("second")


@given(st.text())
def test_whatever_a_text_holds_it_is_one_line(text):
    record = CachedReply(text, "model", 1, 2)
    try:
        line = marked_line(FIRST_KEY, record)
    except CodecError:
        return
    assert line.count(b"\n") == 1 and read_marked(CachedReply, line) == {FIRST_KEY: record}


def test_a_cut_anywhere_costs_the_last_record_and_no_other():
    first, second = marked_line(FIRST_KEY, FIRST), marked_line(SECOND_KEY, SECOND)
    for end in range(len(second) - 1):
        assert read_marked(Figure, first + second[:end]) == {FIRST_KEY: FIRST}


def test_a_flipped_bit_anywhere_costs_its_record_and_no_other():
    first, second = bytearray(marked_line(FIRST_KEY, FIRST)), marked_line(SECOND_KEY, SECOND)
    for place in range(len(first) - 1):
        first[place] ^= 0x81
        assert read_marked(Figure, bytes(first) + second) == {SECOND_KEY: SECOND}
        first[place] ^= 0x81


@pytest.mark.parametrize("line", [b"", b"\xff\xfe", b"a b c", b" ", FIRST_KEY.encode()])
def test_lines_that_are_none_are_left_out(line):
    assert read_marked(Figure, marked_line(FIRST_KEY, FIRST) + line + b"\n") == {FIRST_KEY: FIRST}


def test_a_record_of_another_kind_is_left_out():
    assert read_marked(Figure, marked_line(FIRST_KEY, CachedReply("text", "model", 1, 2))) == {}


@pytest.mark.parametrize("key", ["", "k", FIRST_KEY.upper(), f"{FIRST_KEY}\n", f"{FIRST_KEY[:-1]} "])
def test_a_key_that_is_no_hash_is_refused(key):
    with pytest.raises(ValueError, match="no key of Figure; keys are SHA-256 in hexadecimal"):
        marked_line(key, FIRST)
