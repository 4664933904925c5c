"""Asking the model which of its candidates a node is linked with, and how (eq. 14)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from storage.artifacts import ArtifactStore
from storage.records.documents import Node
from tasks.algorithms.graphs.graph_query import Relation
from tasks.algorithms.sharing import group_in_order
from tasks.algorithms.text.standing import without_controls
from tasks.content_graph.asking import CALLS_AT_ONCE, PICTURE_CALLS_AT_ONCE, ask_in_groups, fenced_call
from tasks.content_graph.description import NodeId, Term, entries_per_call, listing, name_places, wrong_ids
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import Form, characters, items
from tasks.models.chat.model import ChatModel
from tasks.prompts.prompt import Piece, cut
from tasks.settings.ingest import ModelEvolutionSettings, ShortFormSettings

PURPOSE = "evolve"
KEYWORD_BREAK = "; "


class NamedLink(Form):
    """A link to another note, with what it means."""

    to: NodeId
    relation: Relation


class NoteJudgement(Form):
    id: NodeId
    links: Annotated[list[NamedLink], items(16)]
    update: bool
    summary: Annotated[str, characters(300)]
    keywords: Annotated[list[Term], items(10)]


class NoteJudgements(Form):
    nodes: list[NoteJudgement]


NONE = "none"


class Relations(Form):
    """How the first of some notes is related to each of the others, in their order: the short form."""

    relations: list[Relation | Literal["none"]]


@dataclass(frozen=True, slots=True)
class LinkJudgement:
    """The relation to each node it is linked with, by place; the new summary and keywords, "" where they stay."""

    links: Mapping[int, str]
    summary: str
    keywords: tuple[str, ...]


Seen = tuple[str, tuple[str, ...], tuple[tuple[int, str], ...]]
"""All that a judgement rests on: the node's summary and keywords, its candidates with their summaries."""

Judged = tuple[dict[int, LinkJudgement], dict[int, ChatError]]
"""The judgements by place, and why a node got none."""

Known = Mapping[int, tuple[Seen, LinkJudgement]]
"""The last judgement on each node, by place, with what it rests on."""


