"""All corpora or the named ones, and no name that could leave the folder."""

import pytest
from pydantic import ValidationError

from storage.snapshot import UnknownCorpusError
from tasks.maintain_request import MaintainRequest, corpora_to_maintain


def names(request):
    return [location.name for location in corpora_to_maintain(request)]


def test_no_name_means_every_corpus_and_names_mean_those(home):
    assert names(MaintainRequest()) == []
    for name in ("b", "a", "c"):
        (home / "corpora" / name).mkdir(parents=True)
    (home / "corpora" / "file").touch()
    assert names(MaintainRequest()) == ["a", "b", "c"]
    assert names(MaintainRequest(corpora=("c", "a"))) == ["a", "c"]


def test_a_corpus_that_is_not_there_is_named_and_nothing_is_done(home):
    (home / "corpora" / "reports").mkdir(parents=True)
    with pytest.raises(UnknownCorpusError, match=r"no corpus 'report'.*or none to look after all"):
        corpora_to_maintain(MaintainRequest(corpora=("report",)))


@pytest.mark.parametrize("wrong", [{"corpora": ("../x",)}, {"corpora": ("",)}, {"wait_seconds": -1}, {"wait_seconds": 3601}])
def test_what_is_out_of_bounds_is_refused_by_the_form(wrong):
    with pytest.raises(ValidationError):
        MaintainRequest(**wrong)
    assert "pattern" in MaintainRequest.model_json_schema()["properties"]["corpora"]["items"]
