"""Which wording of the prompt of small models is best, tried on the small local model and chosen out of fold.

    python -m tests.bench.small_prompts --prompts FOLDER [--dataset FOLDER --corpus NAME --home DIR --most 50]

FOLDER holds a file for each wording, with the slots of tasks/prompts/worker_small.md, which is one of them. All are asked the forty
questions of tests/corpus, or those of a dataset that was read in before. What counts is what is shown and right. The wording that
is best on all folds but one is scored on that one, so that the last line tells what choosing brings, not what luck does.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

import numpy as np

from storage.artifacts import hash_bytes
from storage.locations import calls_folder
from storage.records.evaluations import BenchmarkQuestion
from storage.runs.replies import CallCache, questions_owner
from tasks.models.local import local_model, reachable
from tasks.prompts.prompt import Prompt, load_prompt
from tasks.reading import model_calls
from tests.bench.local_model import Heard, answered, corpus_questions, dataset_questions, holds, is_right, paired, share
from tests.bench.measuring import CORPUS, ROOT, Figure, Part, flowreader, measure_parts

PRESENT = "worker_small"
FOLDS = 10


def wordings(folder: Path) -> dict[str, Prompt]:
    """Return the present wording and those of the folder by their names."""
    texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.md"))}
    return {PRESENT: load_prompt(PRESENT)} | {
        name: Prompt(PRESENT, text, hash_bytes(text.encode())) for name, text in texts.items()
    }


def fold_of(question: BenchmarkQuestion) -> int:
    """Return the fold of a question: questions of a document share one."""
    return int(hash_bytes("".join(question.documents or (question.id,)).encode())[:8], 16) % FOLDS


async def tried(prompt: Prompt, questions: Sequence[BenchmarkQuestion], corpus: str) -> list[tuple[bool, bool, bool]]:
    """Return of each question whether it was answered by this wording, rightly, and whether what is shown is right."""

    def load(name: str) -> Prompt:
        return prompt if name == PRESENT else load_prompt(name)

    found = []
    with patch.object(model_calls, "load_prompt", load):
        for question in questions:
            _answer, reading = await answered(question, corpus, Heard(), local=True)
            said, right = bool(reading.said.strip()), is_right(question, reading)
            found.append((said, right, right if said else holds(question, reading.quotes)))
    return found


def out_of_fold(shown: Mapping[str, Sequence[bool]], folds: Sequence[int]) -> list[bool]:
    """Return what is right where each fold is shown by the wording that is best on all others, the first of equals."""
    values, fold = np.array([*shown.values()], dtype=np.int64), np.array(folds)
    best = [int(np.argmax(values[:, fold != one].sum(axis=1))) for one in folds]
    return [bool(values[place, number]) for number, place in enumerate(best)]


def measure(folder: Path, questions: Sequence[BenchmarkQuestion], corpus: str) -> Part:
    CallCache(calls_folder()).forget(questions_owner(corpus))
    with reachable(local_model()):
        found = {name: asyncio.run(tried(prompt, questions, corpus)) for name, prompt in wordings(folder).items()}
    rows = [
        share(f"{name}: {what}", [one[place] for one in each])
        for name, each in found.items()
        for place, what in enumerate(("answered", "right", "shown and right"))
    ]
    shown = {name: [one[2] for one in each] for name, each in found.items()}
    chosen = out_of_fold(shown, [fold_of(question) for question in questions])
    gains = [one - other for one, other in zip(chosen, shown[PRESENT], strict=True)]
    rows += [Figure("wordings tried", len(found), ""), share("chosen out of fold: shown and right", chosen)]
    return rows + paired("chosen out of fold, less the present one", gains), {"found": found}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="small_prompts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=Path, required=True, help="a folder with a .md file for each wording")
    parser.add_argument("--dataset", type=Path, help="questions, as `evaluate` takes them (default: those of tests/corpus)")
    parser.add_argument("--corpus", help="in which the dataset's documents were read")
    parser.add_argument("--home", help="the FLOWREADER_HOME of the corpus")
    parser.add_argument("--most", type=int, default=50, help="questions of the dataset (default: %(default)s)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["FLOWREADER_HOME"] = chosen.home or folder
        if chosen.dataset:
            questions = dataset_questions(chosen.dataset, chosen.most)
        else:
            flowreader(Path(folder), "ingest", ROOT / "tests" / "corpus")
            questions = corpus_questions()
        measure_parts("bench-prompts", {"prompts": lambda: measure(chosen.prompts, questions, chosen.corpus or CORPUS)}, None)


if __name__ == "__main__":
    main()
