"""What the golden files show apart from the corpus: findings, checkups, reports of ingests, and errors as they come about."""

import asyncio
from pathlib import Path

from starlette.requests import Request

from flows.service.received import TokenCheck, parse_form
from storage.corpus.snapshot import open_for_reading
from storage.errors import Finding
from storage.locations import corpus_location
from storage.lock import busy
from storage.records.documents import SkippedFile
from storage.system import DiskFullError, check_writable
from tasks.asking.request import AskRequest, page_range
from tasks.ingest.report import Failure, IngestReport
from tasks.models.checkup_of_servers import Checkup, ServerCheck
from tasks.report.write import check_target
from tasks.views.corpora import CorporaView, CorpusRow
from tasks.views.documents import find_page
from tests.hostile import HOSTILE

SMALL = {"snapshot": 1, "embedder": "small/fp32/8"}
CORPORA = CorporaView(
    corpora=[
        CorpusRow(corpus="default", **SMALL, documents=4, pages=5, nodes=8),
        CorpusRow(corpus="pulled", **SMALL, pulled_from="s3://x"),
        CorpusRow(corpus="torn", snapshot=0, embedder="'/data/CURRENT' is damaged"),
    ]
)
"""Rows of the list of corpora: how the table of a real damaged one is broken depends on where it lies."""
SKIPPED = [SkippedFile("/files/link.pdf", "a symbolic link"), SkippedFile(f"/files/{HOSTILE}", HOSTILE)]
FINDINGS = [Finding("rows", "8 rows of no document", "run an ingest"), Finding("rows", HOSTILE, HOSTILE)]
CHECKUPS = [
    Checkup(
        "chat", "http://127.0.0.1:8000/v1", (ServerCheck("replies", "in 0.5 s"), ServerCheck("pictures", "none", "serve another"))
    ),
    Checkup("embeddings", HOSTILE, (ServerCheck("replies", HOSTILE, HOSTILE),)),
]
DONE = IngestReport(
    corpus="default",
    snapshot=3,
    read=3,
    unchanged=2,
    renamed=1,
    pages=40,
    nodes=400,
    failures=(),
    skipped=1,
    mended=(),
    step_seconds={"parse": 12.5, "embed": 3.0},
    steps_remembered=4,
    calls=0,
    calls_remembered=0,
    tokens=0,
    cost=0.0,
)
BADLY_DONE = DONE.model_copy(
    update={
        "failures": tuple(Failure(name=name, state="failed", reason=name) for name in ("torn.pdf", HOSTILE)),
        "mended": (HOSTILE,),
        "vanished": (HOSTILE,),
        "calls": 1200,
        "calls_remembered": 7,
        "tokens": 3_400_000,
        "cost": 1.5,
    }
)
FULL = DiskFullError(
    "disk full at '/data', needs about 5 MB (1 MB are free)",
    "/data",
    "free some and run the same command again, it goes on",
    over_http="free some and send it again",
)


def in_corpus(name, do=lambda _snapshot: None):
    with open_for_reading(corpus_location(name)) as snapshot:
        do(snapshot)


def find(name):
    in_corpus("default", lambda snapshot: snapshot.find(name))


def look_at(name, number):
    in_corpus("default", lambda snapshot: find_page(snapshot, snapshot.find(name), number))


def guess_token():
    request = Request({"type": "http", "headers": [(b"authorization", b"Bearer guessed")], "client": None})

    async def guess():
        TokenCheck("sesame").require(request)

    asyncio.run(guess())


def fail(error):
    raise error


ERRORS = {
    "unknown corpus": lambda: in_corpus("defualt"),
    "bad name of a corpus": lambda: corpus_location(HOSTILE),
    "damaged corpus": lambda: in_corpus("damaged"),
    "unknown document": lambda: find("reprot.pdf"),
    "hostile document": lambda: find(HOSTILE),
    "ambiguous document": lambda: find("p"),
    "no such page": lambda: look_at("paper.pdf", 99),
    "no page of what failed": lambda: look_at("torn.pdf", 1),
    "unknown answer": lambda: in_corpus("default", lambda snapshot: snapshot.answer("00000000")),
    "bad range of pages": lambda: page_range("7-3"),
    "no question": lambda: parse_form(AskRequest, {"questions": []}),
    "strange field": lambda: parse_form(AskRequest, {"questions": ["How deep?"], HOSTILE: 1}),
    "busy": lambda: fail(busy("default", None)),
    "report without a folder": lambda: check_target(Path("/nowhere/a.html")),
    "no folder": lambda: check_writable(Path("/dev/null/home")),
    "disk full": lambda: fail(FULL),
    "wrong token": guess_token,
}
"""What raises each."""
