"""What the first question of a process would wait for, loaded before it comes."""

from __future__ import annotations

import importlib
import logging

from storage.corpora import corpora_in
from storage.locations import CorpusLocation, corpora_folder
from storage.snapshot import open_for_reading
from tasks.models.embedder import open_question_embedder

LOGGER = logging.getLogger(__name__)
SOLVERS = ("ortools.graph.python.max_flow", "ortools.graph.python.min_cost_flow")


def warm_up_questions() -> None:
    """Load the solvers, and the embedder and the graph of every corpus that can be read."""
    for name in SOLVERS:
        importlib.import_module(name)
    for location in corpora_in(corpora_folder()):
        try:
            warm_up_corpus(location)
        except Exception as error:
            # Whatever is wrong with a corpus, the question that asks will say so.
            LOGGER.warning("corpus %s could not be loaded before it is asked (%s)", location.name, type(error).__name__)


def warm_up_corpus(location: CorpusLocation) -> None:
    """Load what a question of the corpus needs; raise what the question would."""
    with open_for_reading(location) as snapshot:
        open_question_embedder(snapshot.embedder).embed_query("anything")
        assert snapshot.view
