"""A text is made fit for its place, and loses no more than it must."""

from storage.wording import NAME_LENGTH, shortened, storable, without_sign_in


def test_a_text_is_cut_only_where_it_is_too_long():
    assert shortened("a" * NAME_LENGTH) == "a" * NAME_LENGTH
    assert len(shortened("a" * 10_000)) == NAME_LENGTH and shortened("a" * 10_000).endswith("…")
    assert shortened("abc", 2) == "a…" and shortened("ab", 2) == "ab"


def test_bytes_that_are_no_utf8_are_written_as_escapes():
    assert storable("caf\udce9.pdf") == "caf\\udce9.pdf" and storable("café.pdf") == "café.pdf"


def test_no_address_is_told_with_its_password():
    for signed in ("me:secret", "me:sec/ret", "me:sec@ret", "secret"):
        assert without_sign_in(f"cannot reach 'http://{signed}@host:9000/b', again") == "cannot reach 'http://host:9000/b', again"
    assert without_sign_in("http://host/b is not at home") == "http://host/b is not at home"
