"""What the world did wrong is told in words: every error of ours that may reach the command line."""

from flows.expected_errors import EXPECTED
from flows.showing import CommandError


def test_each_of_them_is_told_by_what_it_says():
    for kind in EXPECTED:
        told = CommandError.from_error(kind("the corpus 'x' is not there; make it"))
        assert told.what and "Traceback" not in told.what
    assert KeyboardInterrupt not in EXPECTED and Exception not in EXPECTED
