import pytest

from storage.lease_terms import Terms, read_terms
from storage.lock import signature


def test_terms_come_back_as_they_were_written():
    terms = Terms(signature(7), 1.5, beat=3, free=True)
    assert read_terms(terms.written()) == terms


@pytest.mark.parametrize("content", [b"", b"[]", b'{"holder": {}}', b'{"holder": {"pid": 3}', b"\xff"])
def test_what_is_no_lease_has_no_terms(content):
    assert read_terms(content) is None
