"""A question that is limited to documents, pages or a modality never leaves them."""

import pytest

from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from storage.records.documents import Modality
from tests.asking_worlds import COAST, READERS, answer_to

pytestmark = pytest.mark.usefixtures("in_asked_home")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "limits",
    [
        {"documents": ("strategy.pptx",)},
        {"documents": ("budget.xlsx", "product_page.html")},
        {"pages": "2-3"},
        {"pages": "4"},
        {"modality": Modality.TABLE},
        {"modality": Modality.FIGURE},
        {"documents": ("strategy.pptx",), "pages": "3-5", "modality": Modality.TEXT},
    ],
    ids=str,
)
def test_nothing_outside_its_limits_is_cited_ranked_or_walked(limits, reader):
    for question in (COAST, "What costs how many pounds in 2020?", "What does page 1 show of Table 1?"):
        answer = answer_to(question, reader=reader, **limits)
        first, last = map(int, (limits.get("pages", "1-99") + "-" + limits.get("pages", "1-99")).split("-")[:2])
        places = [
            *((page.document.name, page.page) for page in answer.pages),
            *((page.document.name, page.page) for page in answer.evidence_pages),
            *((place.document.name, place.page) for path in answer.paths for place in path.pages),
            *((citation.document.name, citation.page) for citation in answer.citations),
        ]
        assert places and all(first <= page <= last for _, page in places)
        assert not limits.get("documents") or {name for name, _ in places} <= set(limits["documents"])
        nodes = nodes_of({*(node for path in answer.paths for node in path.nodes), *(c.node_id for c in answer.citations)})
        assert not limits.get("modality") or {node.modality for node in nodes} <= {limits["modality"]}
        assert answer.scope["documents"] == list(limits.get("documents", ())) and answer.scope["pages"] == limits.get("pages")


def nodes_of(names):
    with open_for_reading(corpus_location("small")) as snapshot:
        return snapshot.nodes_by_id(sorted(names))
