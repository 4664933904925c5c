"""Secrets stand in the environment and in a password file, and nowhere else: not in what is stored, said, logged or shown."""

import base64
import json
import re
import urllib.parse
from contextlib import suppress

import duckdb
import lancedb
import pytest
from reportlab.lib.pdfencrypt import StandardEncryption

from tests.chat_server import Misbehaviour, always, chat_server
from tests.deployments.brought_up import requested
from tests.hostile import plain_pdf
from tests.scripted_answers import Reader
from tests.scripted_reader import reads_well
from tests.torture.lab import Run, prefect_server_in
from tests.waiting import files_below

pytestmark = pytest.mark.torture

CHAT_KEY, REFUSED_KEY = "planted-chat-key-7f3a9c", "planted-refused-key-2b8d41"
STORE_KEY, PASSWORD, WRONG_PASSWORD = "planted/store+key/5e1c77", "planted word 9d20", "planted guess 61ab"
SECRETS = (CHAT_KEY, REFUSED_KEY, STORE_KEY, PASSWORD, WRONG_PASSWORD)
SETTINGS = """
[reading.analysis]
by = "model"
[ask.reading]
by = "model"
"""
PAGE = 200
LISTS = ("flow_runs", "task_runs", "logs", "artifacts", "events", "flows", "deployments", "block_documents")
FOUND_NEVERTHELESS = "hovering turbine"
"""Stands in a document that is read: what does not find it would find no secret either."""


def forms(secret):
    """Return the bytes that a secret may hide as: as it is, in a URL, and in base64 wherever it begins."""
    data = secret.encode()
    whole = [base64.b64encode(b"x" * shift + data)[(0, 2, 3)[shift] : -4] for shift in range(3)]
    return [data, urllib.parse.quote(secret, safe="").encode(), *whole]


