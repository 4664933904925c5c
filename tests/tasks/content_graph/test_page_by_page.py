"""A document read page by page: what each call shows, what is handed on, and what comes of the outline and the links."""

import pytest

from storage.artifacts import ArtifactStore
from storage.records.documents import EdgeKind, NodeKind
from tasks.content_graph.page_by_page import (
    Memory,
    NamedThing,
    Noted,
    PagesRead,
    described_by_pages,
    edges_of_pages,
    read_page_by_page,
)
from tasks.content_graph.structure import make_edge
from tasks.settings.ingest import AnalysisSettings, ReadingSettings
from tests.chat_server import Misbehaviour
from tests.scripted_reader import pieces_of, reads_well
from tests.tasks.describing_worlds import asking_about, model, node, picture

TITLES = {0: "Report", 4: "Costs"}
WEIGHTS = ReadingSettings().evolution.structural_weights.by_kind()


def element(place):
    page = 1 + place // 4
    if place in TITLES:
        return node(place, TITLES[place], NodeKind.TITLE, page=page)
    if place == 6:
        return node(place, "", NodeKind.FIGURE, page=page, caption="Figure 2: A dam that is built of stone", label="Figure 2")
    return node(place, f"Passage {place} speaks of the many works on the dam in the year {2000 + place}.", page=page)


NODES = [element(place) for place in range(12)]
"""Three pages of four elements; the first two open with a title, the second has a figure."""


def read(folder, reply=reads_well, per_call=12, **server):
    artifacts, progress = ArtifactStore(folder / "drawn"), []
    drawn = {page: artifacts.read(picture(artifacts, colour)) for page, colour in enumerate(("red", "blue", "green"), 1)}
    with model(folder, reply, **server) as (served, chat):
        found = read_page_by_page(
            asking_about(NODES, folder, pages="model", pages_model={"elements_per_call": per_call}),
            chat=chat,
            picture_of=drawn.__getitem__,
            on_nodes=lambda *pair: progress.append(pair),
        )
    assert progress[0] == (0, len(NODES)) and progress[-1] == (len(NODES), len(NODES))
    return found, served.requests, list(drawn.values())


def of_the_page(pieces):
    return [name for name, (heading, _) in pieces.items() if name != "memory" and "remembered" not in heading]


def test_each_page_is_shown_with_its_picture_and_what_is_remembered_of_those_before(tmp_path):
    found, requests, drawn = read(tmp_path)
    shown = [pieces_of(request.prompt) for request in requests]
    assert [request.images for request in requests] == [[one] for one in drawn]
    assert [of_the_page(one) for one in shown] == [[f"n{place}" for place in range(first, first + 4)] for first in (0, 4, 8)]
    memory = [one["memory"][1].splitlines() for one in shown]
    assert memory[0] == ["nothing yet"] and memory[1][:2] == ["n0 opened a section of level 1", "Thing: n0"]
    assert memory[2] == ["n4 opened a section of level 1", "Thing: n4", "Topics: things", "Not explained yet: n6"]
    assert shown[2]["n6"] == ("n6: remembered of page 2", found.elements[6].summary) and "n0" not in shown[2]
    assert (
        shown[1]["n5"] == ("n5: paragraph", NODES[5].content)
        and shown[1]["n6"][1] == "Caption: Figure 2: A dam that is built of stone" + BEHIND
    )
    assert found.levels == {place: int(place in TITLES) for place in range(12)} and not found.errors
    assert found.links == {(7, 0): "explains", (11, 4): "explains"} and found.words == {6: "Axis 1 2 3"}
    assert read(tmp_path)[1] == [], "the same again is remembered"


BEHIND = f"\nText before it: {NODES[5].content}\nText behind it: {NODES[7].content}"


def test_a_full_page_is_shown_again_with_the_rest_of_its_elements(tmp_path):
    _found, requests, drawn = read(tmp_path, per_call=3)
    assert [request.images[0] for request in requests] == [page for page in drawn for _ in range(2)]
    assert [of_the_page(pieces_of(request.prompt)) for request in requests[:2]] == [["n0", "n1", "n2"], ["n3"]]


def test_a_model_that_does_not_see_reads_the_words(tmp_path):
    found, requests, _drawn = read(tmp_path, sees=False)
    assert [request.images for request in requests] == [[]] * 3 and len(found.elements) == 10 and not found.words


