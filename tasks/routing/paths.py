"""What is read of a question: chains of nodes, however they were found."""

from collections.abc import Sequence
from dataclasses import dataclass

from storage.artifacts import hash_bytes
from tasks.algorithms.arrays import strongest
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question


@dataclass(frozen=True, slots=True)
class ChosenPath:
    """A chain that is read: node positions in the candidates, its flow, and its quality and share where chains compete."""

    nodes: tuple[int, ...]
    flow: float
    quality: float | None = None
    share: float | None = None


def bundled(chains: Sequence[Sequence[int]], *, most: int) -> tuple[ChosenPath, ...]:
    """Return a path for each chain; of more than `most` neighbours are read together, and the first ones last."""
    if len(chains) <= most:
        return tuple(ChosenPath(tuple(chain), flow=1.0) for chain in chains)
    least, larger = divmod(len(chains), most)
    sizes = [least] * (most - larger) + [least + 1] * larger
    ends = [sum(sizes[: place + 1]) for place in range(most)]
    groups = [chains[end - size : end] for size, end in zip(sizes, ends, strict=True)]
    return tuple(ChosenPath(tuple(dict.fromkeys(node for chain in group for node in chain)), float(len(group))) for group in groups)


@question_step("best-passages", lambda paths: {"paths": hash_bytes(repr(paths).encode())}, retries=0)
def best_passages(_question: Question, scores: NodeScores, context: AskContext) -> tuple[ChosenPath, ...]:
    """Choose the most relevant nodes, each a path of its own that carries no flow: the baseline."""
    best = strongest(scores=scores.combined, count=context.settings.selection.read)
    return tuple(ChosenPath(nodes=(node,), flow=0.0) for node in best.tolist())
