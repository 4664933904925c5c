"""`agent` with a chat model: turn by turn it keeps what it was shown, chooses the next look at the documents, and takes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from storage.artifacts import hash_bytes
from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.records.answers import TraceKind
from tasks.algorithms.arrays import strongest
from tasks.algorithms.graphs.graph_query import ARC_KINDS, MOST_SHOWN, Condition, GraphQuery, QueryError, run_query
from tasks.asking.question import AskContext, find_terms, question_step
from tasks.asking.records import Duty, NodeScores, Question
from tasks.asking.second_look import score_and_look_again
from tasks.prompts.prompt import Piece
from tasks.readers.agent import Kept, around, in_words, near_best, trace_step
from tasks.readers.forms import ShortTurn, Turn, model_words
from tasks.readers.graph_indexes import index_of, named_arcs
from tasks.readers.pages import node_lines
from tasks.readers.whole_documents import ranked_documents
from tasks.routing.way import Way

IDS_ALONE = re.compile(r"(?:n\d+|\W)*")
"""What a small model writes where it has nothing to search for."""
SHORT_TURNS = 3
"""Of a small model: it only says what else to search for."""
REPEATED, WITHOUT_NEWS, LOST = 3, 3, 2
"""This many equal looks, looks in a row that show nothing new, or unusable replies in a row end it."""
OUTLINE_LINES, SHOWN_IN_FULL = 60, 4
"""Titles of the outline that are shown; looks, the last ones, that are shown with all they found, those before by their ids."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look at the documents, what it found, in words and as nodes."""

    asked: str
    told: str
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns so far. Nodes were `shown` in this order and keep their ids, n1, n2, ...; `ended` says why it is over.

    `sought` are the words of a search that was chosen and not yet taken. `heard` of the turns `taken` had a usable reply; the last
    `lost` in a row had none. `overview` lists what can be asked about, `rest` asks for what the last query did not show.
    """

    overview: Piece
    kept: tuple[int, ...] = ()
    shown: tuple[int, ...] = ()
    looks: tuple[Look, ...] = ()
    taken: int = 0
    heard: int = 0
    idle: int = 0
    lost: int = 0
    ended: str = ""
    sought: str = ""
    rest: GraphQuery | None = None
    way: Way = field(default_factory=Way)

    def hash(self) -> Mapping[str, str]:
        return {"kept": hash_bytes(repr(self.kept).encode()), "looks": str(len(self.looks)), "ended": self.ended}

    def ids_of(self, nodes: Sequence[int]) -> list[str]:
        places = {node: f"n{place}" for place, node in enumerate(self.shown, 1)}
        return [places[node] for node in nodes]

    @property
    def named(self) -> dict[str, tuple[int, ...]]:
        """What a model may keep and drop: each node by its id, and all that a look showed."""
        looks = {f"look {number}": one.nodes for number, one in enumerate(self.looks, 1)}
        return {**{f"n{place}": (node,) for place, node in enumerate(self.shown, 1)}, **looks}

    def nodes_of(self, names: Sequence[str]) -> list[int]:
        named = self.named
        return [node for name in names for node in named[name]]

    def and_look(self, asked: str, nodes: Sequence[int], told: str, graph: CandidateGraph, context: AskContext) -> Turns:
        """Return the turns with a look: all that it found is shown."""
        new = [node for node in nodes if node not in self.shown]
        idle = 0 if new else self.idle + 1
        ended = self.ended or ("looks that showed nothing new" if idle == WITHOUT_NEWS else "")
        after = replace(self, shown=(*self.shown, *new), idle=idle, ended=ended)
        lines = node_lines(graph, nodes, after.ids_of(nodes), context)
        return replace(after, looks=(*self.looks, Look(asked, f"{told}\n{lines}".strip(), tuple(nodes))))

    def and_found(
        self,
        kind: TraceKind,
        asked: str,
        nodes: Sequence[int],
        told: str,
        graph: CandidateGraph,
        context: AskContext,
        *,
        total: int,
    ) -> Turns:
        """Return the turns with a look and its step."""
        # What a model looks for may be words of anything that it was shown before.
        needs, said = range(1, self.way.last + 1), "" if nodes else told
        way = trace_step(self.way, kind, asked, nodes, graph, context, total=total, needs=needs, said=said)
        return replace(self, way=way).and_look(asked, nodes, told, graph, context)

    @property
    def result(self) -> Kept:
        """What was kept, or what the last look showed; nothing where no reply was usable."""
        if not self.heard:
            return Kept((), Way())
        shown = next((look.nodes for look in reversed(self.looks) if look.nodes), ())
        return Kept(self.kept or shown, replace(self.way, counts={"turns": float(self.taken)}), self.ended)


@question_step("first-look", Turns.hash)
def first_look(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Turns:
    """Show the best nodes of the question before the first turn; for a small model those near the best are kept."""
    best = strongest(scores=scores.combined, count=context.settings.agent.search_nodes).tolist()
    kept = near_best(graph, scores, context) if context.reader.short else ()
    best = [*dict.fromkeys((*best, *kept))]
    way = trace_step(Way(), TraceKind.SEARCH, question.text, best, graph, context)
    turns = Turns(_overview(graph, scores, context), kept=tuple(kept), way=way)
    return turns.and_look(question.text, best, "", graph, context)


def _overview(graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Piece:
    """Tell what can be asked of, and how: the documents, their outline, how many there are of each kind, the looks."""
    documents = ranked_documents(graph, scores)
    pages = {record.id: record.pages for record in context.snapshot.documents()}
    names = [f"{context.names[document].name}, {pages[document]} pages" for document in documents]
    sections = sorted(context.snapshot.sections_of(documents), key=lambda section: section.level)[:OUTLINE_LINES]
    ordered = sorted(sections, key=lambda section: (section.document_id, section.ordinal))
    titles = [f"{section.title}, page {section.first_page}" for section in ordered]
    kinds = Counter(NODE_KINDS[kind].value for kind in graph.kinds.tolist())
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    looks = f"looks that may be chosen: {', '.join(_tools(context))}"
    if not context.reader.short and (named := named_arcs(graph, context)[2].tolist()):
        related = Counter(ARC_KINDS[kind] for kind in named)
        counts += f"\nrelations: {', '.join(f'{count} {relation}' for relation, count in related.most_common())}"
    return Piece("the documents", "\n".join([looks, *names, counts, *titles]))


def _tools(context: AskContext) -> tuple[str, ...]:
    own = context.settings.agent.tools
    return ("search", *own, *["more"] * ("query" in own), "done")


@question_step("turn", Turns.hash, retries=0, reads=True)
def take_turn(question: Question, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Let the model keep, drop and choose its next look, and take it: one step per turn, so that a run can be read."""
    most = SHORT_TURNS if context.reader.short else context.settings.agent.steps
    turn, taken = _ask_for_turn(question, turns, context), turns.taken + 1
    last = "the limit of turns" if taken == most else ""
    if turn is None:
        lost = turns.lost + 1
        return replace(turns, taken=taken, lost=lost, ended="unusable replies" if lost == LOST else last)
    dropped = set(turns.nodes_of(turn.drop))
    kept = tuple(node for node in dict.fromkeys((*turns.kept, *turns.nodes_of(turn.keep))) if node not in dropped)
    turns = replace(turns, kept=kept, taken=taken, heard=turns.heard + 1, lost=0)
    if last or turn.tool == "done":
        return replace(turns, ended="done" if turn.tool == "done" else last)
    return look(turn, graph, scores, turns, context)


