"""The paths are fetched once with what the routing knows of them, and each is read by itself."""

from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import Scope
from storage.records.documents import NodeKind
from tasks.asking.candidates import find_candidates, score
from tasks.reading.paths import fetch_texts, read_paths
from tasks.routing.paths import ChosenPath
from tests.asking_worlds import Passage, asked, at_context, published, written

REPORT = written(
    "merrow",
    Passage("The tide turned over Braye.", 1),
    Passage("Cable: Price\nLong: 5\nShort: 3", 2, NodeKind.TABLE),
    Passage("The crew repaired the steel.", 3),
)
LETTER = written("letter", Passage("The storm took the harbour of Ellary.", 1))
QUESTION = "What price had the cable of Merrow at Ellary in 1987?"


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), REPORT, LETTER)


def world_at(context):
    """Return question, candidates and scores, with a path of two nodes and one of one, both through the table."""
    question = asked(QUESTION, context)
    graph = find_candidates(question, context)
    scores = score(question, graph, context)
    first, table = (graph.ids.index(REPORT.nodes[place].id) for place in (0, 1))
    paths = [ChosenPath((first, table), 1.0, 1.0, 0.5), ChosenPath((table,), 1.0, 1.0, 0.5)]
    return question, graph, scores, paths


def test_a_path_comes_with_its_nodes_rows_and_what_they_are_worth(location):
    with at_context(location) as context:
        question, graph, scores, paths = world_at(context)
        both, table = fetch_texts(question, graph, scores, paths, context)
    assert [node.id for node in both.nodes] == [REPORT.nodes[0].id, REPORT.nodes[1].id]
    assert [row.text for row in table.rows[REPORT.nodes[1].id]] == ["Cable: Price", "Long: 5", "Short: 3"]
    place = graph.ids.index(REPORT.nodes[1].id)
    assert table.worth[REPORT.nodes[1].id] == scores.combined[place] and table.rarity == scores.rarity


def test_a_worth_stays_between_0_and_1(location):
    with at_context(location) as context:
        question, graph, scores, paths = world_at(context)
        beyond = replace(scores, combined=np.where(np.arange(len(graph)) % 2, 1.5, -0.5))
        worths = fetch_texts(question, graph, beyond, paths, context)[0].worth
    assert set(worths.values()) <= {0.0, 1.0}


def test_names_are_known_from_titles_and_from_whatever_is_asked(location):
    with at_context(location) as context:
        question, graph, scores, paths = world_at(context)
        (text, _other) = fetch_texts(question, graph, scores, paths, context)
    assert set(question.terms.anchors) == {"merrow", "ellari", "1987"}
    assert text.titled == {REPORT.document_id: {"merrow"}}
    assert text.present == {"merrow", "ellari"}


def test_what_lies_outside_the_asked_pages_is_not_held_against_a_name(location):
    with at_context(location, scope=Scope(first_page=1, last_page=2)) as context:
        question, graph, scores, paths = world_at(context)
        (text, _other) = fetch_texts(question, graph, scores, paths, context)
    assert text.present == {"merrow", "ellari", "1987"}


def test_no_paths_are_no_texts(location):
    with at_context(location) as context:
        question, graph, scores, _paths = world_at(context)
        assert fetch_texts(question, graph, scores, [], context) == ()
        assert read_paths(question, (), context) == ()
