"""The last reader sees what each path's reader said, fenced as well, and the passages themselves."""

from dataclasses import replace

import pytest

from tasks.evidence_shown import show_evidence
from tests.asking_worlds import at_desk, published
from tests.scripted_answers import Reader, model_settings
from tests.tasks.reading_worlds import FACTS, REPORT, reading


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    return published(tmp_path_factory.mktemp("world"), REPORT)


@pytest.fixture
def desk(location, home):
    with at_desk(location) as desk:
        yield desk


def evidence(scene, readings, tokens=1500):
    return show_evidence(scene.reader.desk, scene.question, readings, tokens=tokens)


def test_each_path_says_what_its_reader_found_and_which_passages_it_is_about(desk):
    with reading(desk, Reader(FACTS), (0, 3), (4,), (0, 1)) as scene:
        shown = evidence(scene, scene.read())
    assert [(piece.heading, piece.text) for piece in shown.pieces[:3]] == [
        ("path 1, passages n1, n2: what its reader says", "Answer: 20 metres\nFacts: as it stands"),
        ("path 2, passages n3: what its reader says", "It found no answer."),
        ("path 3, passages n1, n4: what its reader says", "Answer: 20 metres\nFacts: as it stands"),
    ]
    assert [node.id for node in shown.shown.nodes.values()] == [REPORT.nodes[place].id for place in (0, 3, 4, 1)]
    assert shown.path.nodes == tuple(shown.shown.nodes.values()) and len(shown.pieces) == 3 + 4


def test_of_a_long_path_what_is_cited_is_shown_and_else_the_worthiest(desk):
    settings = model_settings(reading={"model": {"evidence_passages": 1}})
    with reading(desk, Reader(FACTS), (4, 3, 0), (4, 3), settings=settings) as scene:
        first, second = scene.read()
        shown = evidence(scene, (first, second))
        worth = scene.paths[0].worth
    assert shown.shown.nodes["n1"].id == REPORT.nodes[0].id and len(shown.shown.nodes) == 2
    assert shown.shown.nodes["n2"].id == max((node.id for node in second.path.nodes), key=lambda name: worth[name])


def test_what_a_reader_cites_of_a_picture_counts_as_seen_and_nothing_else_does(desk):
    with reading(desk, Reader(FACTS), (0,), (1,)) as scene:
        plain, drawn = scene.read()
        (quote,) = drawn.quotes
        crop = replace(quote, node=replace(quote.node, picture="a" * 64))
        assert evidence(scene, (plain, drawn)).shown.seen == frozenset()
        assert evidence(scene, (plain, replace(drawn, quotes=(crop,)))).shown.seen == {quote.node.id}


def test_what_readers_say_takes_room_from_the_passages(desk):
    settings = model_settings(reading={"model": {"evidence_characters": 1000}})
    with reading(desk, Reader(FACTS), (0,), settings=settings) as scene:
        (found,) = scene.read()
        loud = evidence(scene, (replace(found, facts="so " * 400),))
    assert "[... " in loud.pieces[1].text and loud.pieces[0].text.count("so ") == 400
