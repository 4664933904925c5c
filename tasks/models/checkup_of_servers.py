"""`doctor --models`: each served model is asked in small what the pipeline will ask of it, before a run of a week finds out."""

import time
from collections.abc import Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass, replace

from storage.errors import Finding, parts_of
from tasks.models.abilities import ERRORS, PATIENT_SECONDS, QUESTION_SECONDS, Abilities, AbilityProbe, look_at
from tasks.models.chat.errors import ChatError, Outcome
from tasks.models.chat.reply import DeclinedReplyError, UnusableReplyError
from tasks.models.chat.service import on_the_loop
from tasks.models.chat.stream import Completion
from tasks.models.client import ServerClient
from tasks.models.embedding.served import EmbeddingService
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors
from tasks.models.endpoints import (
    Endpoint,
    EndpointError,
    ServedModel,
    chat_endpoint,
    choose_model,
    embedding_endpoint,
    judge_endpoint,
    of_judge,
    of_rater,
    rerank_endpoint,
    same_model,
    with_rater,
)
from tasks.models.faults import without_key
from tasks.models.local import LocalModelError, local_model, local_model_is_named, reachable, running_model
from tasks.models.served_reranker import ServedReranker
from tasks.settings.models import ChatDeadlines, ChatRetries, ModelSettings

