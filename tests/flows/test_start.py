"""Ctrl-C ends the program quietly from its first moment on."""

import os
import signal
import subprocess
import sys
import time

import pytest


@pytest.mark.parametrize("seconds", [0, 0.1, 0.3])
def test_an_interrupt_while_it_loads_leaves_no_traceback(tmp_path, seconds):
    process = subprocess.Popen(
        # Python says what it imports. Argparse is the first that we load: before, a signal is Python's affair and not ours.
        [sys.executable, "-X", "importtime", "-m", "flows.start", "ask", "What?", "--corpus", "absent"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "FLOWREADER_HOME": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while b" argparse" not in (line := process.stderr.readline()):
        assert line, process.wait()
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _said, complaint = process.communicate(timeout=60)
    # one that was loaded by then has found that there is no such corpus
    assert process.returncode in {130, 2}, complaint[-2000:]
    assert b"Traceback" not in complaint


def test_it_runs_the_command_line(tmp_path):
    call = [sys.executable, "-m", "flows.start", "corpora", "list", "--json"]
    done = subprocess.run(call, env={**os.environ, "FLOWREADER_HOME": str(tmp_path)}, capture_output=True, check=True)
    assert done.stdout == b'{"corpora": []}\n'
