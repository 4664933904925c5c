"""Questions in a row: what came before one, how it is understood after that, and what it takes along."""

from dataclasses import dataclass

from storage.corpus.snapshot import Snapshot
from storage.records.answers import Answer
from tasks.algorithms.questions.following import understand
from tasks.asking.request import LONGEST_QUESTION, AskRequest, QuestionError, clean

LOOKED_THROUGH = 20
"""Newest answers among which that to the question before is looked for, where a client keeps the conversation itself."""


@dataclass(frozen=True, slots=True)
class Thread:
    """The question before as it was `understood`, empty where there is none, and its answer, where that is kept."""

    understood: str = ""
    followed: Answer | None = None

    @property
    def follows(self) -> str | None:
        return self.followed.answer_id if self.followed else None

    @property
    def cited(self) -> tuple[str, ...]:
        """The nodes that the answer before cites."""
        return tuple(dict.fromkeys(one.node_id for one in self.followed.citations)) if self.followed else ()

    def id_for(self, answer_id: str) -> str:
        """Return the id of the thread of an answer: that of the first in it."""
        return self.followed.thread if self.followed else answer_id

    def understand(self, question: str) -> str:
        cited = self.followed.citations[:1] if self.followed else ()
        page = next((f"page {one.page} of {one.document.name}" for one in cited), "")
        return understand(question, self.understood, page)

    def limit(self, request: AskRequest) -> AskRequest:
        """Return the request with the limits of the question before, where it has none of its own."""
        if not self.followed or request.documents or request.pages or request.modality:
            return request
        return AskRequest.model_validate({**dict(request), **self.followed.scope})


ALONE = Thread()


def find_thread(snapshot: Snapshot, request: AskRequest) -> Thread:
    """Return what came before the question of a request.

    A client that keeps the conversation itself gives the questions `earlier`: what it says of answers is no evidence. Raise
    QuestionError where several questions follow, UnknownError where the answer before is gone or of another corpus, AmbiguousError.
    """
    if not request.follow and not request.earlier:
        return ALONE
    if (many := len(request.questions)) > 1:
        raise QuestionError(
            f"one question follows another, and {many} were asked",
            str(many),
            "ask them one by one, each following the last",
        )
    if request.follow:
        followed = snapshot.answer(request.follow)
        return Thread(followed.asked_as, followed)
    before = ""
    for question in request.earlier:
        before = understand(clean(question)[:LONGEST_QUESTION], before) or before
    newest = snapshot.newest_answers(LOOKED_THROUGH)
    return Thread(before, next((answer for answer in newest if answer.asked_as == before), None))