def test_a_page_without_a_reply_stays_with_the_rules_and_the_next_goes_on(tmp_path):
    def lost(request):
        return Misbehaviour.ERROR if "n5" in of_the_page(pieces_of(request.prompt)) else None

    found, requests, _drawn = read(tmp_path, misbehave=lost)
    assert list(found.errors) == [5] and "page 2 of report.pdf" in str(found.errors[5])
    assert 5 not in found.levels and 5 not in found.elements and {4, 6, 7, 11} <= found.levels.keys(), "it is asked in halves"
    assert "n4 opened a section" in pieces_of(requests[-1].prompt)["memory"][1]


def test_what_is_asked_in_halves_hands_on_what_the_first_remembers(tmp_path):
    def lost(request):
        return Misbehaviour.ERROR if {"n4", "n7"} <= {*of_the_page(pieces_of(request.prompt))} else None

    _found, requests, _drawn = read(tmp_path, misbehave=lost)
    second = next(pieces_of(one.prompt) for one in requests if of_the_page(pieces_of(one.prompt)) == ["n6", "n7"])
    assert second["memory"][1].splitlines()[:2] == ["n4 opened a section of level 1", "Thing: n4"]


FORGED = {
    "sections": [{"id": "n99", "level": 1}, {"id": "n6", "level": 2}],
    "words": [{"id": "n8", "words": "x"}],
    "links": [
        {"source": "n5", "target": "n1", "relation": "updates"},
        {"source": "n5", "target": "n5", "relation": "updates"},
        {"source": "n0", "target": "n5", "relation": "updates"},
    ],
    "memory": {"names": [{"name": "Dam", "ids": ["n11", "nx", "n5"]}], "topics": [], "open": ["n3", "n" + "9" * 5000]},
}


def test_what_names_an_id_that_was_not_shown_is_passed_over(tmp_path):
    def forging(request):
        replied = reads_well(request)
        return replied | FORGED if "n5" in of_the_page(pieces_of(request.prompt)) else replied

    found, requests, _drawn = read(tmp_path, forging)
    assert found.levels[6] == 2 and 99 not in found.levels and found.words == {} and (5, 1) not in found.links
    assert not {(5, 5), (0, 5)} & found.links.keys()
    memory = pieces_of(requests[-1].prompt)["memory"][1]
    assert memory.splitlines() == ["n0 opened a section of level 1", "n6 opened a section of level 2", "Dam: n5"]


@pytest.mark.parametrize(
    ("opened", "stack"),
    [
        ([], [(0, 1), (4, 2)]),
        ([(7, 3)], [(0, 1), (4, 2), (7, 3)]),
        ([(7, 2)], [(0, 1), (7, 2)]),
        ([(7, 1)], [(7, 1)]),
        ([(7, 3), (8, 1), (9, 5)], [(8, 1), (9, 5)]),
    ],
)
def test_a_section_closes_those_that_are_not_above_it(opened, stack):
    noted = Noted(names=[NamedThing(name="Dam", ids=["n7"])], topics=["dams"], open=[])
    after = Memory(sections=((0, 1), (4, 2))).after(opened, noted, frozenset({7}))
    assert list(after.sections) == stack and after.names == (("Dam", (7,)),) and after.topics == ("dams",)


def test_nodes_say_what_was_read_and_a_figure_is_found_by_what_it_shows(tmp_path):
    found, *_ = read(tmp_path)
    nodes = described_by_pages(NODES, found, AnalysisSettings())
    assert nodes[0] == NODES[0] and nodes[5].summary.startswith("It holds Passage 5") and nodes[5].keywords == NODES[5].keywords
    assert (
        nodes[6].summary
        == "Figure 2 - It holds Caption Figure 2 A dam that is built of stone Text before it Passage 5 speaks of the many works"
    )
    assert nodes[6].picture_text == "Axis 1 2 3" and nodes[6].search_text.splitlines()[-3:] == [
        "Axis 1 2 3",
        nodes[6].summary,
        "grey",
    ]


def test_links_become_edges_beside_those_of_the_layout():
    stated = make_edge(NODES[5], NODES[6], EdgeKind.REFERS_TO, 0.8)
    found = PagesRead(links={(5, 6): "references", (7, 6): "explains", (8, 7): "continues"})
    edges = edges_of_pages(NODES, found, [stated], WEIGHTS)
    assert [(edge.source, edge.target, edge.kind, edge.relation) for edge in edges] == [
        ("id5", "id6", EdgeKind.REFERS_TO, ""),
        ("id7", "id6", EdgeKind.REFERS_TO, "explains"),
        ("id7", "id8", EdgeKind.CONTINUES, "continues"),
    ]
    assert edges[2].weight == WEIGHTS[EdgeKind.CONTINUES]
