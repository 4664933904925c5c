"""Summary, keywords and search text of nodes, by a model (eq. 11), corrected by rules where A.1 and A.2 ask for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from storage.records.documents import Node
from tasks.algorithms.text.standing import verbatim_terms, without_controls
from tasks.algorithms.text.words import first_words
from tasks.content_graph.analysis import NO_MEANING, with_index
from tasks.content_graph.asking import CALLS_AT_ONCE, PICTURE_CALLS_AT_ONCE, Replies, ask_in_groups, uses_short_forms
from tasks.content_graph.description import (
    Describing,
    Description,
    Descriptions,
    VisualDescription,
    VisualDescriptions,
    says_nothing,
    text_call,
    visual_call,
)
from tasks.content_graph.short_description import short_call, shortly_described
from tasks.models.chat.errors import ChatError
from tasks.models.chat.model import ChatModel
from tasks.settings.ingest import AnalysisSettings

D = TypeVar("D", Descriptions, VisualDescriptions)


@dataclass(frozen=True, slots=True)
class Described:
    """The nodes as the model described them, the others as rules did; by place, why a node got no description."""

    nodes: tuple[Node, ...]
    asked: int
    errors: Mapping[int, ChatError]


def describe_nodes(asking: Describing, *, chat: ChatModel, on_nodes: Callable[[int, int], None]) -> Described:
    """Have the model describe the nodes that rules have analyzed; `on_nodes(done, total)` is called as replies come.

    Raises ChatEndedError where the run cannot go on, StoppedError where the user ended it.
    """
    done = 0

    def count(more: int) -> None:
        nonlocal done
        done += more
        on_nodes(done, len(asking.places))

    if not chat.abilities.sees:
        asking = asking.without_pictures()
    count(0)
    if uses_short_forms(asking.settings.model.forms, chat):
        return _describe_one_by_one(asking, chat, count)
    at_once = PICTURE_CALLS_AT_ONCE if asking.scans else CALLS_AT_ONCE
    read = ask_in_groups(chat, asking.text_groups(), lambda group: text_call(group, asking), count, at_once=at_once)
    seen = ask_in_groups(
        chat, asking.visual_groups(), lambda group: visual_call(group, asking), count, at_once=PICTURE_CALLS_AT_ONCE
    )
    replies = dict([*_by_place(read), *_by_place(seen)])
    described = tuple(
        _apply_description(node, replies[place], asking.settings, seen=place in asking.pictures and place not in seen.unseen)
        if place in replies
        else node
        for place, node in enumerate(asking.nodes)
    )
    return Described(described, len(asking.places), read.errors | seen.errors)


def _describe_one_by_one(asking: Describing, chat: ChatModel, count: Callable[[int], None]) -> Described:
    places = [[place] for place in asking.places]
    replies = ask_in_groups(chat, places, lambda group: short_call(group[0], asking), count, at_once=PICTURE_CALLS_AT_ONCE)
    nodes = list(asking.nodes)
    for (place,), reply in replies.values:
        seen = place in asking.pictures and place not in replies.unseen
        nodes[place] = shortly_described(nodes[place], reply, asking.settings, seen=seen)
    return Described(tuple(nodes), len(places), replies.errors)


def _by_place(replies: Replies[D]) -> list[tuple[int, Description]]:
    return [(int(node.id[1:]), node) for _, value in replies.values for node in value.nodes]


def _apply_description(node: Node, reply: Description, settings: AnalysisSettings, *, seen: bool) -> Node:
    """Take the model's description, as far as it can be checked: a text's keywords stand in it, a figure's index comes first."""
    if says_nothing(reply.summary):
        return replace(node, summary=NO_MEANING, keywords=(), meaningless=True)
    words = without_controls(reply.words) if seen and isinstance(reply, VisualDescription) else ""
    source = None if seen else " ".join((*node.section_path, node.caption, node.content, node.picture_text))
    keywords = verbatim_terms(terms=reply.keywords, source=source, limit=settings.model.keywords)
    summary = first_words(with_index(without_controls(reply.summary), node), settings.summary_words)
    # Full text also finds a node by what it shows and by its kind, where its own words do not say that.
    added = [words, summary] if seen else []
    search_text = "\n".join(filter(None, [node.search_text, *added, without_controls(" ".join(reply.tags))]))
    return replace(
        node,
        summary=summary,
        keywords=keywords,
        search_text=search_text,
        picture_text=words or node.picture_text,
        meaningless=False,
    )
