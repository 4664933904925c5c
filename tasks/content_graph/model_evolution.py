"""Evolution by a model (eq. 14): in each round it judges the links of every node, and rewrites what its neighbours say as well."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.records.documents import Edge, Node, Vectors
from tasks.algorithms.evolution import Links, candidates_of, links_after
from tasks.algorithms.links import nearest_neighbours
from tasks.algorithms.text.standing import verbatim_terms
from tasks.algorithms.text.words import first_words
from tasks.content_graph.analysis import embedding_text
from tasks.content_graph.evolution import edges_between, window_pairs
from tasks.content_graph.links import Judge, Judgement
from tasks.content_graph.model_analysis import with_index
from tasks.models.chat.errors import ChatError
from tasks.settings.ingest import EvolutionSettings


@dataclass(frozen=True, slots=True)
class EvolvedNodes:
    """The nodes as the last round left them, their vectors and edges; why each of the nodes in `errors` was not judged."""

    nodes: tuple[Node, ...]
    vectors: Vectors
    edges: tuple[Edge, ...]
    errors: Mapping[int, ChatError]


@dataclass(frozen=True, slots=True)
class _State:
    """What a round reads of the round before it."""

    nodes: tuple[Node, ...]
    vectors: Vectors
    links: Links


def evolve_by_model(
    *,
    nodes: Sequence[Node],
    initial_vectors: Vectors,
    subjects: Sequence[int],
    settings: EvolutionSettings,
    judge: Judge,
    embed: Callable[[Sequence[str]], Vectors],
) -> EvolvedNodes:
    """Run the rounds; every call of a round reads the round before only, so that no result depends on the order of replies.

    `nodes` stand in reading order, `subjects` are the places of those that are judged; one that is no subject is linked by those
    that are, one without meaning has window edges only. From round 1 on vectors are those of summary and keywords, whatever those
    of round 0 were made of.
    """
    window = window_pairs(nodes, settings.window)
    layout = {(int(low), int(high)): 0 for low, high in window}
    state = _State(tuple(nodes), initial_vectors, Links(layout, {}))
    errors: dict[int, ChatError] = {}
    for number in range(1, settings.rounds + 1):
        candidates = _candidates(state, subjects, settings)
        judgements, failed = judge.judge(state.nodes, candidates)
        errors |= failed
        state = _after(state, candidates, judgements, number, settings, embed)
    pairs = sorted(state.links.rounds)
    edges = edges_between(
        state.nodes,
        state.vectors,
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        [state.links.rounds[pair] for pair in pairs],
        layout,
        minimum=settings.minimum_edge,
        relation=state.links.relation,
    )
    return EvolvedNodes(state.nodes, state.vectors, edges, errors)


def _candidates(state: _State, subjects: Sequence[int], settings: EvolutionSettings) -> dict[int, tuple[int, ...]]:
    meaningful = np.flatnonzero([not node.meaningless for node in state.nodes])
    indices, cosines = nearest_neighbours(vectors=state.vectors[meaningful], limit=settings.neighbours)
    return candidates_of(rows=meaningful, indices=indices, cosines=cosines, pairs=state.links.rounds, askable=frozenset(subjects))


def _after(
    before: _State,
    candidates: Mapping[int, Sequence[int]],
    judgements: Mapping[int, Judgement],
    number: int,
    settings: EvolutionSettings,
    embed: Callable[[Sequence[str]], Vectors],
) -> _State:
    """Return what a round leaves; a node without a judgement keeps what it has."""
    named = {place: judgement.links for place, judgement in judgements.items()}
    nodes = tuple(
        _rewritten(node, judgements[place], number, settings) if place in judgements else node
        for place, node in enumerate(before.nodes)
    )
    return _State(
        nodes=nodes,
        vectors=embed([embedding_text(node, "paper") for node in nodes]),
        links=links_after(before=before.links, candidates=candidates, named=named, number=number),
    )


def _rewritten(node: Node, judgement: Judgement, number: int, settings: EvolutionSettings) -> Node:
    """Return the node with its new words; keywords that neither it nor its text had are left out."""
    if not judgement.summary:
        return node
    source = " ".join((*node.keywords, *node.section_path, node.caption, node.content, node.picture_text))
    keywords = verbatim_terms(terms=judgement.keywords, source=source, limit=settings.model.keywords)
    summary = first_words(with_index(judgement.summary, node), settings.model.summary_words)
    return replace(node, summary=summary, keywords=keywords or node.keywords, round=number)
