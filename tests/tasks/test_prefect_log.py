"""Outside a Prefect run nobody is told; what a run's page says is tested with real runs in tests/flows/test_watched_runs.py."""

import subprocess
import sys

from tasks.happenings import tell
from tasks.prefect_log import flow_at_work, say_to_prefect, told_to_prefect
from tests.tasks import happening_worlds as worlds

OUTSIDE = """
import sys
from tasks.prefect_log import flow_at_work, told_to_prefect
with told_to_prefect("r1"):
    assert flow_at_work() == "ask"
assert "prefect" not in sys.modules
"""


def test_prefect_is_not_loaded_where_no_run_of_it_is_at_work():
    assert subprocess.run([sys.executable, "-c", OUTSIDE], timeout=60).returncode == 0


def test_where_it_is_loaded_and_no_run_is_at_work_nobody_is_told(caplog):
    import prefect  # noqa: F401

    with told_to_prefect("r1"):
        tell(worlds.ended("failed", "cut"))
        say_to_prefect("something")
    assert flow_at_work() == "ask" and caplog.records == []
