"""How a question's calls are put together and made: prompts filled, counted, asked side by side, and what failed noted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from storage.errors import parts_of
from storage.records.documents import Passage
from tasks.asking.calls import call_book
from tasks.models.chat.call import ChatCall, nothing_wrong
from tasks.models.chat.errors import ChatEndedError, ChatError, NoMoreRepliesError
from tasks.models.chat.forms import largest_reply
from tasks.models.chat.request import picture_tokens, text_tokens
from tasks.prompts.prompt import Piece, filled, load_prompt
from tasks.reading.shown import NodePictures
from tasks.settings.ask import AskSettings

if TYPE_CHECKING:
    from tasks.models.chat.model import ChatModel


T = TypeVar("T", bound=BaseModel)

FAILURES_NAMED = 3
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
        pieces: Sequence[Piece] = (),
        pictures: Sequence[bytes] = (),
        check: Callable[[T], str] = nothing_wrong,
        plain: bool = False,
        draft: str = "",
    ) -> ChatCall[T]:
        """Return the call that asks by this prompt; it has the prompt's name for a purpose. What documents say is in the pieces."""
        prompt = load_prompt(prompt_name)
        return ChatCall(
            purpose=prompt_name,
            subject=self.owner,
            item=item,
            prompt=filled(prompt, question, pieces, plain=plain),
            prompt_hash=prompt.hash,
            form=form,
            max_output_tokens=largest_reply(form),
            images=tuple(pictures),
            check=check,
            draft=draft,
            system=prompt.system,
        )

    def ask(self, calls: Sequence[ChatCall[T]], *, reads: bool = True) -> list[T | ChatError]:
        """Count the calls, ask them all together, and return their values in order; what failed is noted, and stands in its place.

        Those that do not read have a part of the time, and what is late then ends nothing. Raises StoppedError, and ChatEndedError
        where the question requires the model to read and the time is up, or the run ended.
        """
        book = call_book.get()
        book.count(call.item + call.prompt for call in calls)
        if calls:
            book.begin(calls[0].purpose, len(calls))
        until = book.deadline if reads else book.duties_end
        replies = self.model.ask_all(calls, until=until, goes_on=not (book.require_model and reads))
        book.notes.extend(_failures(calls, replies))
        if ended := [reply for reply in replies if isinstance(reply, NoMoreRepliesError)]:
            if book.require_model and reads:
                what, remedy = parts_of(ended[0])
                raise ChatEndedError(f"the model was too slow with {what}", remedy=remedy)
            book.failed |= reads
        return replies

    def room(self, prompt_name: str, form: type[BaseModel], characters: int, *, question: str, pictures: int = 0) -> int:
        """Return how many characters of documents fit beside these pictures and the reply, within the allowed number."""
        left = self._tokens_left(prompt_name, form, question)
        if left is None:
            return characters
        text = (left - pictures * self._picture_tokens) * self.settings.models.estimates.characters_per_token
        return max(0, min(characters, int(text)))

    def most_pictures(self, prompt_name: str, form: type[BaseModel], wanted: int, *, question: str) -> int:
        """Return how many pictures a call may have: they get at most half of the documents' room; a blind model gets none."""
        if not self.model.abilities.sees:
            return 0
        left = self._tokens_left(prompt_name, form, question)
        return wanted if left is None else max(0, min(wanted, left // 2 // self._picture_tokens))

    def _tokens_left(self, prompt_name: str, form: type[BaseModel], question: str) -> int | None:
        """Return how many tokens are left for documents; None where it is not known how many the model takes."""
        if not self.model.abilities.context_tokens:
            return None
        prompt = load_prompt(prompt_name)
        own = text_tokens(len(prompt.system) + len(prompt.text) + len(question), 2, self.settings.models.estimates)
        return self.model.abilities.context_tokens - largest_reply(form) - own - SPARE_TOKENS

    @property
    def _picture_tokens(self) -> int:
        return picture_tokens(1, self.settings.models)

    def text_of(self, node: Passage) -> str:
        section = " > ".join(node.section_path)
        return "\n".join(filter(None, [self.titles[node.document_id], section, node.caption, node.content or node.picture_text]))


def _failures(calls: Sequence[ChatCall[T]], replies: Sequence[T | ChatError]) -> Iterator[str]:
    """Yield a note for each reason why calls failed, with the items that it cost; eleven paths mostly fail for the same."""
    items: dict[str, list[str]] = defaultdict(list)
    for call, reply in zip(calls, replies, strict=True):
        if isinstance(reply, ChatError):
            items[str(reply).removeprefix(f"{call.item}: ")].append(call.item)
    for reason, failed in items.items():
        more = f" and {len(failed) - FAILURES_NAMED} more" if len(failed) > FAILURES_NAMED else ""
        yield f"the model failed on {', '.join(failed[:FAILURES_NAMED])}{more}: {reason}"
