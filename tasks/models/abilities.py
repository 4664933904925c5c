"""What a served chat model can do: found out once by two calls, kept under the home, and what may be asked of it by that.

They are no calls of a run: no budget counts them and no lineage names them.
"""

import asyncio
import io
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from PIL import Image

from storage.artifacts import write_durably
from storage.codec import CodecError, from_json, to_json
from storage.locations import abilities_folder
from storage.records.documents import identify
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatEndedError, ChatError, PicturesRejectedError
from tasks.models.chat.forms import Form, largest_reply
from tasks.models.chat.reply import DeclinedReplyError, UnusableReplyError, value_of
from tasks.models.chat.request import first_messages, request_of
from tasks.models.chat.stream import Completion
from tasks.models.chat.worker import PathAnswer
from tasks.models.client import ServerClient
from tasks.models.endpoints import FULL_CONTEXT_TOKENS, Endpoint, ServedModel
from tasks.models.faults import FaultError, FaultKind
from tasks.prompts.prompt import Piece, filled, load_prompt
from tasks.settings.models import ModelSettings

FormName = Literal["full", "plain", "small"]
FULL_READ, FULL_WRITTEN = 38_000, 3_050
"""About how many tokens a question takes in full forms: 3,000 and 250 for each of 11 paths, then 5,000 and 300 for the answer."""
QUESTION_SECONDS = 120.0
"""What `ask.seconds` allows unless it is turned: `doctor` goes by it, and how long what was found is believed."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """`sees` is whether pictures are of use; the tokens a second are those of one call alone. 0 is unknown.

    `skill` is the most that it was seen to do: answer from passages as full forms ask it to, fill in a form by a text, or neither.
    """

    context_tokens: int
    sees: bool
    read_per_second: float
    written_per_second: float
    skill: FormName = "full"

    @property
    def short(self) -> bool:
        """Whether the full forms are too long for this model."""
        return 0 < self.context_tokens < FULL_CONTEXT_TOKENS

    def forms(self, seconds: float | None) -> FormName:
        """Return the forms that a question is asked in, where the settings do not say in which."""
        return "plain" if self.skill == "full" and (self.short or self.is_slow(seconds)) else self.skill

    @property
    def why_not_full(self) -> str:
        """Return in words why a question is not asked in full forms; "" where it is."""
        reasons = [f"full ones need {FULL_CONTEXT_TOKENS:,} tokens of context"] if self.short else []
        reasons += [f"full ones would take more than {QUESTION_SECONDS:.0f} s"] if self.is_slow(QUESTION_SECONDS) else []
        reasons += ["in a full one it did not answer a question that three passages answer"] if self.skill != "full" else []
        return ", ".join(reasons)

    def is_slow(self, seconds: float | None) -> bool:
        """Say whether a question in full would not end in its seconds; one that has all the time always does.

        Calls are reckoned one after the other: a machine that is as slow as that computes them so. A server that does not tell how
        fast it reads may well compute them side by side: it is slow where writing alone would take four times as long.
        """
        if seconds is None:
            return False
        rates = ((FULL_READ, self.read_per_second), (FULL_WRITTEN, self.written_per_second))
        taken = sum(tokens / rate for tokens, rate in rates if rate)
        return taken > (seconds if self.read_per_second else 4 * seconds)


PROBE_SECONDS = 5.0
"""A question waits this long for it, once. A slower model is asked plainly and shown no picture."""
WORKER_PART, WORKER_SECONDS = 3, 15.0
"""How often as long, and how long at most, it waits for a reader's reply: full forms take a dozen of these."""
PATIENT_SECONDS = 60.0
"""Before an ingest: its graph must not depend on how busy a server was. A healthy one answers in a few."""
NOTICED_SECONDS = 0.1
"""Less may be the network."""
KEPT_SECONDS = 7 * 86_400.0
AGAIN_SECONDS = 3600.0
"""Until a slow model is probed again; it may just have been busy."""
REPLY_TOKENS = 64
PICTURE_PIXELS = 128

PROMPT = """{time}
Read what follows, and then say in a whole sentence which colour the picture beside it has.
The harbour was closed by ice in January, and the pilots waited in the upper town until the wind had turned to the south.
Two ships lay at anchor behind the island; their crews counted barrels, mended sails and wrote letters.
On the third day the ice broke with a sound like thunder, and by noon the first of them stood before the quay.
Nobody had ordered the timber that it brought, and so it was sold to whoever came with a cart."""
"""Some 120 tokens that begin with words no server has read before: a cached beginning would take no time."""
ERRORS = (FaultError, ChatError, ChatEndedError)


