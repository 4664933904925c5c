"""A process that keeps answers, one after the other from two threads: `python -m tests.storage.answering_process FOLDER COUNT`."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from storage.runs.answer_json import answer_json
from tests.storage.answer_worlds import asking_log, numbered
from tests.storage.worlds import corpus_in


def keep_answers(folder: Path, count: int) -> None:
    log = asking_log(corpus_in(folder), "busy")
    log.begin(run_id="busy", parameters={}, settings={}, code_version="1")
    sys.stdout.write("began\n")
    sys.stdout.flush()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda each: log.answer(answer_json(each)), numbered(count, "report", "paper")))


if __name__ == "__main__":
    keep_answers(Path(sys.argv[1]), int(sys.argv[2]))
