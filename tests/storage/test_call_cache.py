import threading

import pytest

from storage.call_cache import CachedReply, CallCache, questions_owner
from storage.codec import CodecError
from storage.marked_lines import marked_line
from storage.records import identify
from tests.storage.worlds import document_id

DOCUMENT, OTHER = document_id("report"), document_id("another")
KEY = identify("key")
REPLY = CachedReply(text='{"summary": "Umsatz \u2028 stieg\\n"}\n\n', model="qwen", input_tokens=100, output_tokens=20)


@pytest.fixture
def cache(tmp_path):
    return CallCache(tmp_path / "calls")


def reply(text):
    return CachedReply(text=text, model="qwen", input_tokens=1, output_tokens=1)


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


def test_the_last_reply_to_a_call_counts(cache):
    cache.keep(DOCUMENT, KEY, reply("first"))
    cache.keep(DOCUMENT, KEY, reply("second"))
    assert cache.recall(DOCUMENT) == {KEY: reply("second")}


def test_a_forgotten_owner_leaves_nothing(cache):
    cache.keep(DOCUMENT, KEY, REPLY)
    cache.keep(OTHER, KEY, REPLY)
    cache.forget(DOCUMENT)
    cache.forget(DOCUMENT)
    assert cache.recall(DOCUMENT) == {} and cache.subjects() == [OTHER]


def test_a_cut_at_any_byte_costs_the_last_reply_and_no_other(cache):
    cache.keep(DOCUMENT, KEY, REPLY)
    first = cache.path(DOCUMENT).read_bytes()
    cache.keep(DOCUMENT, identify("second"), reply("two"))
    whole = cache.path(DOCUMENT).read_bytes()
    for end in range(len(first), len(whole) - 1):
        cache.path(DOCUMENT).write_bytes(whole[:end])
        assert cache.recall(DOCUMENT) == {KEY: REPLY}
        cache.keep(DOCUMENT, identify("third"), reply("three"))
        assert cache.recall(DOCUMENT) == {KEY: REPLY, identify("third"): reply("three")}


def test_a_flipped_bit_anywhere_costs_its_reply_and_no_other(cache):
    cache.keep(DOCUMENT, KEY, REPLY)
    first = len(cache.path(DOCUMENT).read_bytes())
    cache.keep(DOCUMENT, identify("second"), reply("two"))
    whole = cache.path(DOCUMENT).read_bytes()
    for place in range(first - 1):
        spoilt = bytearray(whole)
        spoilt[place] ^= 0x81
        cache.path(DOCUMENT).write_bytes(bytes(spoilt))
        assert cache.recall(DOCUMENT) == {identify("second"): reply("two")}


@pytest.mark.parametrize("line", [b"", b"\xff\xfe", b"a b c", b" ", KEY.encode()])
def test_lines_that_are_none_are_left_out(cache, line):
    cache.keep(DOCUMENT, KEY, REPLY)
    with cache.path(DOCUMENT).open("ab") as stream:
        stream.write(line + b"\n")
    assert cache.recall(DOCUMENT) == {KEY: REPLY}


def test_a_reply_of_another_form_is_left_out(cache):
    cache.path(DOCUMENT).parent.mkdir(parents=True)
    cache.path(DOCUMENT).write_bytes(marked_line(KEY, {"text": "of an older version"}))
    assert cache.recall(DOCUMENT) == {}


@pytest.mark.parametrize(
    ("subject", "key"), [("../../x", KEY), ("", KEY), (DOCUMENT.upper(), KEY), (DOCUMENT, "../x"), (DOCUMENT, "")]
)
def test_a_reply_cannot_leave_its_folder(cache, subject, key):
    with pytest.raises(ValueError, match="SHA-256 in hexadecimal"):
        cache.keep(subject, key, REPLY)


def test_words_that_no_bytes_can_hold_are_refused(cache):
    with pytest.raises(CodecError):
        cache.keep(DOCUMENT, KEY, reply("half a sign \ud800"))
    assert cache.recall(DOCUMENT) == {}


def test_many_threads_lose_no_reply(cache):
    def work(number):
        for each in range(50):
            cache.keep(DOCUMENT, identify(number, each), reply(f"{number} {each}" * 500))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.recall(DOCUMENT) == {identify(n, each): reply(f"{n} {each}" * 500) for n in range(4) for each in range(50)}
