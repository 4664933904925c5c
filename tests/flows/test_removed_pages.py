"""What the command line removes goes from Prefect's UI too, and where that cannot be it is told and hinders nothing."""

import os
import subprocess
import sys

from flows.home_server import note_server, take_home
from flows.removed_pages import corpus_pages
from storage.answer_json import answer_json
from storage.locations import corpus_location
from storage.runs import ASKING, RunLog
from tests.storage.answer_worlds import answer


def test_a_removed_document_and_a_removed_corpus_take_their_pages_along(deployed):
    before, document, corpus = (set(deployed["removed"][when]) for when in ("before", "document", "corpus"))
    assert {"ingest-tides", "ingest-tides-lineage"} <= before - document <= {"ingest-tides", "ingest-tides-lineage", "maintain"}
    assert "ingest-tides-progress" in document, "which does not name it"
    gone = document - corpus
    assert {key for key in gone if key.startswith("ingest")} == {"ingest-plain-progress"}
    assert len([key for key in gone if key.startswith("answer-")]) == len(gone) - 1 == 2, "an answer's page, and its lineage"


def test_every_page_of_a_corpus_is_named(home):
    told = answer("report")
    RunLog(corpus_location("small").runs / f"{ASKING}1.jsonl").answer(answer_json(told))
    asked = f"answer-{told.answer_id[:16]}"
    assert set(corpus_pages(corpus_location("small"))) == {
        "ingest-small", "ingest-small-progress", "ingest-small-lineage", asked, f"{asked}-lineage"
    }  # fmt: skip


PROGRAM = """
import sys
from flows.removed_pages import corpus_forgotten, document_forgotten
from flows.showing import Output
from storage.locations import corpus_location

output = Output(as_json=True)
print(document_forgotten(corpus_location("small"), [], output), corpus_forgotten(["ingest-small"], output))
print("prefect" in sys.modules)
"""


def forgotten(**server):
    """What a process says that removes, told of a server or of none."""
    environment = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"} | server
    return subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)


def test_without_a_server_nobody_is_asked_and_prefect_stays_unloaded(home):
    done = forgotten()
    assert (done.stdout.split(), done.stderr) == (["{}", "{}", "False"], "")


def test_a_server_that_is_away_is_told_with_what_becomes_of_the_pages(home):
    done = forgotten(PREFECT_API_URL="http://127.0.0.1:1/api")
    first, second = (line for line in done.stderr.splitlines() if "stay" in line)
    assert "(PrefectServerError); the next maintenance deletes" in first and "of a removed corpus" in second
    assert done.stdout.split()[:2] == ["{}", "{}"]


def test_the_server_that_is_up_for_the_home_is_asked_without_being_named(home):
    home.mkdir()
    held = take_home()
    note_server(held, "http://127.0.0.1:1/api")
    assert len([line for line in forgotten().stderr.splitlines() if "stay (PrefectServerError)" in line]) == 2
    os.close(held)