@dataclass(slots=True)
class Judge:
    """Judges the nodes of one document in a round, one in a call and without rewriting where its forms are `short`.

    `on_nodes(done, total)` counts from what the rounds before had `done`. A node with one of the `pictures`, artifacts by place, is
    judged in a call of its own.
    """

    document_id: str
    name: str
    settings: ModelEvolutionSettings
    short: ShortFormSettings | None
    chat: ChatModel
    on_nodes: Callable[[int, int], None]
    total: int
    artifacts: ArtifactStore
    pictures: Mapping[int, str]
    done: int = 0

    def judge(
        self, nodes: Sequence[Node], candidates: Mapping[int, Sequence[int]], known: Known
    ) -> tuple[Known, dict[int, ChatError]]:
        """Return what is known with the judgements on the nodes that have candidates, and why one has none, by place.

        What sees the same as when it was judged before is not asked again.

        Raises ChatEndedError where the run cannot go on, StoppedError where the user ended it.
        """
        seen = {place: _seen(place, nodes, others) for place, others in candidates.items()}
        asked = [place for place in sorted(candidates) if place not in known or known[place][0] != seen[place]]
        self._count(len(candidates) - len(asked))
        new, errors = self._ask_shortly(asked, nodes, candidates) if self.short else self._ask(asked, nodes, candidates)
        after = {place: judged for place, judged in known.items() if place not in errors}
        after |= {place: (seen[place], judgement) for place, judgement in new.items()}
        return after, errors

    def _ask(self, asked: Sequence[int], nodes: Sequence[Node], candidates: Mapping[int, Sequence[int]]) -> Judged:
        sizes = [self._size(place, nodes, candidates[place]) for place in asked]
        most = entries_per_call(NoteJudgements, "nodes", self.settings.nodes_per_call)
        groups = group_in_order(sizes=sizes, most_items=most, most_size=self.settings.characters_per_call)
        replies = ask_in_groups(
            self.chat,
            [[asked[place] for place in group] for group in groups],
            lambda group: self._call(group, nodes, candidates),
            self._count,
            at_once=PICTURE_CALLS_AT_ONCE if self.pictures else CALLS_AT_ONCE,
        )
        judgements = [(int(judgement.id[1:]), judgement) for _, value in replies.values for judgement in value.nodes]
        return {place: _judgement(judgement, candidates[place]) for place, judgement in judgements}, replies.errors

    def _ask_shortly(self, asked: Sequence[int], nodes: Sequence[Node], candidates: Mapping[int, Sequence[int]]) -> Judged:
        replies = ask_in_groups(
            self.chat,
            [[place] for place in asked],
            lambda group: self._short_call(group[0], nodes, candidates[group[0]]),
            self._count,
        )
        named = {group[0]: zip(candidates[group[0]], value.relations, strict=True) for group, value in replies.values}
        return {
            place: LinkJudgement({other: relation for other, relation in pairs if relation != NONE}, "", ())
            for place, pairs in named.items()
        }, replies.errors

    def _count(self, more: int) -> None:
        self.done += more
        self.on_nodes(self.done, self.total)

    def _call(
        self, group: Sequence[int], nodes: Sequence[Node], candidates: Mapping[int, Sequence[int]], *, sees: bool = True
    ) -> ChatCall[NoteJudgements]:
        picture = self.pictures.get(group[0], "") if sees else ""
        ids = tuple(f"n{place}" for place in group)
        others = sorted({other for place in group for other in candidates[place]}.difference(group))
        pieces = [self._subject(place, nodes[place], candidates[place], seen=bool(picture)) for place in group]
        pieces += [Piece(f"n{other}", nodes[other].summary) for other in others]
        shown = frozenset((*ids, *(f"n{other}" for other in others)))
        call = fenced_call(
            self.document_id,
            f"links of {name_places(group, self.name)}",
            PURPOSE,
            "evolve_enriched" if self.settings.summary == "enriched" else "evolve",
            listing(NoteJudgements, "nodes", len(group)),
            pieces,
            check=lambda value: wrong_judgement(value, ids, shown),
            slots={
                "words": str(self.settings.summary_words),
                "keywords": str(self.settings.keywords),
                "count": str(len(ids)),
            },
        )
        if not picture:
            return call
        return replace(
            call, images=(self.artifacts.read(picture),), without_pictures=self._call(group, nodes, candidates, sees=False)
        )

    def _short_call(self, place: int, nodes: Sequence[Node], candidates: Sequence[int]) -> ChatCall[Relations]:
        assert self.short is not None
        count, most = len(candidates), self.short.characters_per_summary
        pieces = [Piece(f"note {number}", cut(nodes[one].summary, most)) for number, one in enumerate((place, *candidates), 1)]
        return fenced_call(
            self.document_id,
            f"links of {name_places([place], self.name)}",
            PURPOSE,
            "evolve_small",
            listing(Relations, "relations", count),
            pieces,
            check=lambda value: (
                "" if len(value.relations) == count else f"there are {len(value.relations)} relations; give {count}"
            ),
            plain=True,
            slots={"count": str(count)},
        )

    def _subject(self, place: int, node: Node, candidates: Sequence[int], *, seen: bool) -> Piece:
        parts = [node.summary, f"Keywords: {KEYWORD_BREAK.join(node.keywords)}"]
        if self.settings.content_characters:
            words = " ".join(dict.fromkeys((node.caption, node.content, node.picture_text))).split()
            parts.append(f"Text: {cut(' '.join(words), self.settings.content_characters)}")
        shown = "seen in the picture, whose words are the document's too, " if seen else ""
        return Piece(f"n{place}, {shown}candidates: {' '.join(f'n{other}' for other in candidates)}", "\n".join(parts))

    def _size(self, place: int, nodes: Sequence[Node], candidates: Sequence[int]) -> int:
        """Return at most how many characters a node and its candidates take; one that is seen takes a whole call."""
        if place in self.pictures:
            return self.settings.characters_per_call
        own = self._subject(place, nodes[place], candidates, seen=False)
        return len(own.text) + sum(len(nodes[other].summary) for other in candidates)


def wrong_judgement(value: NoteJudgements, asked: Sequence[str], shown: frozenset[str]) -> str:
    """Say what is wrong with judgements on these nodes, "" where nothing is."""
    if wrong := wrong_ids([judgement.id for judgement in value.nodes], asked):
        return wrong
    for judgement in value.nodes:
        if any(link.to not in shown or link.to == judgement.id for link in judgement.links):
            return f"{judgement.id} is linked to an id that is not one of its candidates"
        if judgement.update and not judgement.summary.strip():
            return f"the new summary of {judgement.id} is empty"
    return ""


def _judgement(judgement: NoteJudgement, candidates: Sequence[int]) -> LinkJudgement:
    """Read a judgement; a link with a note that was shown for another one's sake is left out."""
    links = {int(link.to[1:]): link.relation for link in judgement.links}
    summary = without_controls(judgement.summary) if judgement.update else ""
    return LinkJudgement({other: links[other] for other in candidates if other in links}, summary, tuple(judgement.keywords))


def _seen(place: int, nodes: Sequence[Node], candidates: Sequence[int]) -> Seen:
    node = nodes[place]
    return node.summary, node.keywords, tuple((other, nodes[other].summary) for other in candidates)
