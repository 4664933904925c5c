"""`agent` with a chat model: turn by turn it keeps what it was shown and chooses the next look at the documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.artifacts import hash_bytes
from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.records.answers import TraceKind
from tasks.algorithms.arrays import strongest
from tasks.algorithms.graphs.communities import context_of
from tasks.algorithms.graphs.graph_query import run_query
from tasks.algorithms.graphs.query_form import Condition, GraphQuery, QueryError, Walk
from tasks.asking.candidates import score
from tasks.asking.question import AskContext, find_terms, question_step
from tasks.asking.records import Duty, NodeScores, Question
from tasks.asking.request import clean
from tasks.prompts.prompt import Piece
from tasks.readers.agent import Kept, near_best, traced
from tasks.readers.forms import ShortTurn, Turn
from tasks.readers.graph_indexes import communities_in, index_of, is_layout, ordinals_in
from tasks.readers.node_lines import node_lines
from tasks.readers.whole_documents import ranked_documents
from tasks.routing.way import Way

SHORT_TURNS = 3
"""Of a small model: it only says what else to search for."""
REPEATED, WITHOUT_NEWS, LOST = 3, 3, 2
"""So many looks of the same kind, looks in a row that show nothing new, and replies in a row that are of no use end it."""
OUTLINE_LINES, SHOWN_IN_FULL = 60, 4
"""Titles of the outline that are shown; looks, the last ones, that are shown with all they found, those before by their ids."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the documents, what it found, in one piece, and which nodes that are."""

    asked: str
    told: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns so far. Nodes were `shown` in this order and keep their ids, n1, n2, ...; `ended` says why it is over.

    Of the turns `taken` so many were `heard`; `lost` replies in a row were of no use.
    """

    kept: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    looks: tuple[Look, ...] = ()
    next: Turn | ShortTurn | None = None
    taken: int = 0
    heard: int = 0
    idle: int = 0
    lost: int = 0
    ended: str = ""
    way: Way = field(default_factory=Way)

    def hash(self) -> Mapping[str, str]:
        return {"kept": hash_bytes(repr(self.kept).encode()), "looks": str(len(self.looks)), "ended": self.ended}

    def ids_of(self, nodes: Sequence[int]) -> list[str]:
        places = {node: f"n{place}" for place, node in enumerate(self.shown, 1)}
        return [places[node] for node in nodes]

    def nodes_of(self, ids: Sequence[str]) -> list[int]:
        places = {f"n{place}": node for place, node in enumerate(self.shown, 1)}
        return [places[name] for name in ids]

    def and_look(self, asked: str, nodes: Sequence[int], told: str, graph: CandidateGraph, context: AskContext) -> Turns:
        """Return the turns with a look: all that it found is shown."""
        new = [node for node in nodes if node not in self.shown]
        after = replace(self, shown=(*self.shown, *new), idle=0 if new else self.idle + 1, next=None)
        lines = node_lines(graph, nodes, after.ids_of(nodes), context)
        return replace(after, looks=(*self.looks, Look(asked, f"{told}\n{lines}".strip(), tuple(nodes))))

    @property
    def result(self) -> Kept:
        """What was kept, or what the last look showed; nothing where no reply was of any use."""
        shown = next((look.nodes for look in reversed(self.looks) if look.nodes), ()) if self.heard else ()
        return Kept(self.kept or shown, replace(self.way, counts={"turns": float(self.taken)}), self.ended)


@question_step("first-look", Turns.hash)
def first_look(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Turns:
    """Show the best nodes of the question before the first turn; a small model keeps those that come near the best."""
    best = strongest(scores=scores.combined, count=context.settings.agent.search_nodes).tolist()
    kept = near_best(graph, scores, context) if context.reader.short else ()
    way = traced(Way(), TraceKind.SEARCH, question.text, best, graph, context)
    return Turns(kept=tuple(kept), way=way).and_look(f"search: {question.text}", best, "", graph, context)


@question_step("turn", Turns.hash, retries=0, reads=True)
def take_turn(question: Question, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Have the model keep, drop and choose its next look, and take that: one step a turn, so that a run can be read."""
    after = chosen(question, graph, scores, turns, context)
    return after if after.ended or after.next is None else look(question, graph, scores, after, context)