class Glance(Form):
    """Only constrained decoding leads to it: the prompt asks for something else."""

    colour: Literal["black", "blue", "green", "red", "white", "yellow"]
    ships: Literal["none", "one", "two", "many"]
    month: Literal["January", "May", "August", "October"]


def _glance(*images: bytes) -> ChatCall[Glance]:
    prompt = PROMPT.format(time=time.time_ns())
    return ChatCall("doctor", "", "doctor", prompt, "", Glance, max_output_tokens=REPLY_TOKENS, images=images)


WORKER_QUESTION = "By how much did the number of ships that the pilots brought in grow from 1903 to 1904?"
WORKER_ANSWER = re.compile(r"\b43\b")
WORKER_PASSAGES = (
    Piece(
        "n1: text, page 3", "Document: harbour.pdf, The harbour office\nSection: Pilots\nIn 1903 the pilots brought in 412 ships."
    ),
    Piece(
        "n2: text, page 8",
        "Document: fishery.pdf, The fishery\nSection: Boats\nIn 1904 the fishery had 390 boats, 20 more than before.",
    ),
    Piece(
        "n3: text, page 4",
        "Document: harbour.pdf, The harbour office\nSection: Pilots\nA year later they were 455, although the ice stayed.",
    ),
)


class WorkerReply(PathAnswer):
    """What a reader of passages replies in full forms, to a question of ours."""

    @property
    def is_right(self) -> bool:
        return self.status == "supported" and WORKER_ANSWER.search(self.answer) is not None and bool(self.citations)


def _work() -> ChatCall[WorkerReply]:
    prompt = f"{time.time_ns()}\n{filled(load_prompt('worker'), WORKER_QUESTION, WORKER_PASSAGES)}"
    return ChatCall("doctor", "", "doctor", prompt, "", WorkerReply, max_output_tokens=largest_reply(WorkerReply))


@dataclass(frozen=True, slots=True)
class AbilityProbe:
    """What came of a small call, or the error in its place; `sees` is None where a picture was shown, and the reply must tell.

    `work` is what a reader of passages replied in full forms; None where that was not asked.
    """

    reply: Completion | Exception
    sees: bool | None
    work: Completion | Exception | None = None

    def colour(self) -> str:
        """Return which colour the green picture is said to have; raises what `value_of` does."""
        return value_of(self.reply, _glance()).colour if isinstance(self.reply, Completion) else ""

    def skill(self) -> FormName:
        """Return the most that it was seen to do; what an error or a filter kept from us is believed of it."""
        if self.is_silent or isinstance(self.work, FaultError):
            return "plain"
        with suppress(UnusableReplyError, DeclinedReplyError):
            glance = value_of(self.reply, _glance()) if isinstance(self.reply, Completion) else None
            if glance and (glance.month, glance.ships) != ("January", "two"):
                return "small"
            if isinstance(self.work, Completion):
                return "full" if value_of(self.work, _work()).is_right else "plain"
            return "full"
        return "plain"

    def abilities(self, model: ServedModel, seconds: float) -> Abilities:
        """Return what the reply shows: of a model that was silent for so long, at most how fast it is, and that it sees nothing.

        Any other error says nothing of pictures: they are shown until one is rejected.
        """
        read = written = 0.0
        if isinstance(self.reply, Completion):
            read, written = self.reply.read_per_second, self.reply.written_per_second
            read = read or self._pace()
        elif self.is_silent:
            read, written = len(PROMPT) / 4 / seconds, REPLY_TOKENS / seconds
        sees = self._sees() if self.sees is None else self.sees
        return Abilities(model.context_tokens, sees, round(read, 1), round(written, 1), self.skill())

    def _pace(self) -> float:
        """Return how fast the model reads by how much longer it was silent over the longer text; 0 where that does not show."""
        if not (isinstance(self.reply, Completion) and isinstance(self.work, Completion)):
            return 0.0
        longer = self.work.waited_seconds - self.reply.waited_seconds
        more = (self.work.input_tokens or 0) - (self.reply.input_tokens or 0)
        return more / longer if longer > NOTICED_SECONDS and more > 0 else 0.0

    def _sees(self) -> bool:
        with suppress(UnusableReplyError, DeclinedReplyError):
            return self.colour() == "green" if isinstance(self.reply, Completion) else not self.is_silent
        return False

    @property
    def is_silent(self) -> bool:
        return isinstance(self.reply, FaultError) and self.reply.kind is FaultKind.SILENT


