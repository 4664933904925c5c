import pytest

from storage.graph.adjacency import derive
from storage.graph.store import open_graph
from tests.storage.graph_worlds import published


@pytest.fixture(scope="session")
def adjacency(tmp_path_factory):
    return derive(open_graph(published(tmp_path_factory.mktemp("home")).lance))