def chosen(question: Question, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    kept_ids = ", ".join(turns.ids_of(turns.kept)) or "nothing"
    pieces = (_overview(graph, scores, context), *_looks(turns), Piece("kept so far", kept_ids))
    most = SHORT_TURNS if context.reader.short else context.settings.agent.steps
    turn: Turn | ShortTurn | None
    if context.reader.short:
        (turn,) = context.reader.do(question, [Duty("agent_turn_small", f"turn {turns.taken + 1}", ShortTurn, pieces)])
        done = turn is not None and not clean(turn.words)
    else:
        known = {f"n{place}" for place in range(1, len(turns.shown) + 1)}
        duty = Duty("agent_turn", f"turn {turns.taken + 1}", Turn, pieces, lambda value: _wrong(value, known))
        (turn,) = context.reader.do(question, [duty])
        done = turn is not None and turn.tool == "done"
    if turn is None:
        lost, taken = turns.lost + 1, turns.taken + 1
        why = "replies that are of no use" if lost == LOST else "as many turns as may be" if taken == most else ""
        return replace(turns, taken=taken, lost=lost, ended=why)
    kept = turns.kept
    if isinstance(turn, Turn):
        dropped = set(turns.nodes_of(turn.drop))
        kept = tuple(node for node in dict.fromkeys((*kept, *turns.nodes_of(turn.keep))) if node not in dropped)
    after = replace(turns, kept=kept, next=turn, taken=turns.taken + 1, heard=turns.heard + 1, lost=0)
    if done:
        return replace(after, next=None, ended="done")
    return replace(after, ended="as many turns as may be") if after.taken == most else after


def _wrong(turn: Turn, known: set[str]) -> str:
    named = [*turn.keep, *turn.drop, *([turn.node] if turn.tool == "context" else [])]
    if unknown := [name for name in named if name not in known]:
        return f"{', '.join(unknown[:3])} was not shown; name ids that were"
    if turn.tool == "search" and not clean(turn.words):
        return "a search has words"
    return "" if turn.tool != "query" or turn.where else "a query has at least one condition in where"


def _overview(graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Piece:
    """Tell what can be asked of: the documents, their outline, and how many there are of each kind."""
    documents = ranked_documents(graph, scores)
    pages = {record.id: record.pages for record in context.snapshot.documents()}
    names = [f"{context.names[document].name}, {pages[document]} pages" for document in documents]
    sections = sorted(context.snapshot.sections_of(documents), key=lambda section: section.level)[:OUTLINE_LINES]
    ordered = sorted(sections, key=lambda section: (section.document_id, section.ordinal))
    titles = [f"{section.title}, page {section.first_page}" for section in ordered]
    kinds = Counter(NODE_KINDS[kind].value for kind in graph.kinds.tolist())
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    return Piece("the documents", "\n".join([*names, counts, *titles]))


def _looks(turns: Turns) -> list[Piece]:
    early = len(turns.looks) - SHOWN_IN_FULL
    return [
        Piece(f"look {place + 1}", f"{look.asked}\n{look.told if place >= early else ', '.join(turns.ids_of(look.nodes))}")
        for place, look in enumerate(turns.looks)
    ]


def look(question: Question, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Take the look that the model chose; one that was taken before shows nothing again."""
    turn = turns.next
    assert turn is not None, "a turn chose it"
    asked = look_in_words(turn)
    before = sum(one.asked == asked for one in turns.looks)
    if before:
        again = turns.and_look(asked, (), "the same as before", graph, context)
        return replace(again, ended="the same look again and again") if before + 1 == REPEATED else _without_news(again)
    if isinstance(turn, ShortTurn) or turn.tool == "search":
        terms = find_terms(question.id, clean(turn.words), context)
        scores = score(replace(terms, id=question.id, text=clean(turn.words), places=()), graph, context)
    return _without_news(_looked(turn, graph, scores, turns, context))


def look_in_words(turn: Turn | ShortTurn) -> str:
    if isinstance(turn, ShortTurn) or turn.tool == "search":
        return f"search: {clean(turn.words)}"
    if turn.tool == "context":
        return f"context of {turn.node}"
    where = " and ".join(f"{one.field} {one.op} {clean(one.value)}" for one in turn.where)
    return f"query: {where}" + (f", then {turn.edge}" if turn.edge else "")


def _without_news(turns: Turns) -> Turns:
    return turns if turns.ended or turns.idle < WITHOUT_NEWS else replace(turns, ended="looks that showed nothing new")


def _looked(turn: Turn | ShortTurn, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Search, query or look around; `scores` are those of the words that are searched for."""
    settings = context.settings.agent
    asked, told, kind = look_in_words(turn), "", TraceKind.SEARCH
    if isinstance(turn, ShortTurn) or turn.tool == "search":
        nodes = strongest(scores=scores.combined, count=settings.search_nodes).tolist()
        total = len(nodes)
    elif turn.tool == "context":
        kind, (node,) = TraceKind.CONTEXT, turns.nodes_of([turn.node])
        nodes, total, told = _around(node, graph, context)
    else:
        kind = TraceKind.QUERY
        nodes, total, told = _queried(turn, graph, scores, context)
    way = traced(turns.way, kind, asked, nodes, graph, context, total=total, said=told if not nodes else "")
    kept = turns.kept
    if isinstance(turn, ShortTurn):
        kept = tuple(dict.fromkeys((*kept, *near_best(graph, scores, context))))
    return replace(turns, way=way, kept=kept).and_look(asked, nodes, told, graph, context)


def _around(node: int, graph: CandidateGraph, context: AskContext) -> tuple[list[int], int, str]:
    layout = is_layout(graph.arc_kinds)
    around, more = context_of(
        node,
        communities=communities_in(int(graph.documents[node]), graph, context),
        ordinals=ordinals_in(graph, context),
        tails=graph.tails[layout],
        heads=graph.heads[layout],
        most=context.settings.agent.context_nodes,
    )
    return around, len(around) + more, f"{more} more" if more else ""


def _queried(turn: Turn, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> tuple[list[int], int, str]:
    """Run the query; one that the language does not have is a result that says what it has."""
    query = GraphQuery(
        where=tuple(Condition(one.field, one.op, one.value) for one in turn.where),
        walk=(Walk(turn.edge),) if turn.edge else (),
        with_start=bool(turn.edge),
        limit=context.settings.agent.context_nodes,
    )
    try:
        result = run_query(query, index_of(graph, scores, context))
    except QueryError as error:
        return [], 0, str(error)
    left = f"; each condition left {', '.join(map(str, result.left))}" if not result.total else ""
    return list(result.nodes), result.total, f"{len(result.nodes)} of {result.total}{left}"