async def _probe(client: ServerClient, model: ServedModel, settings: ModelSettings, *, seconds: float) -> AbilityProbe:
    """Time the model while it fills in a form, for at most `seconds`, with a picture unless its server says whether it sees.

    One that may be asked in full has then to read passages as that asks it to.
    """
    found = await _glance_at(client, model, settings, seconds=seconds)
    can = found.abilities(model, seconds)
    if not isinstance(found.reply, Completion) or can.forms(QUESTION_SECONDS) != "full":
        return found
    work = await _reply_to(_work(), client, model, settings, seconds=min(WORKER_SECONDS, WORKER_PART * seconds))
    return replace(found, work=work)


async def _glance_at(client: ServerClient, model: ServedModel, settings: ModelSettings, *, seconds: float) -> AbilityProbe:
    end = time.monotonic() + seconds
    if model.sees is None:
        stream = io.BytesIO()
        Image.new("RGB", (PICTURE_PIXELS, PICTURE_PIXELS), "green").save(stream, "PNG")
        reply = await _reply_to(_glance(stream.getvalue()), client, model, settings, seconds=seconds)
        if not isinstance(reply, PicturesRejectedError):
            return AbilityProbe(reply, None)
    reply = await _reply_to(_glance(), client, model, settings, seconds=end - time.monotonic())
    return AbilityProbe(reply, bool(model.sees))


async def _reply_to(
    call: ChatCall[Any], client: ServerClient, model: ServedModel, settings: ModelSettings, *, seconds: float
) -> Completion | Exception:
    """Return what comes back in `seconds`, without a retry."""
    request = request_of(call, first_messages(call, pixels=settings.pictures.pixels), model=model.name, settings=settings)
    try:
        async with asyncio.timeout(seconds):
            return await client.complete(request)
    except TimeoutError:
        return FaultError(FaultKind.SILENT, f"the model gave no reply to a small call in {seconds:.0f} s")
    except ERRORS as error:
        return error


@dataclass(frozen=True, slots=True)
class KeptAbilities:
    """What a probe found out about a model as its server listed it; `until` is in seconds since 1970.

    `unfinished_after` is the number of seconds after which it had not replied; 0 where it had.
    """

    model: ServedModel
    until: float
    unfinished_after: float
    abilities: Abilities


async def find_abilities(
    client: ServerClient, endpoint: Endpoint, model: ServedModel, settings: ModelSettings, *, seconds: float
) -> Abilities:
    """Return what the model can do, from an earlier probe or a new one of at most `seconds`; never raises."""
    with suppress(OSError, CodecError):
        kept = from_json(KeptAbilities, _path(endpoint, model).read_bytes())
        patient = not kept.unfinished_after or kept.unfinished_after >= seconds
        if kept.model == model and patient and 0 < kept.until - time.time() <= KEPT_SECONDS:
            return kept.abilities
    return (await look_at(client, endpoint, model, settings, seconds=seconds))[1]


async def look_at(
    client: ServerClient, endpoint: Endpoint, model: ServedModel, settings: ModelSettings, *, seconds: float
) -> tuple[AbilityProbe, Abilities]:
    """Probe the model for at most `seconds`; keep the result unless a passing error spoiled it, and return it."""
    found = await _probe(client, model, settings, seconds=seconds)
    abilities = found.abilities(model, seconds)
    if found.is_silent or isinstance(found.reply, Completion):
        spoiled = found.is_silent or isinstance(found.work, FaultError)
        lasting = AGAIN_SECONDS if spoiled or abilities.is_slow(QUESTION_SECONDS) else KEPT_SECONDS
        with suppress(OSError):
            kept = KeptAbilities(model, time.time() + lasting, seconds if found.is_silent else 0.0, abilities)
            write_durably(_path(endpoint, model), to_json(kept), synced=False)
    return found, abilities


def forget_abilities(endpoint: Endpoint, model: ServedModel) -> None:
    """Have the model probed again when it is next opened: it did what the probe had ruled out, or the other way round."""
    with suppress(OSError):
        _path(endpoint, model).unlink(missing_ok=True)


def _path(endpoint: Endpoint, model: ServedModel) -> Path:
    return abilities_folder() / f"{identify(endpoint.identity, model.name)}.json"
