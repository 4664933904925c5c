"""The document that a file names REPORT, published in a corpus of its own."""

import pytest

from tests.asking_worlds import at_context, published


@pytest.fixture(scope="module")
def location(tmp_path_factory, request):
    return published(tmp_path_factory.mktemp("world"), request.module.REPORT)


@pytest.fixture
def context(location, home):
    with at_context(location) as context:
        yield context
