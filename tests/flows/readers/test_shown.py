"""What each reader shows a chat model of the documents, as a server got it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import EVERYTHING
from storage.records.documents import Edge, EdgeKind, NodeKind
from tests.asking_worlds import Passage, answer_at, at_context, published, written
from tests.flows.readers.lengths import DOCUMENT, FACTS, QUESTION, everything, turn
from tests.library import alone, pages
from tests.scripted_answers import Reader, model_settings, of_form, pieces_of, read_by
from tests.storage.worlds import document_id

THICK = written(
    "thick",
    *(Passage(f"Steel of day {page}.", page=page, section="Steel") for page in range(1, 41)),
    *(Passage(f"The crew of {page}.", page=page, section="Crew") for page in range(42, 60)),
)
WORLD = (DOCUMENT, THICK)
OF_LENGTHS = alone("lengths")


class Ranked:
    """A reranker to which the word that is asked for means the list that goes on."""

    def scores(self, question, passages):
        return np.array([float("Perez" in passage and question == "storm") for passage in passages])


def turns_of(server):
    """Return the looks that each turn was shown."""
    shown = [dict(pieces_of(request)) for request in of_form(server, "Turn")]
    return [{name: text for name, text in pieces.items() if name.startswith("look ")} for pieces in shown]


def test_a_search_of_an_agent_is_looked_at_again_as_the_question_is(context, monkeypatch):
    monkeypatch.setattr("tasks.asking.second_look.open_reranker", lambda *_named, **_until: Ranked())
    model = Reader(FACTS, instead={"Turn": lambda request: turn(*["search"] * ("look 2" not in request.prompt), words="storm")})
    settings = model_settings(agent={"search_nodes": 1}, rerank="a-model", second={"rerank_weight": 9.0})
    with read_by(context, model, settings=settings) as (place, server):
        answer_at(replace(place, scope=OF_LENGTHS), QUESTION, reader="agent")
    assert turns_of(server)[1]["look 2"].endswith(": and Perez.")


def test_an_agent_is_shown_its_last_four_looks_in_full_and_those_before_by_their_ids(context):
    words = iter(["crew", "storm", "tide", "price", "harbour"])
    model = Reader(FACTS, instead={"Turn": lambda _request: turn("search", words=word) if (word := next(words, "")) else turn()})
    with read_by(context, model, settings=model_settings(agent={"search_nodes": 2})) as (place, server):
        answer_at(replace(place, scope=OF_LENGTHS), QUESTION, reader="agent")
    looks = turns_of(server)[5]
    assert [": " in looks[f"look {number}"] for number in range(1, 7)] == [False, False, True, True, True, True]
    assert (
        looks["look 2"] == f"crew\n{', '.join(line.partition(':')[0] for line in turns_of(server)[1]['look 2'].splitlines()[1:])}"
    )


PLATES = written("plates", *(Passage(f"The crew of {page}.", page=page, kind=NodeKind.FIGURE) for page in range(1, 91)))
CAUSE = Edge(PLATES.nodes[0].id, PLATES.nodes[88].id, *[PLATES.document_id] * 2, EdgeKind.SEMANTIC, 0.9, relation="cause")
PLATES = replace(
    PLATES,
    nodes=tuple(replace(node, box=(0.7, 0.1, 0.9, 0.2) if node.page == 90 else (0.0, 0.4, 0.2, 0.6)) for node in PLATES.nodes),
    edges=(CAUSE, replace(CAUSE, source=PLATES.nodes[88].id, target=PLATES.nodes[0].id, relation="")),
)


def where(field, op, value):
    return {"field": field, "op": op, "value": value}


@pytest.fixture
def plates(tmp_path, home):
    with at_context(published(tmp_path / "plates", PLATES, DOCUMENT)) as context:
        yield context


def taken(context, *turns):
    """Let an agent take these turns; return its answer and the looks that the last one was shown."""
    replies = iter([*turns, turn()])
    model = Reader({}, instead={"Turn": lambda _request: next(replies)})
    with read_by(context, model, settings=model_settings(agent={"search_nodes": 1})) as (place, server):
        answer = answer_at(place, "Which crew?", reader="agent")
    return answer, turns_of(server)[-1]


def test_an_agent_goes_on_through_all_that_a_query_finds_and_keeps_whole_looks(plates):
    query = turn("query", where=[where("kind", "is", "figure")])
    answer, looks = taken(plates, query, turn("more"), turn("more"), turn(keep=["look 2", "look 3", "look 4"], drop=["n5"]))
    heads = [looks[f"look {number}"].splitlines()[:2] for number in (2, 3, 4)]
    assert [asked for asked, _found in heads] == [f"kind is figure{rest}" for rest in ("", ", from 41 on", ", from 81 on")]
    assert [found for _asked, found in heads] == ["40 of 90", "40 of 90", "10 of 90"]
    assert answer.usage.counts["passages kept"] == 89


def test_an_agent_that_asks_for_more_where_nothing_is_left_is_corrected(plates):
    query = turn("query", where=[where("page", "is", "90")])
    replies = iter([query, turn("more"), turn("context", node="look 1", keep=["look 9"]), turn(keep=["look 2"])])
    with read_by(plates, Reader({}, instead={"Turn": lambda _request: next(replies)})) as (place, server):
        answer = answer_at(place, "Which crew?", reader="agent")
    told = [request.body["messages"][-1]["content"] for request in of_form(server, "Turn")[2:]]
    assert "there is no query that has more to show" in told[0] and answer.usage.counts["passages kept"] == 1


def test_an_agent_queries_positions_documents_and_what_a_model_says_that_passages_have_to_do_with_each_other(plates):
    lengths, report = (where("document", "has", plates.names[one.document_id].name) for one in (DOCUMENT, PLATES))
    place = turn("query", where=[where("position", "has", "top right")])
    name = turn("query", where=[lengths, where("page", "to", "2")])
    related = turn("query", where=[report, where("page", "is", "1")], edge="cause")
    model = Reader({}, instead={"Turn": lambda _request: turn()})
    with read_by(plates, model) as (context, server):
        answer_at(context, "Which crew?", reader="agent")
    assert "\nrelations: 1 cause\n" in dict(pieces_of(of_form(server, "Turn")[0]))["the documents"]
    _answer, looks = taken(plates, place, name, related)
    found = [re.findall(r", page (\d+) of ", looks[f"look {number}"]) for number in (2, 3, 4)]
    assert found == [["90"], ["1", "2"], ["1", "89"]]


@pytest.mark.parametrize(("scope", "name"), [(alone("thick"), "p59"), (EVERYTHING, "d{}p59")])
def test_a_place_on_the_map_is_named_by_its_document_and_the_number_of_its_page(context, scope, name):
    number = 1 + sorted([document_id("lengths"), document_id("thick")]).index(document_id("thick"))
    asked = name.format(number)
    model = Reader({}, instead={"Located": {"thought": "", "places": [asked]}, "Reflected": everything})
    with read_by(context, model, settings=model_settings(map={"located": 1, "k": 1, "rounds": 0})) as (place, server):
        answer = answer_at(replace(place, scope=scope), "Which crew?", reader="map")
    (located,) = of_form(server, "Located")
    lines = dict(line.split(":", 1) for line in dict(pieces_of(located))["pages"].splitlines())
    assert lines[asked].startswith(" page 59") and len(lines) == 40 and "p41" not in lines
    assert pages(answer.trace[0].pages) == [59]
