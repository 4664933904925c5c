"""How a question's calls are put together and made: prompts filled, counted, asked side by side, and what failed noted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import BaseModel

from storage.records.documents import Passage
from tasks.asking.calls import call_book
from tasks.models.chat.call import ChatCall, nothing_wrong
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import Form
from tasks.models.chat.request import picture_tokens, text_tokens
from tasks.prompts.prompt import Piece, fence, load_prompt
from tasks.reading.shown import NodePictures
from tasks.settings.ask import AskSettings

if TYPE_CHECKING:
    from tasks.models.chat.model import ChatModel


class Keywords(Form):
    """Words of the question to search by."""

    keywords: list[str]


class Cited(Form):
    """Words of a passage, by the id that it was shown under."""

    passage: str
    quote: str


class PathAnswer(Form):
    """What one path says to the question."""

    facts: str
    status: Literal["supported", "not_reported"]
    whole: bool
    answer: str
    citations: list[Cited]


class Comparison(Form):
    """Whether two answers cannot both be true."""

    reason: str
    contradict: bool


class RatedBridge(Form):
    """Whether two passages have to do with each other for the question, and how much, 0..1."""

    pair: int
    connected: bool
    strength: float


class RatedBridges(Form):
    """A rate for each pair."""

    ratings: list[RatedBridge]


class RatedStep(Form):
    """How much reading one passage after the other helps, 0..1."""

    pair: int
    usefulness: float


class RatedSteps(Form):
    """A rate for each pair."""

    ratings: list[RatedStep]


class WholeAnswer(Form):
    """The answer of all paths together."""

    thought: str
    kind: Literal["number", "list", "yes_no", "string", "none"]
    answer: str
    items: list[str]
    whole: bool
    missing: str
    citations: list[Cited]


T = TypeVar("T", bound=BaseModel)

SPARE_TOKENS = 200
"""For the framing of messages and for the form, which some servers write into the prompt."""


@dataclass(frozen=True, slots=True)
class ModelContext:
    """What a chat model needs to answer questions of a corpus: `owner` keeps the replies, `titles` name the documents by id."""

    model: ChatModel
    settings: AskSettings
    owner: str
    titles: Mapping[str, str]
    pictures: NodePictures = field(repr=False)

    def call(
        self,
        prompt_name: str,
        item: str,
        form: type[T],
        *,
        question: str,
        tokens: int,
        pieces: Sequence[Piece] = (),
        pictures: Sequence[bytes] = (),
        check: Callable[[T], str] = nothing_wrong,
    ) -> ChatCall[T]:
        """Return the call that asks by this prompt; it has the prompt's name for a purpose. What documents say is in the pieces."""
        prompt, fenced = load_prompt(prompt_name), fence(pieces)
        material = {"mark": fenced.mark, "material": fenced.text} if pieces else {}
        return ChatCall(
            purpose=prompt_name,
            subject=self.owner,
            item=item,
            prompt=prompt.fill(question=question, **material),
            prompt_hash=prompt.hash,
            form=form,
            max_output_tokens=tokens,
            images=tuple(pictures),
            check=check,
        )

    def ask(self, calls: Sequence[ChatCall[T]]) -> list[T | ChatError]:
        """Count the calls, ask them all together, and return their values in order; what failed is noted, and stands in its place.

        Raises what ends the run: ChatEndedError, StoppedError.
        """
        book = call_book.get()
        book.count(call.item + call.prompt for call in calls)
        replies = self.model.ask_all(calls)
        book.notes.extend(f"the model did not help with {reply}" for reply in replies if isinstance(reply, ChatError))
        return replies

    def room(self, prompt_name: str, characters: int, *, question: str, tokens: int, pictures: int = 0) -> int:
        """Return how many characters of documents fit with so many pictures and the reply, at most as many as are allowed."""
        left = self._left(prompt_name, question, tokens)
        if left is None:
            return characters
        text = (left - pictures * self._picture_tokens) * self.settings.models.estimates.characters_per_token
        return max(0, min(characters, int(text)))

    def most_pictures(self, prompt_name: str, *, question: str, tokens: int) -> int:
        """Return how many pictures a call may have: they get at most half of the documents' room; a blind model gets none."""
        if not self.model.abilities.sees:
            return 0
        most, left = self.settings.reading.model.pictures, self._left(prompt_name, question, tokens)
        return most if left is None else max(0, min(most, left // 2 // self._picture_tokens))

    def _left(self, prompt_name: str, question: str, tokens: int) -> int | None:
        """Return how many tokens are left for documents; None where it is not known how many the model takes."""
        if not self.model.abilities.context_tokens:
            return None
        own = text_tokens(len(load_prompt(prompt_name).text) + len(question), 1, self.settings.models.estimates)
        return self.model.abilities.context_tokens - tokens - own - SPARE_TOKENS

    @property
    def _picture_tokens(self) -> int:
        return picture_tokens(1, self.settings.models)

    def text_of(self, node: Passage) -> str:
        section = " > ".join(node.section_path)
        return "\n".join(filter(None, [self.titles[node.document_id], section, node.caption, node.content or node.picture_text]))
