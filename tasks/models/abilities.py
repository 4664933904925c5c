"""What a served chat model can do: found out once by two small calls, kept under the home, and what may be asked of it by that.

The calls are no calls of a run: no budget counts them and no lineage names them.
"""

import asyncio
import io
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from pydantic import BaseModel

from storage.artifacts import write_durably
from storage.codec import CodecError, from_json, to_json
from storage.locations import abilities_folder
from storage.records.documents import identify
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatEndedError, ChatError, PicturesRejectedError
from tasks.models.chat.forms import Form
from tasks.models.chat.reply import DeclinedReplyError, UnusableReplyError, value_of
from tasks.models.chat.request import first_messages, request_of
from tasks.models.chat.stream import Completion
from tasks.models.client import ServerClient
from tasks.models.endpoints import FULL_CONTEXT_TOKENS, Endpoint, ServedModel
from tasks.models.faults import FaultError, FaultKind
from tasks.settings.models import ModelSettings

PATH_TOKENS, ANSWER_TOKENS = (3000, 250), (5000, 300)
"""About what a path takes in full forms, read and written, and what putting the answer together takes."""
FULL_PATHS = 11
"""What `ask.selection.read` allows."""
QUESTION_SECONDS = 120.0
"""What `ask.seconds` allows unless it is turned: `doctor` goes by it, and how long what was found is believed."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """`sees` is whether pictures are of use; the tokens a second are those of one call alone. 0 is unknown."""

    context_tokens: int
    sees: bool
    read_per_second: float
    written_per_second: float

    @property
    def short(self) -> bool:
        """Whether the full forms are too long for this model."""
        return 0 < self.context_tokens < FULL_CONTEXT_TOKENS

    def is_slow(self, seconds: float | None) -> bool:
        """Say whether a question in full would not end in its seconds; one that has all the time always does.

        Calls are reckoned one after the other: a machine that is as slow as that computes them so. A server that does not tell how
        fast it reads may well compute them side by side: it is slow where writing alone would take four times as long.
        """
        return seconds is not None and self.paths(seconds if self.read_per_second else 4 * seconds) < FULL_PATHS

    def paths(self, seconds: float) -> int:
        """Return how many paths a question may have in full forms in the time, its answer included, at most as many as are read."""
        left, path = seconds - self._seconds(*ANSWER_TOKENS), self._seconds(*PATH_TOKENS)
        return max(0, min(FULL_PATHS, int(left / path))) if path else FULL_PATHS

    def _seconds(self, read: int, written: int) -> float:
        rates = ((read, self.read_per_second), (written, self.written_per_second))
        return sum(tokens / rate for tokens, rate in rates if rate)


PROBE_SECONDS = 5.0
"""For both calls: a question waits for them, once. What is slower than that is asked in small forms and shown no picture."""
PATIENT_SECONDS = 60.0
"""For both calls before an ingest, whose graph must not depend on how busy a server was. One that is well answers in a few."""
KEPT_SECONDS = 7 * 86_400.0
AGAIN_SECONDS = 3600.0
"""Until a model that was slow is looked at again; it may just have been busy."""
REPLY_TOKENS = 64
PICTURE_PIXELS = 128

TALK = """{time}
Read what follows, and then describe a quiet street in one sentence.
The harbour was closed by ice in January, and the pilots waited in the upper town until the wind had turned to the south.
Two ships lay at anchor behind the island; their crews counted barrels, mended sails and wrote letters.
On the third day the ice broke with a sound like thunder, and by noon the first of them stood before the quay.
Nobody had ordered the timber that it brought, and so it was sold to whoever came with a cart."""
"""Some 120 tokens, of which no server has read the first before: what it remembers it would read in no time."""
LOOK = "Which colour has the picture?"
ERRORS = (FaultError, ChatError, ChatEndedError)
Reply = Completion | Exception
"""What came back, or the error in place of it."""


class Crossing(Form):
    """Only constrained decoding leads to it: the prompt asks for something else."""

    light: Literal["red", "amber", "green"]
    cars: Literal["none", "one", "many"]


class Colour(Form):
    colour: Literal["black", "blue", "green", "red", "white", "yellow"]


def small_call(prompt: str, form: type[BaseModel], *images: bytes) -> ChatCall[Any]:
    return ChatCall("doctor", "", "doctor", prompt, "", form, max_output_tokens=REPLY_TOKENS, images=images)


@dataclass(frozen=True, slots=True)
class AbilityProbe:
    """What came of the two calls; `looked` is None where the server says by itself whether it takes pictures."""

    talked: Reply
    looked: Reply | None

    def colour(self) -> str:
        """Return which colour the green picture is said to have; raises what `value_of` does."""
        return value_of(self.looked, small_call(LOOK, Colour)).colour if isinstance(self.looked, Completion) else ""

    def abilities(self, model: ServedModel, seconds: float) -> Abilities:
        """Return what the replies show: of a model that was silent for so long, at most how fast it is, and that it sees nothing.

        Any other error says nothing of pictures: they are shown until one is rejected.
        """
        read = written = 0.0
        if isinstance(self.talked, Completion):
            read, written = self.talked.read_per_second, self.talked.written_per_second
        elif _is_silent(self.talked):
            read, written = len(TALK) / 4 / seconds, REPLY_TOKENS / seconds
        return Abilities(model.context_tokens, self._sees if model.sees is None else model.sees, round(read, 1), round(written, 1))

    @property
    def _sees(self) -> bool:
        if isinstance(self.looked, Exception):
            return not (isinstance(self.looked, PicturesRejectedError) or _is_silent(self.looked))
        with suppress(UnusableReplyError, DeclinedReplyError):
            return self.colour() == "green"
        return False

    @property
    def is_unfinished(self) -> bool:
        return any(_is_silent(reply) for reply in (self.talked, self.looked) if reply is not None)

    def kept_seconds(self, abilities: Abilities) -> float:
        """Return how long what was found is to be believed; 0 where an error may pass by the next call."""
        replies = [reply for reply in (self.talked, self.looked) if reply is not None]
        if not all(isinstance(reply, (Completion, PicturesRejectedError)) or _is_silent(reply) for reply in replies):
            return 0.0
        return AGAIN_SECONDS if abilities.is_slow(QUESTION_SECONDS) or self.is_unfinished else KEPT_SECONDS


def _is_silent(reply: Reply) -> bool:
    return isinstance(reply, FaultError) and reply.kind is FaultKind.SILENT


async def probe(client: ServerClient, model: ServedModel, settings: ModelSettings, *, seconds: float) -> AbilityProbe:
    """Have the model fill in a form, which is timed, then look at a picture, both in so many seconds."""
    end = time.monotonic() + seconds
    talk = small_call(TALK.format(time=time.time_ns()), Crossing)
    talked = await reply_to(talk, client, model, settings, seconds=seconds)
    if model.sees is not None:
        return AbilityProbe(talked, None)
    stream = io.BytesIO()
    Image.new("RGB", (PICTURE_PIXELS, PICTURE_PIXELS), "green").save(stream, "PNG")
    look = small_call(LOOK, Colour, stream.getvalue())
    return AbilityProbe(talked, await reply_to(look, client, model, settings, seconds=end - time.monotonic()))


async def reply_to(
    call: ChatCall[Any], client: ServerClient, model: ServedModel, settings: ModelSettings, *, seconds: float
) -> Reply:
    """Return what comes back in so many seconds, without a retry."""
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
    """What was found of a model as its server listed it, and until when (seconds since 1970) it is believed.

    `unfinished_after` so many seconds it had not replied; 0 where it had.
    """

    model: ServedModel
    until: float
    unfinished_after: float
    abilities: Abilities


async def find_abilities(
    client: ServerClient, endpoint: Endpoint, model: ServedModel, settings: ModelSettings, *, seconds: float
) -> Abilities:
    """Return what the model can do: as it was found before, or by a probe of at most so many seconds; never raises."""
    with suppress(OSError, CodecError):
        kept = from_json(KeptAbilities, _path(endpoint, model).read_bytes())
        patient = not kept.unfinished_after or kept.unfinished_after >= seconds
        if kept.model == model and patient and 0 < kept.until - time.time() <= KEPT_SECONDS:
            return kept.abilities
    found = await probe(client, model, settings, seconds=seconds)
    return keep_abilities(found, endpoint, model, seconds=seconds)


def keep_abilities(found: AbilityProbe, endpoint: Endpoint, model: ServedModel, *, seconds: float) -> Abilities:
    """Keep what a probe of so many seconds found, where there is room for it, and return it."""
    abilities = found.abilities(model, seconds)
    if lasting := found.kept_seconds(abilities):
        with suppress(OSError):
            kept = KeptAbilities(model, time.time() + lasting, seconds if found.is_unfinished else 0.0, abilities)
            write_durably(_path(endpoint, model), to_json(kept), synced=False)
    return abilities


def forget_abilities(endpoint: Endpoint, model: ServedModel) -> None:
    """Have the model looked at again when it is opened next: it did what it was found not to do, or the other way round."""
    with suppress(OSError):
        _path(endpoint, model).unlink(missing_ok=True)


def _path(endpoint: Endpoint, model: ServedModel) -> Path:
    return abilities_folder() / f"{identify(endpoint.identity, model.name)}.json"
