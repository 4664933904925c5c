"""What reads: rules, or the chat model where the settings say so."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from storage.corpus.snapshot import Snapshot
from storage.locations import calls_folder
from storage.runs.replies import CallCache, questions_owner
from tasks.asking.calls import record_call, tell_draft
from tasks.asking.records import PathReader
from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import Endpoint, required_chat_endpoint, with_rater
from tasks.models.local import reachable
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings
from tasks.settings.base import changed


def chat_server_of(settings: AskSettings) -> Endpoint | None:
    """Return where the model that reads is served, None where rules read; raise EndpointError where no server is named."""
    if settings.reading.by == "rules":
        return None
    return with_rater(required_chat_endpoint('a chat model is to read (reading.by = "model")', otherwise="have rules read"))


@contextmanager
def open_reader(
    server: Endpoint | None, settings: AskSettings, snapshot: Snapshot, until: float | None = None
) -> Iterator[PathReader]:
    """Give the reader for the questions of a run; each of them is asked inside `counting_calls`.

    Raises ChatEndedError where the server cannot be asked, and LocalModelError where a model of this machine does not run; `until`
    that moment of time.monotonic() at the latest.
    """
    if server is None:
        yield ExtractiveReader(settings.reading)
        return
    # What speaks to servers takes long to load, and rules need none of it.
    from storage.artifacts import kept_artifacts
    from tasks.models.chat.model import ChatModel, open_chat
    from tasks.reading.model import ModelReader
    from tasks.reading.model_calls import ModelContext
    from tasks.reading.shown import NodePictures
    from tasks.reading.small import SmallReader

    # a local model computes one call at a time: others are not sent, so that none waits past its deadline
    models = changed(settings.models, {"limits.in_flight": 1}) if server.weights else settings.models
    cache = CallCache(calls_folder())
    with ExitStack() as held:
        at = held.enter_context(reachable(replace(server, rater=None), until))
        model = held.enter_context(open_chat(at, models, cache=cache, listener=record_call, drafts=tell_draft, until=until))
        titles = {record.id: ", ".join(filter(None, (record.name, record.title))) for record in snapshot.documents()}
        pictures = NodePictures(snapshot, kept_artifacts())
        forms = settings.reading.model.forms

        def reads(model: ChatModel) -> ModelReader:
            can = model.abilities
            small = can.short or can.is_slow(settings.seconds) if forms == "auto" else forms == "small"
            context = ModelContext(model, settings, questions_owner(snapshot.location.name), titles, pictures)
            return (SmallReader if small else ModelReader)(context)

        reader = reads(model)
        if server.rater:
            try:
                rater = open_chat(server.rater, models, cache=cache, listener=record_call, until=until, beside=model)
            except ChatEndedError as error:
                raise type(error)(str(error).replace("FLOWREADER_CHAT_", "FLOWREADER_RATER_")) from error
            reader = replace(reader, rated_by=reads(held.enter_context(rater)))
        yield reader
