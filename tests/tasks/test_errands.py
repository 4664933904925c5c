"""An errand is refused by who would do it otherwise, an account by who finds nothing of it."""

from dataclasses import replace

import pytest

from storage.records import StepRecord
from tasks.errands import Account, WorkersError, require_remembered, require_same_installation
from tasks.settings import IngestSettings
from tests.flows.errands import PAGE, errand_for, place_of_run

DONE = StepRecord(
    run_id="run", step="parse", version="1", key="a" * 64, subject="b" * 64, started="", seconds=0.0, attempts=1,
    cache_hit=False, outputs={}, error="",
)  # fmt: skip


def test_the_same_settings_and_code_make_the_same_version(home, tmp_path):
    (tmp_path / "tides.html").write_text(PAGE)
    errand = errand_for(tmp_path / "tides.html")
    require_same_installation(errand, IngestSettings())
    with pytest.raises(WorkersError, match="same FlowReader"):
        require_same_installation(replace(errand, reader="another model"), IngestSettings())


def test_an_account_counts_only_where_its_artifacts_are(home):
    memo = place_of_run().memo
    with pytest.raises(WorkersError, match="same shared folder"):
        require_remembered(Account((DONE,)), memo)
    memo.remember(DONE.subject, DONE.step, DONE.key, {"0": memo.artifacts.put(b"pages")})
    require_remembered(Account((DONE,)), memo)
