"""A text is made fit for its place, and loses no more than it must."""

from storage.wording import NAME_LENGTH, shortened, storable


def test_a_text_is_cut_only_where_it_is_too_long():
    assert shortened("a" * NAME_LENGTH) == "a" * NAME_LENGTH
    assert len(shortened("a" * 10_000)) == NAME_LENGTH and shortened("a" * 10_000).endswith("…")
    assert shortened("abc", 2) == "a…" and shortened("ab", 2) == "ab"


def test_bytes_that_are_no_utf8_are_written_as_escapes():
    assert storable("caf\udce9.pdf") == "caf\\udce9.pdf" and storable("café.pdf") == "café.pdf"
