"""What is asked of an ingest, and what a look at the files makes of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from storage.records import DocumentRecord, EmbedderIdentity
from tasks.discovery import Discovery, DiscoveryError, discover
from tasks.models.embedder import default_identity
from tasks.planning import Plan, displayed, plan_reading
from tasks.settings import IngestSettings


class IngestRequest(BaseModel):
    """What to read, and into which corpus. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: tuple[str, ...] = Field(min_length=1, description="files and folders, read recursively")
    corpus: str = Field("default", description="the corpus to read them into")
    include: tuple[str, ...] = Field((), description="globs; only files that match are read")
    exclude: tuple[str, ...] = Field((), description="globs; files that match are left out")
    password_file: str | None = Field(None, description="a file of passwords, a line each: NAME, a tab, PASSWORD")
    settings: IngestSettings = IngestSettings()


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found under the asked paths, and what is to be done about it."""

    found: Discovery
    plan: Plan


def survey(request: IngestRequest, published: Sequence[DocumentRecord], embedder: EmbedderIdentity, reader: str) -> Survey:
    """Look at the files and compare them with what is published; nothing is written. `reader` is `reader_identity`."""
    found = discover([Path(path) for path in request.paths], include=request.include, exclude=request.exclude)
    plan = plan_reading(
        files=found.files,
        roots=[displayed(os.path.realpath(path)) for path in request.paths],
        published=published,
        settings=request.settings,
        embedder=embedder,
        reader=reader,
        passwords=read_passwords(request.password_file),
    )
    return Survey(found=found, plan=plan)


def embedder_for(remembered: EmbedderIdentity | None) -> EmbedderIdentity:
    """Return the embedder to use: the corpus's own where it has one and the environment names no other."""
    wanted = default_identity()
    return remembered if remembered and remembered.name == wanted.name else wanted


def read_passwords(path: str | None) -> Mapping[str, str]:
    """Read `NAME<tab>PASSWORD` lines; a line without a tab is the password of every file, under "*"."""
    if path is None:
        return {}
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DiscoveryError(f"password file {path!r} cannot be read: {reason}; give a readable UTF-8 file") from error
    bare = [number for number, line in enumerate(lines, 1) if line and "\t" not in line]
    if len(bare) > 1:
        raise DiscoveryError(
            f"password file {path!r}: lines {', '.join(map(str, bare))} have no tab; write NAME, a tab and PASSWORD, "
            "and at most one line with a password for all others"
        )
    pairs = (line.partition("\t") for line in lines if line)
    return {name if tab else "*": password if tab else name for name, tab, password in pairs}
