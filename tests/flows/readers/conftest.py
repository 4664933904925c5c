"""The document of lengths as a corpus, for the tests of readers by model; most others here bring a world of their own."""

import pytest

from storage.graph.search import Scope
from tests.asking_worlds import at_context, published
from tests.flows.readers.lengths import DOCUMENT
from tests.storage.worlds import document_id


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), DOCUMENT)


@pytest.fixture
def context(location, home):
    with at_context(location, scope=Scope(documents=(document_id("lengths"),))) as context:
        yield context
