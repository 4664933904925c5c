"""What each reader shows a chat model of the documents, as a server got it."""

import numpy as np

from tests.asking_worlds import answer_at
from tests.flows.readers.lengths import DOCUMENT, FACTS, QUESTION, turn
from tests.scripted_answers import Reader, model_settings, of_form, pieces_of, read_by

WORLD = (DOCUMENT,)


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
        answer_at(place, QUESTION, reader="agent")
    assert turns_of(server)[1]["look 2"].endswith(": and Perez.")


def test_an_agent_is_shown_its_last_four_looks_in_full_and_those_before_by_their_ids(context):
    words = iter(["crew", "storm", "tide", "price", "harbour"])
    model = Reader(FACTS, instead={"Turn": lambda _request: turn("search", words=word) if (word := next(words, "")) else turn()})
    with read_by(context, model, settings=model_settings(agent={"search_nodes": 2})) as (place, server):
        answer_at(place, QUESTION, reader="agent")
    looks = turns_of(server)[5]
    assert [": " in looks[f"look {number}"] for number in range(1, 7)] == [False, False, True, True, True, True]
    assert looks["look 2"] == f"crew\n{', '.join(line.partition(':')[0] for line in turns_of(server)[1]['look 2'].splitlines()[1:])}"
