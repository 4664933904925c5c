"""The first Ctrl-C is a wish, the second an end; handlers go back to what they were."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from flows.display.output import INTERRUPT_EXIT
from flows.prefect_runs.interruption import ended, ending_in_order
from tasks.models import process
from tasks.progress import StoppedError, report, stop_requested


def test_the_first_signal_asks_every_step_to_stop(monkeypatch):
    monkeypatch.setattr(process, "_living", set())  # models of other tests live on
    before = signal.getsignal(signal.SIGINT)
    with ending_in_order():
        os.kill(os.getpid(), signal.SIGINT)
        assert stop_requested()
        ended()
        with pytest.raises(StoppedError):
            report("a", "parse", 0, 1)
    assert signal.getsignal(signal.SIGINT) is before
    assert "ending" not in [thread.name for thread in threading.enumerate()], "it would end what begins now"
    with ending_in_order():
        assert not stop_requested()


def test_the_second_signal_ends_at_once():
    program = (
        "import os, signal, time\nfrom flows.prefect_runs.interruption import ending_in_order\n"
        "with ending_in_order():\n    for _ in range(2): os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=30).returncode == INTERRUPT_EXIT


def test_work_that_does_not_listen_is_cut_off_in_time_and_says_so():
    program = (
        "import os, signal, time\nfrom flows.prefect_runs import interruption\ninterruption.PATIENCE_SECONDS = 0.2\n"
        "with interruption.ending_in_order():\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(60)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], timeout=30, capture_output=True, text=True)
    assert done.returncode == INTERRUPT_EXIT and "what is finished stays, and the same command goes on" in done.stderr


def test_a_signal_that_is_ignored_stays_ignored():
    program = (
        "import os, signal\nfrom flows.prefect_runs.interruption import ending_in_order\n"
        "from tasks.progress import stop_requested\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with ending_in_order():\n    os.kill(os.getpid(), signal.SIGINT)\n    assert not stop_requested()\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n    assert stop_requested()\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=30).returncode == 0
