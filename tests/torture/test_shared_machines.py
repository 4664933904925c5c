"""Three machines (homes on this one) and a real S3 server: one reads documents in, another asks and goes on, a third takes down."""

import json
import subprocess
import sys

import pytest

from storage.locations import shared_store
from storage.object_store import ObjectStore
from tests.object_server import SECRET
from tests.program import CORPUS, flowreader

pytestmark = pytest.mark.torture

QUESTION = "How often are the shaft seals replaced?"
DOCUMENTS = (CORPUS / "maintenance_manual.docx", CORPUS / "budget.xlsx")


def names(shared):
    return list(ObjectStore(shared).names(""))


def answered(home):
    told = json.loads(flowreader("ask", QUESTION, "--json", home=home, check=0).stdout)
    return [(cited["document"]["name"], cited["page"], cited["quote"]) for cited in told["citations"]]


def documents(home):
    return {told["name"] for told in json.loads(flowreader("status", "--json", home=home, check=0).stdout)["documents"]}


def steps(home, corpus):
    """What the runs of a corpus did, and whether it was remembered."""
    lines = [line for path in (home / "corpora" / corpus / "runs").glob("*.jsonl") for line in path.read_text().splitlines()]
    entries = [json.loads(line) for line in lines]
    return {entry["step"]: entry["cache_hit"] for entry in entries if entry["kind"] == "step"}


def holding_words(home):
    """The files of a machine that hold words of the product page."""
    found = subprocess.run(["grep", "-rlE", "fishing boat|guide wires", str(home)], capture_output=True, text=True, check=False)
    return found.stdout.splitlines()


def test_machines_share_a_corpus(shared, tmp_path):
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    flowreader("ingest", *DOCUMENTS, home=one, check=0)
    assert answered(two) == answered(one) != []
    assert not list(two.glob("artifacts/??/*")), "a question that shows no picture fetches none"

    # What one machine computed another publishes without doing it again, here in a corpus of its own.
    flowreader("ingest", *DOCUMENTS, "--corpus", "second", home=two, check=0)
    done = steps(two, "second")
    assert done["evolve"] is True and "parse" not in done

    # A machine that never wrote goes on from what is published, and the first sees it.
    flowreader("ingest", CORPUS / "product_page.html", home=two, check=0)
    assert documents(one) == documents(three) == {"maintenance_manual.docx", "budget.xlsx", "product_page.html"}
    assert json.loads(flowreader("doctor", "--json", home=three, check=0).stdout)["findings"] == []

    # What is removed with --now is nowhere in the store, nor, at its next contact, on the machine that read it in and was asked.
    flowreader("ask", "What does an MT-3 cost?", home=two, check=0)
    assert holding_words(two)
    flowreader("documents", "remove", "product_page.html", "--now", home=one, check=0)
    assert documents(two) == {"maintenance_manual.docx", "budget.xlsx"}
    assert holding_words(two) == []
    for corpus in ("default", "second"):
        flowreader("corpora", "remove", corpus, home=three, check=0)
    assert names(shared) == [f"corpora/{corpus}/{name}" for corpus in ("default", "second") for name in ("lease", "removals")]
    gone = flowreader("ask", QUESTION, home=one, check=2)
    assert "there is no corpus 'default': FLOWREADER_STORE 's3://" in gone.stderr
    for home in (one, two, three):
        assert subprocess.run(["grep", "-rlq", SECRET, str(home)], check=False).returncode == 1


def test_an_ingest_on_a_second_machine_is_refused_with_the_name_of_the_first(shared, tmp_path):
    with subprocess.Popen([sys.executable, "-m", "tests.storage.lease_holder", "3"], stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "1\n"
            done = flowreader("ingest", DOCUMENTS[1], "--corpus", "shared", home=tmp_path / "home", check=2)
        finally:
            child.kill()
    assert f"corpus 'shared' is being written by process {child.pid} on " in done.stderr
    assert "wait for it, or stop it, and run the command again" in done.stderr
    flowreader("ingest", DOCUMENTS[1], "--corpus", "shared", home=tmp_path / "home", check=0)
    assert shared == shared_store()
