import pytest

from tests.storage.worlds import corpus_in


@pytest.fixture
def location(tmp_path):
    """Where a corpus may be made."""
    return corpus_in(tmp_path)


@pytest.fixture
def place(location):
    return location
