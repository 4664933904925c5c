"""What the tests of readers by model share: a document of lengths, a question, and replies that plan or take a turn."""

from dataclasses import replace

from storage.records.documents import EdgeKind, NodeKind
from tests.asking_worlds import Passage, written
from tests.scripted_answers import path_answer

FOUR = ("plan", "agent", "map", "walk")
BOUNDS = {"plan": 24, "agent": 24, "map": 7, "walk": 42}
"""The calls that a reader may make."""
QUESTION = "Which is longer, the blade or the cable of the harbour?"
BLADE, CABLE, WIRE = "What is the length of the blade?", "What is the length of the cable?", "What is the length of the wire?"
DOCUMENT = written(
    "lengths",
    Passage("The blade is 20 metres long.", page=1, section="Blades"),
    Passage("Storm and tide.", page=2, section="Weather"),
    *(Passage(f"A price of steel, number {page}.", page=page, section="Prices") for page in range(3, 7)),
    Passage("The wire of the harbour is 35 metres long.", page=7, section="Wires"),
    Passage("A list of the crew: Diaz,", page=8, kind=NodeKind.LIST, section="Crew", arcs=((8, EdgeKind.CONTINUES, 0.9),)),
    Passage("and Perez.", page=9, kind=NodeKind.LIST, section="Crew"),
)
DOCUMENT = replace(
    DOCUMENT,
    sections=tuple(replace(one, summary="Of what moors a ship." if one.title == "Wires" else "") for one in DOCUMENT.sections),
)
FACTS = {"20 metres long": "20 metres", "35 metres long": "35 metres"}


def step(name, question, *needs):
    return {"id": name, "question": question, "needs": list(needs)}


def turn(tool="done", **more):
    return {"thought": "", "keep": [], "drop": [], "tool": tool, "words": "", "node": "", "where": [], "edge": ""} | more


def everything(request):
    """Reply to any form, as a model that goes on as long as it may."""
    return {
        "Planned": {"thought": "", "steps": [step(f"s{n}", f"What is the blade {n} of {request.number}?") for n in range(1, 5)]},
        "PlanCheck": {"reason": "", "sufficient": False, "missing": ["more"]},
        "Turn": turn("search", words=f"crew {request.number}"),
        "Located": {"thought": "", "places": ["p1"]},
        "Reflected": {"reason": "", "answered": False, "look_at": ["p1", "p2", "p3"]},
        "RatedPage": {"needed": "", "relevance": 3},
        "PathAnswer": path_answer("", status="not_reported"),
    }[request.form]


ALL_FORMS = dict.fromkeys(["Planned", "PlanCheck", "Turn", "Located", "Reflected", "RatedPage"], everything)
