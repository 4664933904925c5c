"""The request of an ingest, and the survey of its files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.current import CurrentDamagedError
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.object_address import CREDENTIALS, check_source, is_address, store_address
from storage.records.documents import DocumentRecord, EmbedderIdentity
from storage.text import printable_path
from tasks.finding.files import Discovery, discover
from tasks.finding.mirror import Announce, discover_objects
from tasks.finding.plan import ReadingPlan, plan_again, plan_reading
from tasks.models.embedding.embedder import default_identity, second_identity
from tasks.settings.ask import AllSettings, method_of, settings_over_preset
from tasks.settings.ingest import EmbeddingSettings, IngestSettings
from tasks.settings.readers import PRESETS_HELP, Preset


def whole_path(source: str) -> str:
    """Return a path from the root on: the request is read again later, and elsewhere. An address is one already."""
    return source if is_address(source) else str(Path(source).absolute())


Source = Annotated[
    str,
    AfterValidator(check_source),
    AfterValidator(whole_path),
    Field(json_schema_extra={"pattern": f"^(?!{CREDENTIALS.pattern})"}),
]
"""A path or an address; the server runs no validator: by the pattern it refuses credentials in one, and keeps them nowhere."""


AskedSettings = Annotated[IngestSettings, settings_over_preset(AllSettings.for_ingest)]


class IngestRequest(BaseModel):
    """What to read, and into which corpus. Prefect's UI shows it as a form."""

    # What is refused may be a password in an address: no message repeats it.
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    paths: tuple[Source, ...] = Field(
        min_length=1, description="files and folders, read recursively; s3://BUCKET/PREFIX/ for what lies in an object store"
    )
    corpus: str = Field("default", description="the corpus to read them into")
    include: tuple[str, ...] = Field((), description="globs; only files that match are read")
    exclude: tuple[str, ...] = Field((), description="globs; files that match are left out")
    password_file: Annotated[str, AfterValidator(whole_path)] | None = Field(
        None, description="a file of passwords, one per line: NAME, a tab, PASSWORD"
    )
    preset: Preset = Field("default", description=PRESETS_HELP)
    settings: AskedSettings = Field(default_factory=lambda asked: method_of(asked["preset"]).for_ingest())


STAGES = ("analyze", "embed", "evolve")
"""Stages that run again for a document whose file is not read again."""


class EvolveRequest(BaseModel):
    """Which documents of a corpus get a new graph, and how. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    corpus: str = Field("default", description="the corpus whose documents are made anew")
    paths: tuple[Source, ...] = Field((), description="only documents whose files were read from here; all by default")
    preset: Preset = Field("default", description=PRESETS_HELP)
    settings: AskedSettings = Field(default_factory=lambda asked: method_of(asked["preset"]).for_ingest())


ReadingRequest = IngestRequest | EvolveRequest


def recorded_parameters(request: ReadingRequest) -> dict[str, Any]:
    """Return what lineage keeps of a request besides its settings; one that reads no file has its `stages` there."""
    stages = {"stages": list(STAGES)} if isinstance(request, EvolveRequest) else {}
    return request.model_dump(mode="json", exclude={"settings"}) | stages


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found under the asked paths, and what is to be done about it."""

    found: Discovery
    plan: ReadingPlan

    @property
    def documents(self) -> set[str]:
        """The ids of the documents that were asked about."""
        return {
            *(file.document_id for file in self.found.files),
            *(work.document_id for work in self.plan.work),
            *self.plan.unchanged,
        }


def look(request: ReadingRequest, announce: Announce = lambda *_: None) -> Discovery:
    """Find the files; new objects of object stores are announced and fetched, else nothing is written."""
    if isinstance(request, EvolveRequest):
        return Discovery((), ())
    addresses = [source for source in request.paths if is_address(source)]
    paths = [Path(source) for source in request.paths if not is_address(source)]
    return discover(paths, include=request.include, exclude=request.exclude) | discover_objects(
        addresses,
        include=request.include,
        exclude=request.exclude,
        file_megabytes=request.settings.limits.file_megabytes,
        announce=announce,
    )


def survey(
    request: ReadingRequest, found: Discovery, published: Sequence[DocumentRecord], embedder: EmbedderIdentity, reader: str
) -> Survey:
    """Compare what was found with what is published. `reader` is `reader_identity`."""
    roots, settings = [display_root(source) for source in request.paths], request.settings
    if isinstance(request, EvolveRequest):
        return Survey(found, plan_again(published=published, roots=roots, settings=settings, embedder=embedder, reader=reader))
    plan = plan_reading(
        files=found.files,
        roots=roots,
        listed=found.listed,
        published=published,
        settings=settings,
        embedder=embedder,
        reader=reader,
        passwords=read_passwords(request.password_file),
    )
    return Survey(found=found, plan=plan)


def survey_for(request: ReadingRequest, announce: Announce = lambda *_: None) -> Survey:
    """Look at files and at the corpus that they are to be read into, whatever state that is in; nothing else is written.

    A damaged corpus is mended by the run itself, which then sees what there is to do; where no file is read, the error of opening
    it is raised. Fetches from object stores are announced first.
    """
    from tasks.ingest.model import reader_identity

    reader, found = reader_identity(request.settings), look(request, announce)
    embedding = request.settings.reading.embedding
    try:
        with open_for_reading(corpus_location(request.corpus)) as snapshot:
            return survey(request, found, snapshot.documents(), embedder_for(snapshot.embedder, embedding), reader)
    except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError):
        if isinstance(request, EvolveRequest):
            raise
        return survey(request, found, (), embedder_for(None, embedding), reader)


def display_root(source: str) -> str:
    """Return how the catalog shows a root."""
    return store_address(source).shown if is_address(source) else printable_path(os.path.realpath(source))


def embedder_for(remembered: EmbedderIdentity | None, embedding: EmbeddingSettings) -> EmbedderIdentity:
    """Return the embedder to use, with its second: the corpus's own where it has one and nothing else is named."""
    wanted = default_identity()
    first = remembered if remembered and remembered.name == wanted.name else wanted
    second = remembered.second if remembered else None
    if embedding.second:
        found = second_identity(embedding.second)
        second = replace(second, named=embedding.second) if second and second.name == found.name else found
    return replace(first, second=second, texts=embedding.text)


def read_passwords(path: str | None) -> Mapping[str, str]:
    """Read `NAME<tab>PASSWORD` lines; a line without a tab is the password of every file, under "*"."""
    if path is None:
        return {}
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise RequestError(f"password file {path!r} cannot be read: {reason}", path, "give a readable UTF-8 file") from error
    bare = [number for number, line in enumerate(lines, 1) if line and "\t" not in line]
    if len(bare) > 1:
        raise RequestError(
            f"password file {path!r}: lines {', '.join(map(str, bare))} have no tab",
            path,
            "write NAME, a tab and PASSWORD, and at most one line with a password for all others",
        )
    pairs = (line.partition("\t") for line in lines if line)
    return {name if tab else "*": password if tab else name for name, tab, password in pairs}
