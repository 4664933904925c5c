"""What reads: rules, or the chat model where the settings say so."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from storage.corpus.snapshot import Snapshot
from storage.locations import calls_folder
from storage.runs.replies import CallCache, questions_owner
from tasks.asking.calls import record_call, tell_draft
from tasks.asking.records import PathReader
from tasks.asking.weights import piece_weights
from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import Endpoint, chat_endpoint, of_rater, require_chat_endpoint, with_rater
from tasks.models.local import reachable, running_model
from tasks.reading.rules import ExtractiveReader
from tasks.settings.ask import AskSettings
from tasks.settings.base import change_settings

RATER_SHARE = 0.25
"""Of the time that is left, for opening a model that only rates; without one the chat model does it."""


def settle_reading(settings: AskSettings) -> AskSettings:
    """Return the settings with `auto` settled: a model that the environment names, or that runs here, reads, else rules."""
    if settings.reading.by != "auto":
        return settings
    return change_settings(settings, {"reading.by": "model" if chat_endpoint() or running_model() else "rules"})


def chat_server_of(settings: AskSettings, reader: str) -> Endpoint | None:
    """Return where the model that reads is, None where rules read; raise EndpointError where there is none.

    Of the readers `walk` alone has pages rated, so that no other one waits for a rater.
    """
    if settings.reading.by != "model":
        return None
    if not chat_endpoint() and (local := running_model()):
        return local
    otherwise = "let a local model read (--local), or rules (--by rules)"
    server = require_chat_endpoint('a chat model is to read (reading.by = "model")', otherwise=otherwise)
    return with_rater(server) if reader == "walk" else server


@contextmanager
def open_reader(
    server: Endpoint | None,
    settings: AskSettings,
    snapshot: Snapshot,
    until: float | None = None,
    *,
    require_rater: bool = True,
) -> Iterator[PathReader]:
    """Give the reader for the questions of a run; each of them is asked inside `counting_calls`.

    Raises ChatEndedError where the server cannot be asked, and LocalModelError where a model of this machine does not run; `until`
    that moment of time.monotonic() at the latest. Where the rater is not required and cannot be asked, the reader's notes say so,
    and the chat model rates.
    """
    if server is None:
        yield ExtractiveReader(settings.reading, weights=piece_weights(settings.weights))
        return
    # What speaks to servers takes long to load, and rules need none of it.
    from storage.artifacts import home_artifacts
    from tasks.models.chat.model import ChatModel, open_chat
    from tasks.reading.model import ModelReader
    from tasks.reading.model_calls import ModelContext
    from tasks.reading.plain import PlainReader
    from tasks.reading.shown import NodePictures

    # a local model computes one call at a time: others are not sent, so that none waits past its deadline
    models = change_settings(settings.models, {"limits.in_flight": 1}) if server.weights else settings.models
    cache = CallCache(calls_folder())
    with ExitStack() as held:
        at = held.enter_context(reachable(replace(server, rater=None), until))
        model = held.enter_context(open_chat(at, models, cache=cache, listener=record_call, drafts=tell_draft, until=until))
        titles = {record.id: ", ".join(filter(None, (record.name, record.title))) for record in snapshot.documents()}
        pictures = NodePictures(snapshot, home_artifacts())
        forms = settings.reading.model.forms

        def reads(model: ChatModel) -> ModelReader:
            context = ModelContext(model, settings, questions_owner(snapshot.location.name), titles, pictures)
            asked = model.abilities.forms(settings.seconds) if forms == "auto" else forms
            if asked == "full":
                return ModelReader(context)
            return PlainReader(context, f"model in {asked} form", small=asked == "small")

        reader = reads(model)
        if server.rater:
            soon = None if until is None else (now := time.monotonic()) + RATER_SHARE * (until - now)
            try:
                rater = open_chat(server.rater, models, cache=cache, listener=record_call, until=soon, budget=model.budget)
                reader = replace(reader, rated_by=reads(held.enter_context(rater)))
            except ChatEndedError as error:
                reason = of_rater(str(error))
                if require_rater:
                    raise type(error)(reason) from error
                note = f"the chat model rated the pages, because the model meant for that could not be asked: {reason}"
                reader = replace(reader, notes=(note,))
        yield reader
