"""What a batch took is given back when it is done."""

import threading
from pathlib import Path

from storage.system import bound_arenas, give_back


def resident_megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20


def work():
    pieces = [bytes(50_000) for _ in range(4000)]
    last = pieces[-1] + b"x"
    del pieces
    return last


def test_memory_of_many_threads_is_given_back():
    bound_arenas()
    before, kept = resident_megabytes(), []
    threads = [threading.Thread(target=lambda: kept.append(work())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    give_back()
    assert len(kept) == 6 and resident_megabytes() - before < 50
