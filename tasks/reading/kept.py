"""Answers that are kept: the same question, asked of the same snapshot in the same way, is given the same answer again.

Of an evaluation's questions nothing is kept, and none is answered from here.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from storage.artifacts import ArtifactDamagedError
from storage.catalog.current import delete_question_files
from storage.codec import CodecError, from_json, to_json
from storage.corpus.snapshot import Snapshot
from storage.memo import StepMemo, question_memo
from storage.records.answers import Answer
from storage.records.documents import identify
from storage.records.language import language
from storage.records.steps import StepRecord
from storage.text import shorten
from tasks.asking.deciding import code_identity, deciding_settings
from tasks.asking.question import owner_of
from tasks.asking.request import AskRequest
from tasks.asking.threads import Thread
from tasks.lineage.writing import working_at
from tasks.models.endpoints import Endpoint
from tasks.models.reranker import name_of_reranker
from tasks.step import OFTEN, Codec, StepKey, Workplace, step
from tasks.watching.watching import watch_question


def decode_answer(parts: Sequence[bytes]) -> Answer:
    return from_json(Answer, parts[0])


@step(
    "kept-answer",
    version="1",
    retries=OFTEN,
    cache_key=lambda key: key,
    codec=Codec(lambda answer: [to_json(answer)], decode_answer),
)
def recall_answer(key: StepKey) -> Answer:
    """Give the answer that was kept when the same was asked before."""
    # It was kept a moment ago: since then a document was removed, or the file was damaged.
    raise ArtifactDamagedError(f"the answer that was kept to {key.name!r} is gone", key.name)


def give_again(answer: Answer, steps: Sequence[StepRecord]) -> Answer:
    """Return a kept answer to give again: its paid calls count as `cached`, and the seconds are those of these steps."""
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


_at_work: dict[tuple[int, str, bool, float | None], "asyncio.Future[Answer | None]"] = {}
"""Answers in progress in this process, by event loop and all that decides the answer; None where one failed."""


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """The answers of one snapshot to questions asked in one way; `memo` holds what their steps made, too."""

    request: AskRequest
    thread: Thread
    snapshot: Snapshot
    memo: StepMemo

    @classmethod
    def of(cls, request: AskRequest, thread: Thread, snapshot: Snapshot) -> "KeptAnswers":
        return cls(request, thread, snapshot, question_memo(snapshot.location, snapshot.number))

    def key(self, text: str, server: Endpoint | None, model: str) -> StepKey:
        """Return what decides the answer to a question, where this chat model reads, or rules ("") do.

        The same words in another thread are another question.
        """
        scope = self.request.model_dump_json(include={"documents", "pages", "modality"})
        asked = (text, self.thread.complete(text), self.thread.follows or "", *self.thread.lent_to(text), language())
        way = (scope, self.request.reader, deciding_settings(self.request.settings))
        served = server.identity if server else ""
        reranker = name_of_reranker(self.request.settings)
        answering = (self.snapshot.current.sha256, self.snapshot.embedder.key, reranker, served, model, code_identity())
        return StepKey(owner_of(text), identify(*asked, *way, *answering), shorten(text))

    def holds(self, key: StepKey) -> bool:
        return recall_answer.find_artifacts(key, self.memo) is not None

    async def give_or(self, key: StepKey, place: Workplace, answer: Callable[[], Awaitable[Answer]]) -> Answer:
        """Give the kept answer, or that of another request of this process for the same; else `answer`.

        If the other request fails, all that waited for it answer by themselves.
        """
        if given := await self._again(key, place):
            return given
        loop = asyncio.get_running_loop()
        # Two requests share an answer only if they would behave alike without the model.
        same = id(loop), key.inputs, self.request.require_model, self.request.settings.seconds
        if same in _at_work:
            made = await asyncio.shield(_at_work[same])
            return (await self._again(key, place) or give_again(made, [])) if made else await answer()
        first: asyncio.Future[Answer | None] = loop.create_future()
        _at_work[same], made = first, None
        try:
            made = await answer()
            return made
        finally:
            del _at_work[same]
            first.set_result(made)

    async def _again(self, key: StepKey, place: Workplace) -> Answer | None:
        if not await asyncio.to_thread(self.holds, key):
            return None
        given = await self.find(key, place)
        if given is not None:
            with watch_question(place.run_id, given.answer_id, self.request.reader) as ended:
                ended(given.status)
        return given

    async def find(self, key: StepKey, place: Workplace) -> Answer | None:
        """Return the answer that is kept, as it is given again: in a run by a task that is shown as cached."""
        with working_at(replace(place, memo=self.memo)) as steps, suppress(ArtifactDamagedError, CodecError):
            return give_again(await recall_answer.submit(key), steps)
        return None

    def keep(self, key: StepKey, answer: Answer) -> None:
        """Keep an answer if its snapshot is still the published one; a full disk does no harm.

        A removal publishes first and then forgets: it forgets what was written before; the second check forgets the rest.
        """
        with suppress(OSError, CodecError):
            if self.snapshot.is_published():
                recall_answer.remember(key, answer, self.memo)
            if not self.snapshot.is_published():
                delete_question_files(self.snapshot.location.question_folder(self.snapshot.number))

    def forget(self, key: StepKey) -> None:
        """Drop all kept answers to a question, however it was asked."""
        self.memo.forget(key.kept_under)
