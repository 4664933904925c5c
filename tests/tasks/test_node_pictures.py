"""A model sees the crop of a figure, or the kept image of a page that has no text of its own; each once."""

import io
from dataclasses import replace

import pytest
from PIL import Image

from storage.artifacts import ArtifactStore
from storage.records import NodeKind
from tasks.node_pictures import NodePicture, NodePictures
from tests.asking_worlds import Passage, at_desk, published, written
from tests.scripted_answers import booked, model_settings

PLAIN = written(
    "report",
    Passage("The tide turned.", 1),
    Passage("Ellary 418", 1, NodeKind.FIGURE),
    Passage("The storm came.", 2),
    Passage("Braye 212", 2, NodeKind.FIGURE),
)


def picture(shade):
    stream = io.BytesIO()
    Image.new("RGB", (64, 64), (shade, shade, shade)).save(stream, "PNG")
    return stream.getvalue()


CROP, OTHER_CROP, SCAN = picture(10), picture(20), picture(30)


@pytest.fixture
def artifacts(tmp_path):
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def world(tmp_path, artifacts):
    """The nodes of a report with two crops, its second page a scan; and who finds their pictures."""
    crop, other, scan = (artifacts.put(data) for data in (CROP, OTHER_CROP, SCAN))
    nodes = [replace(node, picture={1: crop, 3: other}.get(place)) for place, node in enumerate(PLAIN.nodes)]
    pages = [replace(page, image=scan if page.number == 2 else None) for page in PLAIN.pages]
    with at_desk(published(tmp_path, replace(PLAIN, nodes=tuple(nodes), pages=tuple(pages)))) as desk:
        names = [node.id for node in nodes]
        with booked(replace(desk, settings=model_settings())) as book:
            yield desk.snapshot.passages_by_id(names), NodePictures(desk.snapshot, artifacts), dict.fromkeys(names, 0.5), book


def test_a_figure_is_shown_by_its_crop_and_what_stands_on_a_scan_by_its_page(world):
    nodes, pictures, _, _ = world
    found = pictures.of(nodes)
    assert [found.get(node.id) and found[node.id].of_page for node in nodes] == [None, False, True, False]
    assert pictures.of([]) == {}


def test_each_picture_is_shown_once_in_the_order_in_which_it_is_needed(world):
    nodes, pictures, worth, _ = world
    shown, data = pictures.chosen(nodes, worth, most=5)
    assert data == [CROP, SCAN, OTHER_CROP] and set(shown) == {node.id for node in nodes[1:]}
    twice, data = pictures.chosen([nodes[2], nodes[2]], worth, most=5)
    assert data == [SCAN] and all(isinstance(one, NodePicture) for one in twice.values())


def test_where_there_are_too_many_the_worthiest_are_shown(world):
    nodes, pictures, worth, _ = world
    shown, data = pictures.chosen(nodes, worth | {nodes[3].id: 0.9}, most=1)
    assert data == [OTHER_CROP] and set(shown) == {nodes[3].id}
    assert pictures.chosen(nodes, worth, most=0) == ({}, [])


def test_a_picture_that_is_gone_is_noted_and_the_others_are_shown(world, artifacts):
    nodes, pictures, worth, book = world
    artifacts.path(nodes[1].picture).unlink()
    shown, data = pictures.chosen(nodes, worth, most=5)
    assert data == [SCAN, OTHER_CROP] and nodes[1].id not in shown
    (note,) = book.notes
    assert "was not shown to the model" in note and "ingest its document again" in note
