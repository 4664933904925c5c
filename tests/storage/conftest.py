import pytest

from tests.storage.worlds import corpus_in


@pytest.fixture
def place(tmp_path):
    """Where a corpus may be made."""
    return corpus_in(tmp_path)
