"""What there is to read in is seen without writing anything, whatever state the corpus is in."""

import json

import pytest

from storage.artifacts import hash_bytes
from storage.catalog.current import snapshot_path
from storage.locations import corpus_location
from tasks.ingest.request import IngestRequest, survey_for
from tasks.settings.ask import AllSettings
from tasks.settings.base import changed
from tests.program import CHEAP


def request_for(folder, **settings):
    named = {name.replace("__", "."): value for name, value in settings.items()}
    return IngestRequest(paths=(str(folder),), corpus="small", settings=changed(AllSettings(), named).for_ingest())


def files_below(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*")) if path.is_file()}


def names(found):
    return sorted(work.name for work in found.plan.work)


def test_of_a_corpus_that_is_not_there_everything_is_to_be_read_and_none_is_made(home, cheap_documents):
    found = survey_for(request_for(cheap_documents))
    assert names(found) == sorted(CHEAP) and len(found.found.files) == len(CHEAP)
    assert not home.exists()


def test_what_is_read_in_is_nothing_to_do_and_what_is_new_is(in_library, cheap_documents, tmp_path):
    before = files_below(in_library / "corpora")
    assert survey_for(request_for(cheap_documents)).plan.nothing_to_do
    (tmp_path / "new.html").write_text("<p>The tide turns twice a day.</p>")
    found = survey_for(IngestRequest(paths=(str(cheap_documents), str(tmp_path / "new.html")), corpus="small"))
    assert names(found) == ["new.html"] and len(found.plan.unchanged) == len(CHEAP)
    assert files_below(in_library / "corpora").keys() == before.keys()


def test_other_settings_of_reading_make_all_of_it_work_and_settings_of_asking_nothing(in_library, cheap_documents):
    assert names(survey_for(request_for(cheap_documents, reading__evolution__rounds=0))) == sorted(CHEAP)
    assert survey_for(request_for(cheap_documents, ask__selection__mixing=0.0)).plan.nothing_to_do


@pytest.mark.parametrize("part", ["current", "snapshot", "catalog"])
def test_of_a_damaged_corpus_everything_is_to_be_read_and_the_damage_stays_for_the_run_to_mend(own_home, cheap_documents, part):
    location = corpus_location("small")
    current = json.loads(location.current.read_bytes())
    damaged = location.current if part == "current" else snapshot_path(location, current["snapshot"])
    damaged.write_bytes(b"no such thing")
    if part == "catalog":
        # What was written is what was meant, and yet no catalog.
        location.current.write_text(json.dumps(current | {"sha256": hash_bytes(b"no such thing")}))
    assert names(survey_for(request_for(cheap_documents))) == sorted(CHEAP)
    assert damaged.read_bytes() == b"no such thing"