def _ask_for_turn(question: Question, turns: Turns, context: AskContext) -> Turn | None:
    early = len(turns.looks) - SHOWN_IN_FULL
    looks = [
        Piece(f"look {place + 1}", f"{one.asked}\n{one.told if place >= early else ', '.join(turns.ids_of(one.nodes))}")
        for place, one in enumerate(turns.looks)
    ]
    pieces = (turns.overview, *looks, Piece("kept so far", ", ".join(turns.ids_of(turns.kept)) or "nothing"))
    item = f"turn {turns.taken + 1}"
    if context.reader.short:
        (short,) = context.reader.do(question, [Duty("agent_turn_small", item, ShortTurn, pieces)])
        words = model_words(short.root) if short else ""
        tool = "done" if IDS_ALONE.fullmatch(words) else "search"
        return None if short is None else Turn(thought="", keep=[], drop=[], tool=tool, words=words, node="", where=[], edge="")
    (turn,) = context.reader.do(
        question, [Duty("agent_turn", item, Turn, pieces, lambda value: _wrong(value, turns, _tools(context)))]
    )
    return turn


def _wrong(turn: Turn, turns: Turns, tools: Sequence[str]) -> str:
    if turn.tool not in tools:
        return f"{turn.tool} cannot be chosen; there is {', '.join(tools)}"
    if turn.tool == "more" and turns.rest is None:
        return "there is no query that has more to show"
    named = turns.named
    if unknown := [
        name for name in (*turn.keep, *turn.drop, *([turn.node] if turn.tool == "context" else [])) if name not in named
    ]:
        return f"{', '.join(unknown[:3])} was not shown; name ids that were"
    if turn.tool == "context" and len(named[turn.node]) != 1:
        return "a context is that of one passage; name its id"
    if turn.tool == "search" and not model_words(turn.words):
        return "a search needs words"
    return "" if turn.tool != "query" or turn.where else "a query needs at least one condition in where"


