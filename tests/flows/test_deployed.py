"""What Prefect's server knows of runs as deployments make them: tasks and their graphs, maintenance, names and tags."""

import asyncio
import json
from itertools import pairwise

from flows.maintain import NEXT_GOES_ON, maintain_corpus
from storage.locations import corpus_location
from storage.text import shorten
from tasks.ingest.maintenance import MaintainRequest
from tests.asking_worlds import TORQUE, WEIGHT
from tests.program import flowreader

ROUNDS = ("evolve-round 1", "evolve-round 2", "evolve-round 3")
DOCUMENT = ("parse", "read-words", "structure", "analyze", "embed", *ROUNDS, "evolve")
QUESTION = (
    *("keywords", "candidates", "score", "compare-tokens", "weigh-opinions"),
    *("size", "route", "fetch", "read", "synthesize", "record"),
)


def chain(steps, name):
    return {f"{steps[0]} {name}": []} | {f"{step} {name}": [f"{before} {name}"] for before, step in pairwise(steps)}


def test_the_steps_of_a_document_lead_to_its_publishing(deployed):
    assert deployed["graphs"]["ingest"] == chain(DOCUMENT, "tides.html") | {
        "parse empty.pdf": [],
        "publish 2 documents": ["evolve tides.html", "parse empty.pdf"],
        "index full text": ["publish 2 documents"],
    }


def test_a_graph_is_made_anew_by_the_same_steps_and_no_file_is_read(deployed):
    assert deployed["graphs"]["evolve"] == chain((*DOCUMENT[:6], "evolve"), "tides.html") | {
        "publish 1 documents": ["evolve tides.html"],
        "index full text": ["publish 1 documents"],
    }
    done = deployed["evolve"]["returned"]
    assert " read=1, " in done and " steps_remembered=3, " in done, "parse, read-words and embed"
    assert deployed["evolve page"][2].startswith("1 document read (1 page, ")
    assert deployed["evolve nothing"]["state"] == "Failed" and "tidse" in deployed["evolve nothing"]["message"]


def test_the_steps_of_a_question_lead_to_its_answer_and_to_no_other(deployed):
    drawn = {name: before for name, before in deployed["graphs"]["ask"].items() if name.startswith(QUESTION)}
    assert drawn == chain(QUESTION, shorten(TORQUE)) | chain(QUESTION, WEIGHT)


def test_what_asks_a_model_has_the_tag_by_which_an_operator_limits_it(deployed):
    parsed = {f"parse {name}": ["parse"] for name in ("tides.html", "empty.pdf")}
    assert deployed["limited"] == {"most at once": 1, "tags": parsed | {"slow one": ["model"], "slow other": ["model"]}}


def test_a_question_that_is_asked_again_is_one_task_that_is_shown_as_cached(deployed):
    first, (again,) = deployed["ask"]["returned"][1], deployed["ask again"]["returned"]
    assert deployed["ask again"]["tasks"] == {f"kept-answer {WEIGHT}": "Cached"}
    assert again["cached"] and again["answer_id"] == first["answer_id"] and not first["cached"]


def test_a_step_that_fails_twice_has_three_attempts_there_and_in_lineage(deployed):
    tried = deployed["tried again"]
    error = "ConnectionResetError: the store is away"
    assert tried["recorded"] == [[1, error], [2, error], [3, ""]]
    assert tried["states"].count("Running") + tried["states"].count("Retrying") == 3 and tried["states"][-1] == "Completed"
    assert tried["key"].startswith("shaky-"), "limits and history by task go by this key"


def test_of_many_writers_at_once_the_server_refuses_none(deployed):
    assert deployed["written together"] == [201] * 40 + [204], "SQLite under it takes one at a time: the others wait"


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


def test_a_damaged_corpus_is_left_to_doctor(own_home):
    corpus_location("small").current.write_text("garbage")
    (found,) = asyncio.run(maintain_corpus(corpus_location("small"), MaintainRequest())).findings
    assert found.check == "published snapshot"


def test_a_corpus_of_a_newer_program_is_a_finding_and_keeps_no_other_from_being_looked_after(own_home):
    location = corpus_location("small")
    pointer = json.loads(location.current.read_bytes())
    location.current.write_text(json.dumps(pointer | {"schema_version": 999}))
    (found,) = asyncio.run(maintain_corpus(location, MaintainRequest())).findings
    assert "999" in found.what and found.remedy == NEXT_GOES_ON
    (row,) = json.loads(flowreader("corpora", "list", "--json", home=own_home, check=0).stdout)["corpora"]
    assert "999" in row["embedder"] and row["documents"] == 0
