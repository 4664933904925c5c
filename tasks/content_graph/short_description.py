"""Describing nodes by a model with a short context: one node per call, a short form, and less trust in the reply."""

import re
from dataclasses import replace
from typing import Annotated

from storage.records.documents import Node
from tasks.algorithms.text.standing import find_words, verbatim_terms, without_controls
from tasks.algorithms.text.stems import stems_in
from tasks.algorithms.text.words import STOP_WORDS
from tasks.content_graph.analysis import with_index
from tasks.content_graph.asking import fenced_call
from tasks.content_graph.description import PURPOSE, Describing, name_places
from tasks.models.chat.call import ChatCall
from tasks.models.chat.forms import Form, characters, items
from tasks.prompts.prompt import Piece, cut
from tasks.settings.ingest import AnalysisSettings

SUMMARY_CHARACTERS = 200
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class ShortDescription(Form):
    """The model's description of one node, about 30 words."""

    summary: Annotated[str, characters(SUMMARY_CHARACTERS)]
    keywords: Annotated[list[Annotated[str, characters(30)]], items(4)]


def short_call(place: int, asking: Describing) -> ChatCall[ShortDescription]:
    """Return the call about one node; its picture comes with it where it is shown."""
    node, short = asking.nodes[place], asking.settings.model.short
    pieces = [Piece(node.modality.value, cut(_words(node), short.characters_per_node))]
    call = fenced_call(
        asking.document_id,
        name_places([place], asking.name),
        PURPOSE,
        "analyze_small",
        ShortDescription,
        pieces,
        plain=True,
        slots={"kind": node.modality.value, "keywords": str(short.keywords)},
    )
    if place not in asking.pictures:
        return call
    return replace(call, images=(asking.artifacts.read(asking.pictures[place]),), without_pictures=call)


def shortly_described(node: Node, reply: ShortDescription, settings: AnalysisSettings, *, seen: bool) -> Node:
    """Return the node with what stands of the model's description; where nothing does, the words of the rules stay.

    Of what a picture shows nothing can be checked.
    """
    source = None if seen else " ".join((*node.section_path, _words(node)))
    keywords = verbatim_terms(terms=reply.keywords, source=source, limit=settings.model.short.keywords)
    summary = _whole(without_controls(reply.summary))
    taken = bool(summary) and (source is None or _stands(summary, source, settings.model.short.standing))
    return replace(
        node,
        summary=with_index(summary, node) if taken else node.summary,
        keywords=keywords or node.keywords,
        search_text="\n".join(filter(None, [node.search_text, summary if seen else ""])),
        meaningless=node.meaningless and not (taken and seen),
    )


def _words(node: Node) -> str:
    return "\n".join(dict.fromkeys(filter(None, (node.caption, node.content, node.picture_text))))


def _whole(summary: str) -> str:
    """Return the summary without the word in which the form's bound cut it."""
    return summary if len(summary) < SUMMARY_CHARACTERS else summary.rpartition(" ")[0]


def _stands(summary: str, source: str, share: float) -> bool:
    """Say whether a summary is of the source: all its numbers and this share of its words stand there."""
    words = stems_in(summary).difference(STOP_WORDS)
    return (
        bool(words)
        and all(find_words(source, number) for number in NUMBER.findall(summary))
        and len(words & stems_in(source)) >= share * len(words)
    )
