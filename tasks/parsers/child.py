"""The life of a parser child: confined, it does one job, leaves its answer in the job's folder, and ends with a code."""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
from typing import Any

from pydantic import TypeAdapter

from storage.records import DocumentState
from tasks.parsers import mineru_reader, pdfium_reader, pictures, plain_reader
from tasks.parsers.jobs import (
    ANSWER,
    CONFINEMENT,
    DONE,
    FAILED,
    OUT_OF_MEMORY,
    READINGS,
    REFUSAL,
    REFUSALS,
    REFUSED,
    SURVEYS,
    Job,
    ParseError,
    Reading,
    Refusal,
    Survey,
    Work,
)
from tasks.parsers.limits import confine, die_with
from tasks.parsers.media import MARKDOWN, MINERU_SUFFIX, PDF, PLAIN, detect


def live(line: bytes, *, parent: int) -> int:
    """Do the job that the line describes, in this process, and return the code to end with. Never raises."""
    die_with(parent)
    job = Job.model_validate_json(line)
    tempfile.tempdir = str(job.folder)
    # a full set of memory would make the last words fail too
    reserve = bytearray(1 << 20)
    try:
        os.chdir(job.folder)
        (job.folder / CONFINEMENT).write_text(json.dumps(confine(job)))
        _work(job)
        return DONE
    except ParseError as refusal:
        _refuse(job, Refusal(state=refusal.state, reason=refusal.reason, final=True))
        return REFUSED
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:
        del reserve
        gc.collect()
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        _refuse(job, Refusal(state=DocumentState.FAILED, reason=words, final=False))
        return OUT_OF_MEMORY if "MemoryError" in words or "bad allocation" in words else FAILED


def _work(job: Job) -> None:
    """Do what the job asks."""
    if job.work is Work.SURVEY:
        _answer(job, SURVEYS, _survey(job))
    elif job.work is Work.WHOLE:
        _answer(job, READINGS, _read_whole(job))
    elif job.work is Work.RENDER:
        page = pdfium_reader.open_pdf(job.source)[job.first_page - 1]
        drawn = pdfium_reader.draw(page, dpi=job.dpi, megapixels=job.limits.image_megapixels)
        (job.folder / ANSWER).write_bytes(pictures.encode(drawn))
    else:
        _read_pages(job)


def _read_pages(job: Job) -> None:
    """Read a range, leave the words first, then the pictures: should drawing fail, the words are there."""
    reader = mineru_reader.read_pages if job.work is Work.MINERU else pdfium_reader.read_text_layer
    pages = reader(job)
    _answer(job, READINGS, Reading(title="", pages=pages))
    _answer(job, READINGS, Reading(title="", pages=pdfium_reader.add_pictures(pages, job)))


def _survey(job: Job) -> Survey:
    """Say what the file is; raise ParseError where nobody can read it."""
    media_type = detect(job.source, name=job.name, limits=job.limits)
    if media_type == PDF:
        return pdfium_reader.survey_pdf(job)
    return Survey(media_type=media_type, title="", page_labels=(), outline=(), decrypted=None)


def _read_whole(job: Job) -> Reading:
    """Read a document that is no PDF."""
    if job.media_type in MINERU_SUFFIX:
        title, pages = mineru_reader.read_whole(job)
        return Reading(title=title, pages=pages)
    if job.media_type in {PLAIN, MARKDOWN}:
        return Reading(title="", pages=plain_reader.read_plain(job.source, job.media_type))
    return Reading(title="", pages=pictures.read_picture(job))


def _answer(job: Job, kind: TypeAdapter[Any], value: object) -> None:
    """Write the answer whole or not at all."""
    unfinished = job.folder / "unfinished.json"
    unfinished.write_bytes(kind.dump_json(value))
    unfinished.replace(job.folder / ANSWER)


def _refuse(job: Job, refusal: Refusal) -> None:
    """Write why there is no answer, as far as there is room for it."""
    try:
        (job.folder / REFUSAL).write_bytes(REFUSALS.dump_json(refusal))
    except OSError:
        sys.exit(FAILED)
