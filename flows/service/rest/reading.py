"""Uploads, files of the service's machine to read, and the progress of their ingests."""

import asyncio
from pathlib import Path as FilePath
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from flows.service.again import read_again
from flows.service.ingests import Ingest, Ingests
from flows.service.received import JSON, parse_form, read_body
from flows.service.rest.forms import Corpus, DocumentNamed
from flows.service.uploads import keep_upload
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.object_address import check_source, is_address
from storage.text import printable_path
from tasks.views.errors import RefusedError
from tasks.views.ingests import IngestsView, IngestView

MOST_PATHS = 100
FILE = {"requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {"type": "string"}}}}}

router = APIRouter(tags=["ingests"])


FullPath = Annotated[str, Field(min_length=1, max_length=4096, json_schema_extra={"pattern": "^(/|s3://.)"})]


class PathsGiven(BaseModel):
    paths: list[FullPath] = Field(min_length=1, max_length=MOST_PATHS)


class PasswordGiven(BaseModel):
    password: str = Field("", description="opens it; it is kept nowhere")


@router.put("/corpora/{corpus}/uploads/{name}", status_code=202, openapi_extra=FILE)
async def upload(request: Request, corpus: Corpus, name: Annotated[str, Path(examples=["report.pdf"])]) -> IngestView:
    """Keep a file, sent as it is, and have it read into the corpus; the reply is the ingest to watch."""
    ingests: Ingests = request.app.state.ingests
    size, kept, began = request.headers.get("Content-Length", ""), "", None
    try:
        with ingests.claim_uploads() as claim:
            kept = str(await keep_upload(corpus, name, request.stream(), claim, announced=size))
            began = ingests.begin(corpus, [kept], uploaded=True, document=FilePath(kept).parent.name)
        return await asyncio.to_thread(began.look)
    except ClientDisconnect as error:
        raise RequestError("the upload was cut off", printable_path(name), "send it again") from error
    finally:
        if kept and not began:
            # Nothing else would delete it.
            await ingests.tidy(Ingest(corpus, (kept,), uploaded=True))


@router.get("/corpora/{corpus}/ingests")
async def ingests(request: Request, corpus: Corpus) -> IngestsView:
    """List what this service was given to read into the corpus since it began, the newest first."""
    found = request.app.state.ingests.list_of(corpus_location(corpus).name)
    return IngestsView(ingests=await asyncio.to_thread(lambda: [each.look() for each in found]))


@router.post(
    "/corpora/{corpus}/ingests",
    status_code=202,
    openapi_extra={"requestBody": {"required": True, "content": {JSON: {"schema": PathsGiven.model_json_schema()}}}},
)
async def begin(request: Request, corpus: Corpus) -> IngestView:
    """Read files and folders of the service's machine, or s3:// addresses; only where the service has a token."""
    if not request.app.state.has_token:
        what = "files of this machine are read only with a token: another account here may read less than the service"
        raise RefusedError(403, what, "", "start the service with FLOWREADER_ASK_TOKEN, or upload the file")
    given = parse_form(PathsGiven, await read_body(request))
    for path in given.paths:
        if "\0" in path or not (is_address(check_source(path)) or path.startswith("/")):
            raise RequestError(
                f"{printable_path(path)!r} is no full path", printable_path(path)[:100], "name it from / on, or as s3://BUCKET/KEY"
            )
    return await asyncio.to_thread(request.app.state.ingests.begin(corpus, given.paths).look)


@router.post(
    "/corpora/{corpus}/documents/{document}/ingests",
    status_code=202,
    openapi_extra={"requestBody": {"content": {JSON: {"schema": PasswordGiven.model_json_schema()}}}},
)
async def again(request: Request, corpus: Corpus, document: DocumentNamed) -> IngestView:
    """Read the file of a document that is not ready again: an upload's, and where the service has a token any other's."""
    given, state = parse_form(PasswordGiven, await read_body(request)), request.app.state
    begun = await read_again(state.ingests, corpus, document, given.password, everywhere=state.has_token)
    return await asyncio.to_thread(begun.look)


@router.get("/corpora/{corpus}/ingests/{ingest}")
async def watch(request: Request, corpus: Corpus, ingest: str) -> IngestView:
    """Show how far an ingest came, and once it ended what came of it."""
    return await asyncio.to_thread(request.app.state.ingests.find(corpus, ingest).look)


@router.delete("/corpora/{corpus}/ingests/{ingest}")
async def cancel(request: Request, corpus: Corpus, ingest: str) -> IngestView:
    """Stop an ingest, and return when it has ended: what is finished stays."""
    found = request.app.state.ingests.find(corpus, ingest)
    await request.app.state.ingests.cancel(found)
    return await asyncio.to_thread(found.look)
