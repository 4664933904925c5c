"""What a model is shown of nodes before it reads them, a line each under an id, and of what was read."""

from collections.abc import Sequence

from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.text import shortened
from tasks.asking.question import AskContext
from tasks.asking.records import PathReading
from tasks.prompts.prompt import cut

LINE_CHARACTERS = 160
"""Of what a node says of itself."""
ANSWER_CHARACTERS, QUOTES_SHOWN = 400, 3
"""Of a reading."""


def node_lines(graph: CandidateGraph, nodes: Sequence[int], ids: Sequence[str], context: AskContext) -> str:
    """Return a line for each node: its id, what it is, where it stands, and its summary."""
    view = context.snapshot.view
    read = view.columns.take(view.adjacency.positions_of([graph.ids[node] for node in nodes]), ["section_path", "summary"])
    lines = []
    for node, name, path, summary in zip(nodes, ids, read["section_path"].tolist(), read["summary"].tolist(), strict=True):
        document = context.names[graph.document_ids[graph.documents[node]]].name
        place = f"page {graph.pages[node]}" + (f" of {document}" if len(graph.document_ids) > 1 else "")
        under = f", {' > '.join(path)}" if path else ""
        lines.append(f"{name}: {NODE_KINDS[graph.kinds[node]].value}, {place}{under}: {shortened(summary, LINE_CHARACTERS)}")
    return "\n".join(lines)


def said_by(reading: PathReading) -> str:
    """Return what a reader answered, and its first quotes."""
    answer = cut(reading.answer, ANSWER_CHARACTERS) if reading.supported else "nothing found"
    quotes = [f'Quote, page {quote.node.page}: "{quote.text}"' for quote in reading.quotes[:QUOTES_SHOWN]]
    return "\n".join([f"Answer: {answer}", *quotes])
