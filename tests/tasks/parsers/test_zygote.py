"""The warm process ends with its parent, whichever way that goes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}


def start(parent: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tasks.parsers.zygote", str(parent)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, cwd=ROOT)


def test_it_is_ready_ignores_ctrl_c_and_ends_when_its_input_closes():
    with start(os.getpid()) as zygote:
        assert zygote.stdout.readline() == b'{"ready": true}\n'
        zygote.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert zygote.poll() is None
        zygote.stdin.close()
        assert zygote.wait(5) == 0


def test_it_ends_before_it_is_warm_when_another_process_is_its_parent():
    with start(parent=1) as zygote:
        assert zygote.stdout.readline() == b""
        assert zygote.wait(5) == 1
