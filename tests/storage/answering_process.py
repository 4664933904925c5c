"""A process that keeps answers from two threads, one after the other, until its input ends; then it says how many.

`python -m tests.storage.answering_process FOLDER`
"""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path

from storage.records.documents import identify
from storage.runs.answer_json import answer_json
from tests.storage.answer_worlds import answer, asking_log
from tests.storage.worlds import corpus_in


def keep_answers(folder: Path) -> None:
    log, numbers, over = asking_log(corpus_in(folder), "busy"), count(), threading.Event()

    def keep() -> None:
        while not over.is_set():
            log.answer(answer_json(replace(answer("report", "paper"), answer_id=identify("answer", next(numbers)))))

    log.begin(run_id="busy", parameters={}, settings={}, code_version="1")
    sys.stdout.write("began\n")
    sys.stdout.flush()
    with ThreadPoolExecutor(2) as pool:
        pool.submit(keep)
        pool.submit(keep)
        sys.stdin.read()
        over.set()
    sys.stdout.write(f"{next(numbers)}\n")


if __name__ == "__main__":
    keep_answers(Path(sys.argv[1]))
