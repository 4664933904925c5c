"""The replies of a scripted chat server to questions, by rule from what the prompt shows; and contexts in which it reads."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from storage.records.documents import EdgeKind
from tasks.algorithms.flow.sizes import FEATURES
from tasks.asking.calls import CallBook, call_bounds, counting_calls
from tasks.asking.question import AskContext
from tasks.asking.weights import ScopeWeights, Weights, shipped_weights
from tasks.models.endpoints import Endpoint
from tasks.reading.choice import open_reader
from tasks.settings.ask import AskSettings
from tasks.settings.readers import PAGES_PER_ANSWER
from tests.asking_worlds import Passage, written
from tests.chat_server import ChatRequest, ChatServer, chat_server

MARK = re.compile(r"^Lines that begin with ([0-9a-f]{8}) are ours", re.MULTILINE)
IMPATIENT = {
    "deadlines": {"first_token_seconds": 2.0, "idle_seconds": 1.0, "models_seconds": 2.0},
    "retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.05, "down_seconds": 0.0, "attempts": 2, "silent_attempts": 1},
}
LONG = "The harbour is {}0 metres deep at low tide, say the pilots, who sound it with a lead line every spring, storm or no storm."
STRAIT = written(
    "strait",
    *[Passage(f"The harbour {word} the tide.", page=page) for page, word in enumerate(("and", "without", "before", "behind"), 1)],
    *[Passage(LONG.format(page), page=page, arcs=((10 - page, EdgeKind.SEMANTIC, 0.9),)) for page in (5, 6)],
)
"""Short passages that no arc joins to the long ones, which can answer: with two sinks, little of the flow fits."""


def pages_at(price: float) -> Weights:
    """Return weights by which every page is as probable as any, and costs so much."""
    alike = ScopeWeights(bias=0.0, weights=(0.0,) * len(FEATURES), prices=dict.fromkeys(PAGES_PER_ANSWER, price))
    return shipped_weights().model_copy(update={"document": alike, "corpus": alike})


EVERY_PAGE, ONE_PAGE = pages_at(0.0), pages_at(1.0)


def pieces_of(request: ChatRequest) -> list[tuple[str, str]]:
    """Return the heading and the text of each piece that the prompt shows, in order."""
    mark = MARK.search(request.prompt)[1]
    material = request.prompt.partition(f"\n{mark} ")[2].rpartition(f"\n{mark} end")[0]
    return [part.partition("\n")[::2] for part in material.split(f"\n{mark} ")]


def passages_of(request: ChatRequest) -> dict[str, tuple[str, str]]:
    """Return the heading and the text of each passage, by the id that may be cited."""
    return {heading.partition(":")[0]: (heading, text) for heading, text in pieces_of(request) if re.match(r"n\d+:", heading)}


@dataclass
class Reader:
    """Finds the answers whose words it sees, cites them, and takes two different answers for a contradiction.

    `facts` say which words of a passage mean which answer. What is in `instead` is replied in place of the rule, by form.
    """

    facts: Mapping[str, str]
    contradicts: bool = True
    rate: float = 0.5
    instead: dict[str, Any] = field(default_factory=dict)

    def __call__(self, request: ChatRequest) -> Any:
        if request.form in self.instead:
            told = self.instead[request.form]
            return told(request) if callable(told) else told
        return getattr(self, request.form)(request)

    def Keywords(self, request: ChatRequest) -> Any:
        return {"keywords": re.findall(r"\w{4,}", question_of(request))}

    def found(self, request: ChatRequest) -> list[tuple[str, dict[str, str]]]:
        return [
            (answer, {"passage": name, "quote": words})
            for name, (_, text) in passages_of(request).items()
            for words, answer in self.facts.items()
            if words in text
        ]

    def PathAnswer(self, request: ChatRequest) -> Any:
        found = self.found(request)
        if not found:
            return path_answer("", status="not_reported")
        return path_answer(found[0][0], [cited for answer, cited in found if answer == found[0][0]])

    def Comparison(self, _request: ChatRequest) -> Any:
        return {"reason": "they differ", "contradict": self.contradicts}

    def RatedBridges(self, request: ChatRequest) -> Any:
        return {"ratings": [{"pair": pair, "connected": True, "strength": self.rate} for pair in pairs_of(request)]}

    def RatedSteps(self, request: ChatRequest) -> Any:
        return {"ratings": [{"pair": pair, "usefulness": self.rate} for pair in pairs_of(request)]}

    def WholeAnswer(self, request: ChatRequest) -> Any:
        found = self.found(request)
        return whole_answer(found[0][0], [found[0][1]]) if found else whole_answer("", kind="none")


def question_of(request: ChatRequest) -> str:
    return re.findall(r"^Question: (.*)$", request.prompt, re.MULTILINE)[-1]


def pairs_of(request: ChatRequest) -> list[int]:
    return sorted({int(number) for heading, _ in pieces_of(request) for number in re.findall(r"^pair (\d+),", heading)})


def path_answer(answer: str, citations: Any = (), **more: Any) -> dict[str, Any]:
    told = {"facts": "as it stands", "status": "supported", "whole": True, "answer": answer, "citations": list(citations)}
    return told | more


def whole_answer(answer: str, citations: Any = (), **more: Any) -> dict[str, Any]:
    told = {"thought": "so it is", "kind": "string", "answer": answer, "items": [], "whole": True, "missing": ""}
    return told | {"citations": list(citations)} | more


def forms(server: ChatServer) -> Counter[str]:
    """Return how many requests came for each form."""
    return Counter(request.form for request in server.requests)


def of_form(server: ChatServer, form: str) -> list[ChatRequest]:
    return [request for request in server.requests if request.form == form]


def model_settings(**groups: Any) -> AskSettings:
    """Return settings by which an impatient model reads, whose answers need proof; each argument is a group, laid over."""
    reading = {"by": "model", "unproven": False} | groups.pop("reading", {})
    return AskSettings.model_validate({"reading": reading, "models": IMPATIENT | groups.pop("models", {}), **groups})


@contextmanager
def read_by(
    context: AskContext, reply: Any, *, settings: AskSettings | None = None, **server: Any
) -> Iterator[tuple[AskContext, ChatServer]]:
    """Give the context with a model that replies so, and the server behind it."""
    chosen = settings or model_settings()
    with (
        chat_server(reply, **server) as served,
        open_reader(Endpoint(served.base_url), chosen, context.snapshot) as reader,
    ):
        yield replace(context, settings=chosen, reader=reader), served


@contextmanager
def booked(context: AskContext) -> Iterator[CallBook]:
    """Give the book of a question whose steps are taken one by one."""
    with counting_calls("a" * 32, call_bounds(context.settings, gated=True)) as book:
        yield book
