"""From a file to its graph, outside of any run."""

import asyncio

from flows.document_graph import make_graph
from tasks.document_step_keys import Tools
from tasks.lineage import working_at
from tasks.models.embedder import UnopenedEmbedder, default_identity
from tasks.settings import IngestSettings
from tests.flows.errands import PAGE, place_of_run, planned


def test_a_file_becomes_a_graph_of_its_version(home, tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    work, place, settings = planned(tmp_path / "tides.html"), place_of_run(), IngestSettings()
    tools = Tools(settings=settings, artifacts=place.artifacts, embedder=UnopenedEmbedder(default_identity(), settings.models))
    with working_at(place):
        graph, unfinished = asyncio.run(make_graph(work, tools))
    assert (graph.document_id, graph.version, unfinished) == (work.document_id, work.version, False)
    assert graph.nodes[0].content == "Tides" and graph.vectors.shape == (len(graph.nodes), 384)
