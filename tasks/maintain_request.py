"""Which corpora to look after, and how long to wait for one that is being written."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from storage.corpora import corpora_in
from storage.locations import CORPUS_NAME, CorpusLocation, corpora_folder, corpus_location
from storage.snapshot import unknown_corpus

CorpusName = Annotated[str, StringConstraints(pattern=f"^{CORPUS_NAME.pattern}$")]


class MaintainRequest(BaseModel):
    """What to look after. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpora: tuple[CorpusName, ...] = Field((), max_length=1_000, description="only these corpora; all of them by default")
    wait_seconds: float = Field(
        5.0, ge=0, le=3_600, description="seconds to wait for a corpus that is being written; it is skipped then"
    )


def corpora_to_maintain(request: MaintainRequest) -> tuple[CorpusLocation, ...]:
    """Return where the corpora lie, by name; raise UnknownCorpusError for a named one that is not there."""
    there = {location.name: location for location in corpora_in(corpora_folder())}
    for name in request.corpora:
        if name not in there:
            raise unknown_corpus(corpus_location(name), "name one of them, or none to look after all")
    return tuple(location for name, location in there.items() if name in request.corpora or not request.corpora)
