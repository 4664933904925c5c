"""Every route of the REST API with requests of its own description, and worse uploads: no fault of ours, nothing left behind."""

import asyncio
import os
import random
import shutil
import socket
from contextlib import suppress
from itertools import product

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from storage.errors import RequestError
from storage.locations import uploads_folder
from tests.flows.service.worlds import served
from tests.program import CORPUS
from tests.torture.lab import CAMPAIGN
from tests.torture.test_disk_full import small_disk
from tests.waiting import files_below, wait_until

pytestmark = pytest.mark.torture

REQUESTS, ROUNDS = 500, 20 if CAMPAIGN else 1
UPLOADS = "/api/v1/corpora/small/uploads"
KNOWN = {"corpus": "small", "document": "budget.xlsx", "page": 1, "name": "a.txt"}
"""What is there: of random names nothing is."""


def files_in(folder):
    return {str(path.relative_to(folder)) for path in files_below(folder)}


def left():
    return files_below(uploads_folder())


def require_well(reply):
    """The reply is no fault of ours; what is refused is so in words."""
    full = reply.status_code == 503 and "FLOWREADER_ASK_QUEUE" in reply.text
    assert reply.status_code < 500 or full, (reply.status_code, reply.text)
    if reply.status_code >= 400:
        said = reply.json()["error"]
        assert set(said) == {"what", "value", "remedy"} and said["what"], said


def test_each_route_takes_what_its_description_allows_and_worse(service_home, service, monkeypatch, tell):
    async def nothing(paths, *_more):
        await asyncio.sleep(0.01)
        raise RequestError("nothing is read here", paths[0], "")

    monkeypatch.setattr("flows.service.ingests.run_ingest_command", nothing)
    described, before, seen = schemathesis.openapi.from_url(f"{service}/openapi.json"), files_in(service_home.parent), {}
    operations = [each.ok() for each in described.get_all_operations()]

    def sent(case, known, told):
        if case.method != "DELETE":
            case.path_parameters |= {name: KNOWN[name] for name in known if name in case.path_parameters}
        if case.path.endswith("/ask") and told and isinstance(case.body, dict):
            case.body |= {"questions": ["What is the weight of an MT-3 without its base?"], "corpus": "small"}
        reply = case.call(timeout=60)
        require_well(reply)
        seen.setdefault((case.method, case.path), set()).add(reply.status_code)

    # Of many requests at once Hypothesis remembers each, and gets slow; of all routes at once it leaves some out.
    for number, operation in product(range(ROUNDS), operations):
        known = st.sets(st.sampled_from(sorted(KNOWN)))
        some = settings(
            max_examples=REQUESTS // len(operations), deadline=None, suppress_health_check=list(HealthCheck), database=None
        )
        seed(number)(some(given(case=operation.as_strategy(), known=known, told=st.booleans())(sent)))()
    replies = ", ".join(f"{method} {path} {sorted(codes)}" for (method, path), codes in sorted(seen.items()))
    tell(f"{ROUNDS} times {REQUESTS} requests: {replies}")
    assert len(seen) == len(operations) == sum(len(methods) for methods in described.raw_schema["paths"].values())
    wait_until(lambda: not left(), 30, left)
    added = files_in(service_home.parent) - before
    kept = ("home/corpora/small/runs/", "home/corpora/small/asked/", "home/calls/", "home/abilities/")
    assert [name for name in added if not name.startswith(kept)] == []


HOSTILE = (
    *("..%2fa", "%2e%2e", "..", "%00", "a%00.txt", "%2fetc%2fpasswd", ".htaccess", "%ff%fe.txt", "-rf", "CON", "a%0ab.txt", "%20"),
    "a" * 300,
)
CORPORA = ["..", "%2e%2e%2f", "a%2fb", ".hidden", "a" * 65, "%00"]


def test_hostile_names_cut_doubled_and_too_large_uploads_leave_nothing_outside_their_place(
    service_home, service, monkeypatch, tell
):
    before, chance = files_in(service_home.parent), random.Random(21)
    content = (CORPUS / "product_page.html").read_bytes()
    for name in HOSTILE:
        require_well(httpx.put(f"{service}{UPLOADS}/{name}", content=content, timeout=60))
    for corpus in CORPORA:
        require_well(httpx.put(f"{service}/api/v1/corpora/{corpus}/uploads/a.txt", content=b"a", timeout=60))
    host, port = service.removeprefix("http://").split(":")
    for _cut in range(REQUESTS // 10):
        head = f"PUT {UPLOADS}/cut.html HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: {len(content)}\r\n\r\n".encode()
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall((head + content)[: chance.randrange(len(head), len(head) + len(content) - 1)])
    # the same content under two names, twice each
    begun = [httpx.put(f"{service}{UPLOADS}/{name}", content=content, timeout=60).json() for name in ("a.html", "b.html") * 2]
    (service_home / "own.toml").write_text("[limits]\nfile_megabytes = 1\n")
    monkeypatch.setenv("FLOWREADER_ASK_SETTINGS", str(service_home / "own.toml"))
    for sent in (b"a" * (3 << 20), iter([b"a" * (1 << 20)] * 3)):
        # It may be refused before it was sent.
        with suppress(httpx.WriteError):
            assert httpx.put(f"{service}{UPLOADS}/large.txt", content=sent, timeout=60).status_code == 413
    corpus = f"{service}/api/v1/corpora/small"

    def unfinished():
        ingests = httpx.get(f"{corpus}/ingests", timeout=60).json()["ingests"]
        return [each for each in ingests if each["state"] in ("waiting", "at work")]

    wait_until(lambda: not unfinished(), 240, unfinished)
    documents = httpx.get(f"{corpus}/documents?limit=1000", timeout=60).json()["documents"]
    shown = {path for each in documents for path in httpx.get(f"{corpus}/documents/{each['id']}", timeout=60).json()["paths"]}
    kept = left()
    assert all(path.name in shown for path in kept) and {"a.html", "b.html"} <= {path.name for path in kept}
    assert "cut.html" not in str(kept) and "large.txt" not in str(kept) and ".partial" not in str(kept)
    assert all(httpx.get(f"{corpus}/ingests/{each['id']}", timeout=60).json()["state"] == "done" for each in begun)
    tell(f"{len(kept)} files kept, each a document's")
    outside = [name for name in files_in(service_home.parent) - before if not name.startswith("home/")]
    assert outside == []


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can mount a small file system")
def test_an_upload_that_the_disk_has_no_room_for_is_refused_in_words_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "disk"))
    with small_disk(tmp_path / "disk", 512), served() as (address, _intake):
        for sent in (b"a" * (1 << 20), iter([b"a" * 65536] * 16)):
            reply = httpx.put(f"{address}{UPLOADS}/large.txt", content=sent, timeout=60)
            assert reply.status_code == 503 and "disk full at" in reply.json()["error"]["what"]
            assert left() == []
