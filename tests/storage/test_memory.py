"""What a batch took is given back when it is done."""

import subprocess
import sys

PROGRAM = """
import threading
from storage.memory import bound_arenas, give_back
bound_arenas()

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 // 2**20

def work():
    pieces = [bytes(50_000) for _ in range(4000)]
    last = pieces[-1] + b"x"
    del pieces
    return last

before = resident()
kept = []
threads = [threading.Thread(target=lambda: kept.append(work())) for _ in range(6)]
for thread in threads: thread.start()
for thread in threads: thread.join()
give_back()
print(resident() - before)
"""


def test_memory_of_many_threads_is_given_back():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 50
