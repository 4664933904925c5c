"""What a reader found says for itself whether it supports an answer."""

from tasks.path_reader import PathReading, Quote
from tests.storage.worlds import graph


def test_a_reading_with_an_answer_supports_it_and_one_without_does_not():
    quote = Quote(graph("report").nodes[0], "5", "5", 0.5, frozenset({"cost"}), frozenset())
    assert PathReading("5", (quote,)).supported
    assert not PathReading("", ()).supported
