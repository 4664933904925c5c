"""The desk of an ingest holds the corpus and its lineage while the run goes on, and lets both go."""

import pytest

from flows.ingest_desk import at_the_desk
from storage.at_work import is_at_work
from storage.corpus import open_for_writing
from storage.locations import corpus_location
from storage.lock import CorpusBusyError
from storage.runs import read_run
from tasks.ingest_request import IngestRequest, look
from tasks.models.embedder import default_identity


def test_the_corpus_is_held_and_what_is_found_is_to_be_read(home, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "tides.html").write_text("<h1>Tides</h1><p>The tide turns twice a day.</p>")
    request = IngestRequest(paths=(str(tmp_path / "in"),), corpus="tides")
    location = corpus_location("tides")
    run_file = location.runs / "r1.jsonl"
    with at_the_desk(request, "r1") as desk:
        with pytest.raises(CorpusBusyError), open_for_writing(location, embedder=default_identity(), wait_seconds=0):
            pass
        assert is_at_work(run_file) and (desk.chat, desk.runner, desk.workers()) == (None, None, None)
        (work,) = desk.survey(look(request)).plan.work
        assert work.name == "tides.html" and desk.tools.settings == request.settings
    first, last = read_run(run_file).entries
    assert first["parameters"]["paths"] == [str(tmp_path / "in")] and last["outcome"] == "ended" and not is_at_work(run_file)
