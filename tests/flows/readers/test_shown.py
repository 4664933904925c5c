"""What each reader shows a chat model of the documents, as a server got it."""

from dataclasses import replace

import numpy as np
import pytest

from storage.graph.search import EVERYTHING
from tests.asking_worlds import Passage, answer_at, written
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