START = "start the server, vLLM for one by `vllm serve MODEL`"
NO_SERVER = f"{START}, or set FLOWREADER_CHAT_BASE_URL to where one is"
STRUCTURED = f'{START}, with --structured-outputs-config \'{{"backend": "xgrammar", "disable_any_whitespace": true}}\''
SEEING = "serve a model that sees, such as Qwen3-VL, with --limit-mm-per-prompt '{\"image\": 16}' or more"
WAIT = "wait until it has loaded its model or has less to do; its log says more"
RENAME = "mend the server, or set FLOWREADER_CHAT_MODEL to the model that answers"
START_EMBEDDINGS = "start an embeddings server, vLLM for one by `vllm serve MODEL --runner pooling`"
OTHER = "use another embeddings server, or another model on it"


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """One check; `remedy` says what to do where something is wrong, and is empty where all is well."""

    check: str
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that was looked at of one server, which is `chat`, `rater`, `judge`, `local model`, `embeddings` or `reranker`."""

    server: str
    address: str
    checks: tuple[ServerCheck, ...]

    @property
    def findings(self) -> list[Finding]:
        return [Finding(f"{self.server}: {check.check}", check.found, check.remedy) for check in self.checks if check.remedy]


def check_models() -> list[Checkup]:
    """Look at the servers that the environment names, and at the local model, which is run for that where it does not.

    Raise EndpointError where none is named.
    """
    chat, judge, embeddings, reranker = chat_endpoint(), judge_endpoint(), embedding_endpoint(), rerank_endpoint()
    local = local_model_is_named() or running_model() is not None
    if not (chat or judge or embeddings or reranker or local):
        raise EndpointError(
            "no model is served, and rules read: neither FLOWREADER_CHAT_BASE_URL nor FLOWREADER_EMBED_BASE_URL nor "
            "FLOWREADER_RERANK_BASE_URL nor FLOWREADER_LOCAL_MODEL is set, and no `flowreader model serve` runs",
            remedy="set the first to a chat server such as http://localhost:11434/v1, and FLOWREADER_CHAT_MODEL to its model",
        )
    checkups = [_chat_checkup("chat", chat)] if chat else []
    if chat and (rater := with_rater(chat).rater):
        checkups.append(_chat_checkup("rater", rater))
    if judge:
        checkups.append(_chat_checkup("judge", judge))
    if local:
        checkups.append(_local_checkup())
    if embeddings:
        checkups.append(_checkup("embeddings", embeddings, _embedding_checks(embeddings)))
    if reranker:
        checkups.append(_checkup("reranker", reranker, _rerank_checks(reranker)))
    return checkups


def _chat_checkup(server: str, endpoint: Endpoint) -> Checkup:
    return _checkup(server, endpoint, on_the_loop(_chat_checks(endpoint)).result())


def _local_checkup() -> Checkup:
    try:
        with reachable(local_model()) as local:
            return _chat_checkup("local model", local)
    except LocalModelError as error:
        return Checkup("local model", "this machine", (_problem("runs", error, "name another in FLOWREADER_LOCAL_MODEL"),))


def _checkup(server: str, endpoint: Endpoint, checks: Iterable[ServerCheck]) -> Checkup:
    """Return the checkup without the API key, whatever the server repeated, and with the variables of this server."""

    def clean_text(text: str) -> str:
        return without_key({"rater": of_rater, "judge": of_judge}.get(server, str)(text), endpoint)

    told = (ServerCheck(each.check, clean_text(each.found), clean_text(each.remedy)) for each in checks)
    return Checkup(server, endpoint.base_url, tuple(told))


def _problem(check: str, error: Exception, remedy: str) -> ServerCheck:
    """Return what is wrong as an error says it; its own remedy goes before the one that is given."""
    found, own = parts_of(error)
    return ServerCheck(check, found, own or remedy)


async def _chat_checks(endpoint: Endpoint) -> list[ServerCheck]:
    """Ask for the models, and for a reply of a form that says what a picture shows: once, without a retry."""
    settings = ModelSettings(deadlines=ChatDeadlines(first_token_seconds=PATIENT_SECONDS, total_seconds=PATIENT_SECONDS))
    began, answers = time.monotonic(), list[ServerCheck]()
    try:
        async with aclosing(ServerClient(endpoint, settings)) as client:
            listing = await client.models()
            answers.append(ServerCheck("answers", f"in {time.monotonic() - began:.2f} s"))
            model = choose_model(listing, endpoint)
            found, abilities = await look_at(client, endpoint, model, settings, seconds=PATIENT_SECONDS)
    except ERRORS as error:
        return [*answers, _problem("model", error, START) if answers else _problem("answers", error, NO_SERVER)]
    return [*answers, _model_check(model, found.reply), *_reply_checks(found, abilities)]


def _model_check(model: ServedModel, reply: Completion | Exception | None = None) -> ServerCheck:
    if isinstance(reply, Completion) and not same_model(model.name, reply.model):
        return ServerCheck("model", f"{model.name} was asked, and it answered as {reply.model[:80]!r}", RENAME)
    return ServerCheck("model", model.name + (f", reads {model.context_tokens:,} tokens" if model.context_tokens else ""))


def _reply_checks(found: AbilityProbe, abilities: Abilities) -> Iterator[ServerCheck]:
    """Look at the reply that had to fill in a form: is it one, was the picture seen, and in which forms is a question asked?"""
    if isinstance(found.reply, Exception):
        wrong = _problem("structured output", found.reply, WAIT)
        refused = isinstance(found.reply, ChatError) and found.reply.outcome is Outcome.REJECTED
        yield replace(wrong, remedy=STRUCTURED) if refused else wrong
        return
    try:
        colour = found.colour()
    except (DeclinedReplyError, UnusableReplyError) as error:
        yield ServerCheck("structured output", f"a reply has not the form that was asked for: {error}", STRUCTURED)
        return
    yield ServerCheck("structured output", "a reply has the form that was asked for")
    if found.sees is None and not abilities.sees:
        yield ServerCheck("picture", f"it is taken, but a green one is called {colour}; none will be shown", SEEING)
    else:
        yield ServerCheck("picture", "it is taken" if abilities.sees else "none is taken; figures are told by caption and words")
    if abilities.written_per_second:
        read = f"{abilities.read_per_second:.0f}" if abilities.read_per_second else "unknown"
        yield ServerCheck("speed", f"{read} tokens a second read, {abilities.written_per_second:.0f} written")
    forms = abilities.forms(QUESTION_SECONDS)
    yield ServerCheck("forms", forms if forms == "full" else f"{forms}: {abilities.why_not_full}; flow asks once a question")


def _embedding_checks(endpoint: Endpoint) -> Iterator[ServerCheck]:
    """Ask for the model, and for the vectors of two texts, which are checked as those of an ingest."""
    settings = ModelSettings(retries=ChatRetries(attempts=1, silent_attempts=1, busy_seconds=0))
    began = time.monotonic()
    try:
        model = EmbeddingService(endpoint, settings).find_model()
    except EmbeddingError as error:
        yield _problem("answers", error, START_EMBEDDINGS)
        return
    yield ServerCheck("answers", f"in {time.monotonic() - began:.2f} s")
    yield _model_check(model)
    service = EmbeddingService(replace(endpoint, model=model.name), settings)
    try:
        rows = service.rows(["The harbour was closed by ice.", "7"], seconds=settings.embeddings.question_seconds)
        unit_vectors(rows, count=2, dimension=len(rows[0]), source=service.source)
    except EmbeddingError as error:
        yield _problem("vectors", error, OTHER)
        return
    yield ServerCheck("dimension", f"{len(rows[0])} numbers a text")


def _rerank_checks(endpoint: Endpoint) -> Iterator[ServerCheck]:
    """Ask for the scores of two passages."""
    began = time.monotonic()
    try:
        ServedReranker(endpoint, ModelSettings()).scores("When was the harbour closed?", ["The harbour was closed by ice.", "7"])
    except EmbeddingError as error:
        yield _problem("scores", error, error.remedy)
        return
    yield ServerCheck("scores", f"in {time.monotonic() - began:.2f} s")
