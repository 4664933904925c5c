"""Describing nodes by a model of a small context or a slow one: one node a call, a short form, and less is believed."""

import re
from dataclasses import replace
from typing import Annotated

from storage.records.documents import Node
from tasks.algorithms.text.standing import find_words, verbatim_terms, without_controls
from tasks.content_graph.description import PURPOSE, Describing, Term, named
from tasks.models.chat.call import ChatCall
from tasks.models.chat.forms import Form, characters, items, largest_reply
from tasks.prompts.prompt import Piece, cut, fence, load_prompt

SUMMARY_CHARACTERS = 200
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class ShortDescription(Form):
    """The model's description of one node."""

    summary: Annotated[str, characters(SUMMARY_CHARACTERS)]
    keywords: Annotated[list[Term], items(5)]


def short_call(place: int, asking: Describing) -> ChatCall[ShortDescription]:
    """Return the call about one node; its picture comes with it where it is shown."""
    node, small = asking.nodes[place], asking.settings.model.small
    words = "\n".join(dict.fromkeys(filter(None, (node.caption, node.content, node.picture_text))))
    material = fence([Piece(node.modality.value, cut(words, small.characters_per_node))])
    prompt = load_prompt("analyze_small")
    return ChatCall(
        purpose=PURPOSE,
        subject=asking.document_id,
        item=named([place], asking.name),
        prompt=prompt.fill(
            kind=node.modality.value,
            words=str(small.summary_words),
            keywords=str(small.keywords),
            mark=material.mark,
            material=material.text,
        ),
        prompt_hash=prompt.hash,
        form=ShortDescription,
        max_output_tokens=largest_reply(ShortDescription),
        images=(asking.artifacts.read(asking.pictures[place]),) if place in asking.pictures else (),
    )
