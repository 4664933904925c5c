"""Progress of a question, and a draft of its answer, on standard error until the answer is shown."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from rich.text import Text

from flows.display.output import Output
from storage.records.answers import Answer
from tasks.events import DraftGrown, Event, StageReached, subscribe

LOOKING = "looking"
WITHDRAWN = "the draft of this answer is withdrawn: it failed the check"


class Following:
    """The live line of questions that are answered one after the other."""

    def __init__(self, output: Output, questions: int) -> None:
        self._side, self._questions, self._answered = output.side, questions, 0
        self._stage, self._draft = LOOKING, ""
        self._line = self._side.status(self._words(), spinner="dots")

    @contextmanager
    def show(self) -> Iterator[None]:
        with self._line, subscribe(self._hear):
            yield

    def _hear(self, event: Event) -> None:
        if isinstance(event, StageReached):
            self._stage = event.words
        elif isinstance(event, DraftGrown):
            self._draft = event.text
        else:
            return
        self._line.update(self._words())

    def _words(self) -> Text:
        answered = f"{self._answered} of {self._questions} questions answered, " if self._answered else ""
        return Text(f"{answered}{self._stage}").append(f"\n{self._draft}" if self._draft else "", "dim")

    @contextmanager
    def step_aside(self, answer: Answer) -> Iterator[None]:
        """Take the line away while an answer goes to standard output, or the two would mix."""
        self._line.stop()
        if not answer.answer.startswith(self._draft):
            self._side.print(WITHDRAWN, style="dim", soft_wrap=True)
        yield
        self._answered, self._stage, self._draft = self._answered + 1, LOOKING, ""
        if self._answered < self._questions:
            self._line.update(self._words())
            self._line.start()


@contextmanager
def follow_questions(output: Output, questions: int) -> Iterator[Callable[[Answer], AbstractContextManager[None]]]:
    """Show the progress of questions on a terminal; yield a context inside which an answer is to be shown."""
    if output.as_json or not output.side.is_terminal:
        yield lambda _answer: nullcontext()
        return
    following = Following(output, questions)
    with following.show():
        yield following.step_aside
