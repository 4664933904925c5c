"""Questions in a row: what came before one, what it takes from that, and which passages are lent to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import filterfalse

from storage.corpus.snapshot import Snapshot
from storage.records.answers import Answer, Citation
from tasks.algorithms.questions.following import complete
from tasks.algorithms.questions.talk import is_aside, talk_of
from tasks.asking.request import LONGEST_QUESTION, AskRequest, QuestionError, clean

LOOKED_THROUGH = 20
"""Newest answers among which that to the question before is looked for, where a client keeps the conversation itself."""


@dataclass(frozen=True, slots=True)
class Thread:
    """What came before a question: the question `before`, completed, and what its answer cites; and that answer, if it is followed.

    `pages` are the numbers of the pages of documents, by id.

    Where a client keeps the conversation itself none is followed: an answer to the same question may be somebody else's.
    """

    before: str = ""
    cited: tuple[Citation, ...] = ()
    pages: Mapping[str, int] = field(default_factory=dict)
    followed: Answer | None = None

    @property
    def follows(self) -> str | None:
        return self.followed.answer_id if self.followed else None

    def id_for(self, answer_id: str) -> str:
        """Return the id of the thread of an answer: that of the first in it."""
        return self.followed.thread if self.followed else answer_id

    def complete(self, question: str) -> str:
        return complete(
            question, self.before, [(one.page, self.pages.get(one.document.id, one.page), one.document.name) for one in self.cited]
        )

    def lent_to(self, question: str) -> tuple[str, ...]:
        """Return the nodes that were cited before, for a question that leaves something out."""
        return tuple(dict.fromkeys(one.node_id for one in self.cited)) if self.complete(question) != question else ()

    def limit(self, request: AskRequest) -> AskRequest:
        """Return the request with those limits of the question before that it has not itself, unless it names documents."""
        if not self.followed or request.documents:
            return request
        inherited = {name: limit for name, limit in self.followed.scope.items() if not getattr(request, name)}
        return AskRequest.model_validate({**dict(request), **inherited})


ALONE = Thread()


def find_thread(snapshot: Snapshot, request: AskRequest) -> Thread:
    """Return what came before the question of a request.

    A client that keeps the conversation itself gives the questions `earlier`: what it says of answers is no evidence. Raise
    QuestionError where several questions follow or both ways are taken, UnknownError where the answer before is gone or of another
    corpus, AmbiguousError.
    """
    if request.follow is None and not request.earlier:
        return ALONE
    if (many := len(request.questions)) > 1:
        raise QuestionError(
            f"one question follows another, and {many} were asked", str(many), "ask them one by one, each following the last"
        )
    pages = {record.id: record.pages for record in snapshot.documents()}
    if request.follow is not None:
        if request.earlier:
            raise QuestionError(
                "a question follows an answer or earlier questions, and both were given", request.follow, "give only one of the two"
            )
        return _thread_of(snapshot.answer(request.follow), snapshot, pages)
    before = ""
    for question in filterfalse(is_aside, request.earlier):
        before = complete(clean(question)[:LONGEST_QUESTION], before) or before
    if complete(request.questions[0], before) == request.questions[0] and not talk_of(request.questions[0]):
        return Thread(before)
    asked = (before, request.limits)
    newest = snapshot.newest_answers(LOOKED_THROUGH)
    cited = next((answer.citations for answer in newest if (answer.asked_as, answer.scope) == asked), ())
    return Thread(before, cited, pages)


def _thread_of(followed: Answer, snapshot: Snapshot, pages: Mapping[str, int]) -> Thread:
    asked_on = followed
    while asked_on.follows and is_aside(asked_on.question):
        asked_on = snapshot.answer(asked_on.follows)
    if is_aside(asked_on.question):
        return Thread(followed=followed)
    return Thread(asked_on.asked_as, asked_on.citations, pages, followed)
