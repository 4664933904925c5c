"""What an ingest works with as long as it holds its corpus: the writer, its lineage, who reads, and the workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from flows.runners import Workers, runner_at_work
from storage.corpus import CorpusWriter, open_for_writing
from storage.locations import corpus_location
from storage.snapshot import remembered_embedder
from tasks.discovery import Discovery
from tasks.document_step_keys import Tools
from tasks.ingest_model import reader_identity, reading_model
from tasks.ingest_request import IngestRequest, Survey, embedder_for, survey
from tasks.killed_runs import rest_of, taking_over
from tasks.lineage import lineage_of_run, working_at, writing_calls
from tasks.models.chat import ChatModel
from tasks.models.embedder import UnopenedEmbedder, open_embedder
from tasks.step import Workplace

if TYPE_CHECKING:
    from prefect.task_runners import TaskRunner


@dataclass(frozen=True, slots=True)
class IngestDesk:
    """The desk of one run; `chat` is None where rules read, `runner` where nobody helps; `took_over` tells of killed runs."""

    request: IngestRequest
    corpus: CorpusWriter
    place: Workplace
    tools: Tools
    chat: ChatModel | None
    runner: TaskRunner[Any] | None
    took_over: tuple[str, ...] = ()

    @property
    def reader(self) -> str:
        return reader_identity(self.request.settings, self.chat.name if self.chat else "")

    def survey(self, discovery: Discovery) -> Survey:
        """Compare what was found with what is published."""
        return survey(self.request, discovery, self.corpus.documents(), self.corpus.embedder, self.reader)

    def workers(self) -> Workers | None:
        """Return those who read elsewhere, None where nobody does."""
        if self.runner is None:
            return None
        return Workers(self.runner, self.request.settings, self.corpus.embedder, self.reader, self.place)


@contextmanager
def at_the_desk(request: IngestRequest, run_id: str) -> Iterator[IngestDesk]:
    """Hold the corpus, write the run's lineage, and have the model and the workers, while the block runs.

    Raise as `open_for_writing`, `reading_model` and `runner_at_work` do.
    """
    location, work = corpus_location(request.corpus), request.settings.work
    embedder = embedder_for(remembered_embedder(location))
    with (
        open_for_writing(location, embedder=embedder, wait_seconds=work.lock_wait_seconds) as corpus,
        taking_over(location, rest := rest_of(location, request)) as took_over,
        lineage_of_run(
            location,
            parameters=request.model_dump(mode="json", exclude={"settings"}),
            settings=request.settings.model_dump(mode="json"),
            run_id=run_id,
            snapshot=lambda: corpus.snapshot,
            took_over=rest,
        ) as place,
        working_at(place),
        reading_model(request.settings, writing_calls(place)) as chat,
        runner_at_work(work) as runner,
    ):
        # It loads while the rest begins; where workers do most of the reading, it is opened by the first text.
        model = (UnopenedEmbedder if runner else partial(open_embedder, apart=True))(embedder, models=request.settings.models)
        tools = Tools(settings=request.settings, artifacts=place.artifacts, embedder=model, chat=chat)
        yield IngestDesk(request, corpus, place, tools, chat, runner, took_over)
