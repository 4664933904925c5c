"""Ctrl-C while modules load ends the process, also where Python would swallow a KeyboardInterrupt."""

import signal
import subprocess
import sys
import threading

import pytest

from flows.loading import INTERRUPT_EXIT, leaving_at_once

IN_A_CALLBACK = """
import os, signal, weakref
from flows.loading import leaving_at_once

class Module: pass

def interrupt(_gone):
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000): pass

signal.signal(signal.SIGINT, {before})
with {guard}:
    module = Module()
    watch = weakref.ref(module, interrupt)
    del module
print("went on")
"""


def ended(before="signal.default_int_handler", guard="leaving_at_once('gone')"):
    program = IN_A_CALLBACK.format(before=before, guard=guard)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


def test_an_interrupt_that_python_would_swallow_ends_the_process():
    unguarded = ended(guard="__import__('contextlib').nullcontext()")
    assert unguarded.returncode == 0 and unguarded.stdout == "went on\n" and "KeyboardInterrupt" in unguarded.stderr
    guarded = ended()
    assert (guarded.returncode, guarded.stdout, guarded.stderr) == (INTERRUPT_EXIT, "", "gone\n")


def test_an_interrupt_that_is_not_to_be_heard_is_not():
    assert ended(before="signal.SIG_IGN").stdout == "went on\n"


@pytest.fixture
def default():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def test_afterwards_the_signal_is_what_it_was(default):
    with leaving_at_once():
        assert signal.getsignal(signal.SIGINT) is not default
    assert signal.getsignal(signal.SIGINT) is default


def test_in_another_thread_nothing_changes(default):
    seen = []

    def load():
        with leaving_at_once():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()
    assert seen == [default]
