"""A process that keeps answers from two threads, so many for each line that it reads.

`python -m tests.storage.answering_process FOLDER COUNT`
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from storage.runs.answer_json import answer_json
from tests.storage.answer_worlds import asking_log, numbered
from tests.storage.worlds import corpus_in

PARTS = 4


def keep_answers(folder: Path, count: int) -> None:
    log = asking_log(corpus_in(folder), "busy")
    log.begin(run_id="busy", parameters={}, settings={}, code_version="1")
    sys.stdout.write("began\n")
    sys.stdout.flush()
    answers = iter(numbered(PARTS * count, "report", "paper"))
    with ThreadPoolExecutor(2) as pool:
        for _part in range(PARTS):
            sys.stdin.readline()
            list(pool.map(lambda each: log.answer(answer_json(each)), islice(answers, count)))


if __name__ == "__main__":
    keep_answers(Path(sys.argv[1]), int(sys.argv[2]))
