"""Ctrl-C ends the program quietly from its first moment on."""

import os
import signal
import subprocess
import sys

import pytest


# Before the first of these a signal is Python's affair; long after the second it could meet the end of the program.
@pytest.mark.parametrize("module", [" argparse", " storage.locations"], ids=["the program", "the command"])
def test_an_interrupt_while_it_loads_leaves_no_traceback(tmp_path, module):
    process = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "flows.start", "ask", "What?", "--corpus", "absent"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "FLOWREADER_HOME": str(tmp_path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while module not in (line := process.stderr.readline().decode()):
        assert line, process.wait()
    process.send_signal(signal.SIGINT)
    _said, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint[-2000:]
    assert b"Traceback" not in complaint


def test_it_runs_the_command_line(tmp_path):
    call = [sys.executable, "-m", "flows.start", "corpora", "list", "--json"]
    done = subprocess.run(call, env={**os.environ, "FLOWREADER_HOME": str(tmp_path)}, capture_output=True, check=True)
    assert done.stdout == b'{"corpora": []}\n'