def told_by_databases(folder):
    """Yield the rows of every database and Parquet file as text: they are compressed, and bytes alone tell nothing."""
    for path in sorted(folder.rglob("*.duckdb")):
        with duckdb.connect(str(path), read_only=True) as connection:
            for (table,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
                yield path, repr(connection.execute(f'SELECT * FROM "{table}"').fetchall())
    for path in sorted(folder.rglob("*.parquet")):
        yield path, repr(duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall())
    for path in sorted({path.parent.parent for path in folder.rglob("*.lance/_versions")}):
        opened = lancedb.connect(path)
        for table in opened.list_tables().tables:
            yield path, repr(opened.open_table(table).search().limit(None).to_list())


def told_by_files(folder):
    for path in files_below(folder):
        # Prefect's server is at work here.
        with suppress(FileNotFoundError):
            yield path, path.read_bytes() if path.is_file() else b""


def told_by_server(address):
    for name in LISTS:
        offset, told = 0, b""
        while told != b"[]" and (not told or name != "events"):
            asked = {"offset": offset, "limit": PAGE} if name != "events" else {"limit": 50}
            told = json.dumps(requested(address, f"/{name}/filter", asked)).encode()
            offset += PAGE
            yield name, told


class World:
    """A home, a Prefect server that writes everything down, and everything that was said."""

    def __init__(self, folder, server, settings):
        self.folder, self.server, self.settings, self.runs = folder, server, settings, []

    def run(self, *arguments, code):
        # Prefect's logs, wanted here, show what ended a step.
        self.runs.append(Run(*arguments, home=self.folder / "home", server=self.server))
        assert self.runs[-1].wait() == code, self.runs[-1].words[-3000:]
        return self.runs[-1]

    def ingest(self, address, passwords, *, code):
        chosen = ("--settings", self.settings, "--password-file", passwords)
        return self.run("ingest", address, "--corpus", "vault", "--json", *chosen, code=code)

    def everything(self):
        yield from told_by_files(self.folder)
        yield from ((path, text.encode()) for path, text in told_by_databases(self.folder))
        yield from told_by_server(self.server)

    def leaks(self):
        wanted = {form: secret for secret in SECRETS for form in forms(secret)}
        found = ((place, secret) for place, told in self.everything() for form, secret in wanted.items() if form in told)
        return sorted({f"{secret!r} in {place}" for place, secret in found})


@pytest.fixture
def world(tmp_path, monkeypatch, store):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", STORE_KEY)
    monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
    monkeypatch.setenv("PREFECT_LOGGING_LEVEL", "DEBUG")
    folder = tmp_path / "searched"
    (tmp_path / "settings.toml").write_text(SETTINGS)
    with prefect_server_in(folder / "server") as address:
        yield World(folder, address, tmp_path / "settings.toml")


def passwords(folder, password):
    path = folder / f"passwords-{len(password)}"
    path.write_text(f"locked.pdf\t{password}\n")
    return path


def replied(request):
    describes = "Descri" in request.form or request.form == "NoteJudgements"
    return (reads_well if describes else Reader({"turbine": "a turbine"}))(request)


def put_locked(store, folder, key):
    locked = plain_pdf(folder, "locked.pdf", encrypt=StandardEncryption(PASSWORD, ownerPassword="owner", strength=128))
    store.put(key, locked.read_bytes())


@pytest.mark.sentinel
def test_secrets_are_stored_sent_and_shown_nowhere(world, store, tmp_path, monkeypatch, tell):
    put_locked(store, tmp_path, "in/locked.pdf")
    store.put("in/page.html", f"<h1>Energy</h1><p>A {FOUND_NEVERTHELESS} makes power where the wind is strong.</p>".encode())
    right, wrong = passwords(tmp_path, PASSWORD), passwords(tmp_path, WRONG_PASSWORD)
    address = store.address("in/")

    with chat_server(replied, api_key=CHAT_KEY) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        monkeypatch.setenv("FLOWREADER_CHAT_API_KEY", REFUSED_KEY)
        refused = world.ingest(address, right, code=2)
        assert "no setting" not in refused.words
        world.run("doctor", "--models", "--json", code=1)
        monkeypatch.setenv("FLOWREADER_CHAT_API_KEY", CHAT_KEY)
        assert world.ingest(address, wrong, code=1).said["totals"]["states"] == {"ready": 1, "needs_password": 1}
        assert world.ingest(address, right, code=0).said["totals"]["states"] == {"ready": 2}
        of = ("--corpus", "vault", "--settings", world.settings, "--json")
        answer = world.run("ask", "What makes power?", *of, "--report", world.folder / "answer.html", code=0).said
        world.run("lineage", answer["answer_id"], "--corpus", "vault", "--json", code=0)
        world.run("lineage", "locked.pdf", "--corpus", "vault", "--json", code=0)
        world.run("report", answer["answer_id"], "--corpus", "vault", "--output", world.folder / "again.html", code=0)
        world.run("evaluate", "probe", "--corpus", "vault", "--limit", "2", "--reader", "top-k", "--json", code=0)
    calls = model.calls
    with chat_server(replied, misbehave=always(Misbehaviour.UNAUTHORISED)) as model:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", model.base_url)
        store.put("in/more.html", b"<h1>More</h1><p>Another page that a model is to describe in a few words.</p>")
        echoed = world.ingest(address, right, code=1)
        world.run("ask", "Where is the wind strong?", *of, code=0)
    store.refusals[""] = "SignatureDoesNotMatch"
    world.ingest(address, right, code=2)

    assert "no such key" in refused.words and "no such key" in echoed.words, "the server's words are told, without the key"
    assert world.leaks() == []
    seen = [(place, told) for place, told in world.everything() if FOUND_NEVERTHELESS.encode() in told or b"vault" in told]
    kinds = {place if isinstance(place, str) else re.sub(r"\d", "", place.suffix or place.name) for place, _ in seen}
    assert {"flow_runs", "logs", "artifacts", ".duckdb", "lance", ".jsonl", ".db", ".out", ".html"} <= kinds, kinds
    files = sum(1 for _ in told_by_files(world.folder))
    tell(f"{len(SECRETS)} secrets, {len(world.runs)} commands, {calls} calls: in none of {files} files and {len(LISTS)} lists")
