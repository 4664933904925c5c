"""Maintenance looks after every corpus, leaves one alone that is being written, and fails where doctor finds something."""

import asyncio
import json

from flows.maintain import NEXT_GOES_ON, maintain_corpus
from storage.locations import corpus_location
from tasks.ingest.maintenance import MaintainRequest
from tests.program import flowreader


def test_what_is_well_completes_with_a_page(deployed):
    assert deployed["maintain"]["state"] == "Completed"
    kind, page, told = deployed["pages"]["maintain"]
    assert kind == "markdown" and told == "2 corpora looked after, 0 skipped, 0 findings"
    assert "- **small**: well" in page and "- **tides**: well" in page


def test_a_corpus_that_is_being_written_is_skipped_and_named(deployed):
    assert deployed["busy"]["state"] == "Completed"
    small, tides = deployed["busy"]["returned"]
    assert "skipped=''" in small and "corpus 'tides' is being written by process" in tides


def test_a_broken_artifact_fails_the_run_and_the_page_names_the_remedy(deployed):
    assert deployed["broken"]["state"] == "Failed" and "1 finding" in deployed["broken"]["message"]
    assert "does not match its hash" in deployed["broken page"] and "flowreader documents remove" in deployed["broken page"]


def test_a_corpus_that_is_not_there_is_an_error_that_names_the_nearest(deployed):
    assert deployed["unknown"]["state"] == "Failed" and "take 'small', 'tides', or name none" in deployed["unknown"]["message"]


def test_a_corpus_of_a_newer_program_is_a_finding_and_keeps_no_other_from_being_looked_after(own_home):
    location = corpus_location("small")
    pointer = json.loads(location.current.read_bytes())
    location.current.write_text(json.dumps(pointer | {"schema_version": 999}))
    (found,) = asyncio.run(maintain_corpus(location, MaintainRequest())).findings
    assert "999" in found.what and found.remedy == NEXT_GOES_ON
    (row,) = json.loads(flowreader("corpora", "list", "--json", home=own_home, check=0).stdout)["corpora"]
    assert "999" in row["embedder"] and row["documents"] == 0
