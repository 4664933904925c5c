"""Evolution by a model (eq. 14): in each round it judges the links of every node, and rewrites what its neighbours say as well."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.records.documents import Edge, Node, Vectors
from tasks.algorithms.links import Links, Pair, candidates_of, kept_links, links_after, nearest_neighbours
from tasks.algorithms.text.standing import verbatim_terms
from tasks.algorithms.text.words import first_words
from tasks.content_graph.analysis import embedding_text, with_index
from tasks.content_graph.evolution import edges_between, meaningful_rows, window_pairs
from tasks.content_graph.links import Judge, Known, LinkJudgement
from tasks.models.chat.errors import ChatError
from tasks.settings.ingest import EvolutionSettings


@dataclass(frozen=True, slots=True)
class EvolvedNodes:
    """What a round leaves, all that the next one reads: the nodes, their vectors and their links.

    `known` is what was judged up to now, with what each judgement rests on; `errors` says why a node was not judged in some round.
    """

    nodes: tuple[Node, ...]
    vectors: Vectors
    links: Links
    known: Known
    errors: Mapping[int, ChatError]

    @property
    def texts(self) -> tuple[str, ...]:
        """What is embedded after a round: summary and keywords, whatever the vectors of round 0 were made of."""
        return tuple(embedding_text(node, "paper") for node in self.nodes)


def before_the_first(nodes: Sequence[Node], initial_vectors: Vectors, settings: EvolutionSettings) -> EvolvedNodes:
    """Return what the first round begins with: the layout's links; `nodes` stand in reading order."""
    layout = {(int(low), int(high)): 0 for low, high in window_pairs(nodes, settings.window)}
    if settings.model.directed:
        layout |= {(high, low): 0 for low, high in layout}
    return EvolvedNodes(tuple(nodes), initial_vectors, Links(layout, {}), {}, {})


def judge_round(
    before: EvolvedNodes, number: int, *, subjects: Sequence[int], settings: EvolutionSettings, judge: Judge
) -> EvolvedNodes:
    """Return what a round leaves, still with the vectors of the round before: those of its `texts` are to be made.

    Every call reads the round before only, so that no result depends on the order of replies. `subjects` are the places of the
    nodes that are judged; one that is none is linked by those that are, one without meaning has window edges only, and one that
    could not be judged keeps what it has.
    """
    directed = settings.model.directed
    if judge.short:
        candidates = _candidates(before, subjects, judge.short.neighbours, linked=(), directed=directed)
    else:
        candidates = _candidates(before, subjects, settings.neighbours, linked=before.links.rounds, directed=directed)
    known, failed = judge.judge(before.nodes, candidates, before.known)
    judgements = {place: known[place][1] for place in candidates if place in known}
    named = {place: judgement.links for place, judgement in judgements.items()}
    return EvolvedNodes(
        nodes=tuple(
            _rewrite(node, judgements[place], number, settings) if place in judgements else node
            for place, node in enumerate(before.nodes)
        ),
        vectors=before.vectors,
        links=(kept_links if directed else links_after)(before=before.links, candidates=candidates, named=named, number=number),
        known=known,
        errors={**before.errors, **failed},
    )


def edges_of_rounds(evolved: EvolvedNodes, settings: EvolutionSettings) -> tuple[Edge, ...]:
    """Return the window and semantic edges that the rounds left."""
    links = evolved.links
    rounds: dict[Pair, int] = {}
    for one, other in links.rounds:
        pair = min(one, other), max(one, other)
        rounds[pair] = max(links.rounds[one, other], rounds.get(pair, 0))
    pairs = sorted(rounds)
    return edges_between(
        evolved.nodes,
        evolved.vectors,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        [rounds[pair] for pair in pairs],
        set(map(tuple, window_pairs(evolved.nodes, settings.window).tolist())),
        minimum=settings.minimum_edge,
        arcs=links.rounds if settings.model.directed else None,
        relation=links.relation,
    )


def _candidates(
    before: EvolvedNodes, subjects: Sequence[int], neighbours: int, *, linked: Collection[Pair], directed: bool
) -> dict[int, tuple[int, ...]]:
    meaningful = meaningful_rows(before.nodes)
    indices, cosines = nearest_neighbours(vectors=before.vectors[meaningful], limit=neighbours)
    askable = frozenset(subjects)
    return candidates_of(rows=meaningful, indices=indices, cosines=cosines, pairs=linked, askable=askable, directed=directed)


def _rewrite(node: Node, judgement: LinkJudgement, number: int, settings: EvolutionSettings) -> Node:
    """Return the node with its new words; keywords that neither it nor its text had are left out."""
    if not judgement.summary:
        return node
    source = " ".join((*node.keywords, *node.section_path, node.caption, node.content, node.picture_text))
    keywords = verbatim_terms(terms=judgement.keywords, source=source, limit=settings.model.keywords)
    summary = first_words(with_index(judgement.summary, node), settings.model.summary_words)
    return replace(node, summary=summary, keywords=keywords or node.keywords, round=number)
