"""Answers that are kept: the same question, asked of the same snapshot in the same way, is given the same answer again.

Of an evaluation's questions nothing is kept, and none is answered from here.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from storage.artifacts import ArtifactDamagedError
from storage.catalog.current import CurrentDamagedError, forget_asked, read_current
from storage.codec import CodecError, from_json, shortened, to_json
from storage.corpus.snapshot import Snapshot
from storage.errors import ExpectedError
from storage.memo import StepMemo, asked_steps
from storage.records.answers import Answer
from storage.records.documents import identify
from storage.records.language import language
from tasks.asking.deciding import code_identity, deciding_settings
from tasks.asking.question import owner_of
from tasks.asking.request import AskRequest
from tasks.lineage.writing import working_at
from tasks.step import OFTEN, Codec, StepKey, Workplace, step


class KeptAnswerGoneError(ExpectedError):
    """What was kept a moment ago went with a document that was removed, or was damaged since."""


def decoded(parts: Sequence[bytes]) -> Answer:
    return from_json(Answer, parts[0])


@step(
    "kept-answer",
    version="1",
    retries=OFTEN,
    cache_key=lambda key: key,
    codec=Codec(lambda answer: [to_json(answer)], decoded),
)
def kept_answer(key: StepKey) -> Answer:
    """Give the answer that was kept when the same was asked before."""
    raise KeptAnswerGoneError(f"the answer that was kept to {key.name!r} is gone")


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """The answers of one snapshot to questions asked in one way; `memo` holds what their steps made, too."""

    request: AskRequest
    snapshot: Snapshot
    memo: StepMemo

    @classmethod
    def of(cls, request: AskRequest, snapshot: Snapshot) -> "KeptAnswers":
        return cls(request, snapshot, asked_steps(snapshot.location, snapshot.number))

    def key(self, text: str, model: str) -> StepKey:
        """Return what decides the answer to a question, where this chat model reads, or rules ("") do."""
        scope = self.request.model_dump_json(include={"documents", "pages", "modality"})
        asked = (text, scope, self.request.reader, deciding_settings(self.request.settings), language())
        answering = (self.snapshot.sha256, self.snapshot.embedder.key, model, code_identity())
        return StepKey(owner_of(text), identify(*asked, *answering), shortened(text))

    def holds(self, key: StepKey) -> bool:
        return kept_answer.remembered(key, self.memo) is not None

    async def find(self, key: StepKey, place: Workplace) -> Answer | None:
        """Return the answer that is kept, as it is given again: in a run by a task that is shown as cached."""
        with working_at(replace(place, memo=self.memo)) as steps, suppress(KeptAnswerGoneError, ArtifactDamagedError, CodecError):
            answer = await kept_answer.submit(key)
            paid = answer.usage
            usage = replace(
                paid,
                calls=0,
                input_tokens=0,
                output_tokens=0,
                cost=0.0,
                cached=paid.calls + paid.cached,
                seconds={record.step: record.seconds for record in steps},
            )
            return replace(answer, usage=usage, cached=True)
        return None

    def keep(self, key: StepKey, answer: Answer) -> None:
        """Keep an answer where its snapshot is still the published one; nothing is lost where there is no room for it.

        A removal publishes first and forgets then: what is written before its look is forgotten by it, later things by this one.
        """
        with suppress(OSError, CodecError, CurrentDamagedError):
            if self._is_published():
                kept_answer.remember(key, answer, self.memo)
            if not self._is_published():
                forget_asked(self.snapshot.location.asked_of(self.snapshot.number))

    def forget(self, key: StepKey) -> None:
        """Drop what is kept of a question, in whatever way it was asked."""
        self.memo.forget(key.remembered_for)

    def _is_published(self) -> bool:
        current = read_current(self.snapshot.location)
        return current is not None and current.sha256 == self.snapshot.sha256
