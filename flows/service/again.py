"""Reads a document's file again: with its password, or once what kept it from being read is mended."""

import asyncio
import os
from pathlib import Path

from flows.service.ingests import Ingest, Ingests
from storage.errors import RequestError
from storage.locations import uploads_folder
from storage.object_address import is_address
from storage.records.documents import DocumentRecord, DocumentState
from storage.text import counted
from tasks.finding.plan import real_path
from tasks.parsing.jobs import GIVE_PASSWORD
from tasks.views.documents import open_document
from tasks.views.errors import RefusedError

LONGEST_PASSWORD = 1000


def wants_password(record: DocumentRecord) -> bool:
    return record.state is DocumentState.NEEDS_PASSWORD and record.reason.endswith(GIVE_PASSWORD)


def may_end_otherwise(record: DocumentRecord) -> bool:
    """Say whether another try may: with a password, once there is OCR, or where what failed was not the file."""
    return wants_password(record) or record.state is DocumentState.OCR_REQUIRED or not record.attempt


def files_of(record: DocumentRecord, *, everywhere: bool) -> list[str]:
    """Return where an unready document's file lies; `everywhere` also outside the uploads.

    There another account may have put a link in its place, to what it cannot read itself.
    """
    if record.state is DocumentState.READY:
        return []
    uploads = os.path.realpath(uploads_folder())
    found = [path if is_address(path) else real_path(path) for path in record.paths]
    return [path for path in found if path and (everywhere or Path(path).is_relative_to(uploads))]


async def read_again(ingests: Ingests, corpus: str, document: str, password: str, *, everywhere: bool) -> Ingest:
    """Begin to read its file again; raise RequestError for what is no password, RefusedError where it cannot be read now."""
    record = await asyncio.to_thread(_find, corpus, document)
    if password.splitlines() not in ([], [password]) or len(password) > LONGEST_PASSWORD:
        what = f"a password is one line of at most {counted(LONGEST_PASSWORD, 'character')}"
        raise RequestError(what, "", "give that of the document")
    if any(each.is_of(record.id) and not each.ended for each in ingests.list_of(corpus)):
        raise RefusedError(409, f"{record.name} is being read in already", record.name, "wait until that is done, or cancel it")
    files = files_of(record, everywhere=everywhere)
    if not files:
        what, remedy = f"the file of {record.name} cannot be read again from here", "upload it again, or ingest it in a terminal"
        raise RefusedError(409, what, record.name, remedy)
    uploaded = bool(files_of(record, everywhere=False))
    return ingests.begin(corpus, files, uploaded=uploaded, document=record.id, password=password)


def _find(corpus: str, document: str) -> DocumentRecord:
    with open_document(corpus, document) as (_snapshot, record):
        return record