def look(turn: Turn, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Take the look that the model chose, but for a search; one that was taken before shows nothing again."""
    words, query = model_words(turn.words), turns.rest if turn.tool == "more" and turns.rest else _query_of(turn, context)
    told, asked = "", {"search": words, "context": f"around {turn.node}"}.get(turn.tool, in_words(query))
    if before := [number for number, one in enumerate(turns.looks, 1) if one.asked == asked]:
        again = replace(turns, ended="the same look again and again" if len(before) + 1 == REPEATED else "")
        return again.and_look(asked, (), f"the same as look {before[0]}", graph, context)
    if turn.tool == "search":
        return replace(turns, sought=words)
    if turn.tool == "context":
        kind, (nodes, more) = TraceKind.CONTEXT, around(turns.nodes_of([turn.node])[0], graph, context)
        total, told = len(nodes) + more, f"{more} more" if more else ""
    else:
        kind, (nodes, total, told) = TraceKind.QUERY, _run_query(query, graph, scores, context)
        shown = query.skip + len(nodes)
        turns = replace(turns, rest=replace(query, skip=shown) if shown < total else None)
    return turns.and_found(kind, asked, nodes, told, graph, context, total=total)


async def search(question: Question, graph: CandidateGraph, turns: Turns, context: AskContext) -> Turns:
    """Take the search that a turn chose, as a question's own: with a second look where there is a model for one."""
    found = await find_terms.submit(question.id, turns.sought, context)
    terms = replace(found, id=question.id, text=turns.sought, places=())
    return await show_found.submit(question, graph, await score_and_look_again(terms, graph, context), turns, context)


@question_step("show-found", Turns.hash, retries=0)
def show_found(_question: Question, graph: CandidateGraph, scores: NodeScores, turns: Turns, context: AskContext) -> Turns:
    """Show the best nodes of a search; for a small model those near the best are kept."""
    nodes = strongest(scores=scores.combined, count=context.settings.agent.search_nodes).tolist()
    kept = near_best(graph, scores, context) if context.reader.short else ()
    nodes = [*dict.fromkeys((*nodes, *kept))]
    after = replace(turns, sought="", kept=tuple(dict.fromkeys((*turns.kept, *kept))))
    return after.and_found(TraceKind.SEARCH, turns.sought, nodes, "", graph, context, total=len(nodes))


def _query_of(turn: Turn, context: AskContext) -> GraphQuery:
    return GraphQuery(
        where=tuple(Condition(one.field, one.op, model_words(one.value)) for one in turn.where),
        edge=turn.edge,
        limit=min(context.settings.agent.context_nodes, MOST_SHOWN),
    )


def _run_query(query: GraphQuery, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> tuple[list[int], int, str]:
    """Run the query; the result of an invalid one says what the language allows."""
    try:
        result = run_query(query, index_of(graph, scores, context))
    except QueryError as error:
        return [], 0, str(error)
    left = "" if result.total else f"; each condition left {', '.join(map(str, result.left))}"
    return list(result.nodes), result.total, f"{len(result.nodes)} of {result.total}{left}"
