"""The chat model of an ingest: whether one reads, what decides its words, and the one that is open for a run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from storage.locations import calls_folder
from storage.records.documents import identify
from storage.runs.replies import CallCache
from tasks.models.abilities import PATIENT_SECONDS
from tasks.models.chat.call import ModelCall
from tasks.models.chat.model import ChatModel, open_chat
from tasks.models.endpoints import Endpoint, require_chat_endpoint
from tasks.prompts.prompt import load_prompt
from tasks.settings.ingest import IngestSettings

READER_VERSION = 2
"""Raise it when the same replies lead to other graphs, or other text goes into the prompts."""

ANALYZING = ("analyze_text", "analyze_visual", "analyze_small", "mend_reply")
EVOLVING = (*ANALYZING, "evolve", "evolve_small")
MAPPING = ("page_notes", "section_notes", "mend_reply")
PAGING = ("read_page", "mend_reply")


def reader_identity(settings: IngestSettings, model: str = "") -> str:
    """Return, as one hash, what decides the model's words besides the settings of reading; "" where no model reads.

    Where neither the caller nor the environment says how the model is called, the server is asked. Raises EndpointError where
    the environment names no server, ChatEndedError where that is not there.
    """
    analysis, models = settings.reading.analysis, settings.models
    if not analysis.asks_model:
        return ""
    evolution = settings.reading.evolution
    enriched = ("evolve_enriched",) if evolution.model.summary == "enriched" else ()
    nodes = (*EVOLVING, *enriched) if evolution.mode == "model" else ANALYZING
    asked = ((analysis.by, nodes), (analysis.map, MAPPING), (analysis.pages, (*PAGING, *nodes)))
    prompts = dict.fromkeys(name for by, names in asked if by == "model" for name in names)
    return identify(
        "reader",
        READER_VERSION,
        model or _model_name(settings),
        *(load_prompt(name).hash for name in prompts),
        repr(models.temperature),
        models.pictures.pixels,
    )


def require_model(settings: IngestSettings) -> None:
    """Raise EndpointError or ChatEndedError, within seconds, where a model is to read and cannot be had."""
    with reading_model(settings, lambda _call: None):
        pass


@contextmanager
def reading_model(settings: IngestSettings, listener: Callable[[ModelCall], None]) -> Iterator[ChatModel | None]:
    """Give the model that reads, with the budget of one run, and let it go; None where rules read.

    Raises EndpointError or ChatEndedError, before anything is read, where the model cannot be had.
    """
    if not settings.reading.analysis.asks_model:
        yield None
        return
    cache = CallCache(calls_folder())
    with open_chat(_endpoint(settings), settings.models, cache=cache, listener=listener, probe_seconds=PATIENT_SECONDS) as model:
        yield model


def _model_name(settings: IngestSettings) -> str:
    endpoint = _endpoint(settings)
    if endpoint.model:
        return endpoint.model
    with open_chat(endpoint, settings.models, cache=CallCache(calls_folder())) as model:
        return model.name


def _endpoint(settings: IngestSettings) -> Endpoint:
    setting = next(name for name in ("by", "pages", "map") if getattr(settings.reading.analysis, name) == "model")
    needed = f'a chat model is to describe (reading.analysis.{setting} = "model")'
    return require_chat_endpoint(needed, otherwise="have rules describe")
