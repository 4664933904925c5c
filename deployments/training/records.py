"""The files of triples: a line of JSON each, in train and held out, and one table in which people strike out lines."""

import csv
import io
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from flows.cli.arguments.parser import USAGE_EXIT
from flows.display.output import INTERRUPT_EXIT, STOPPED, Output
from storage.artifacts import write_durably
from storage.errors import ExpectedError, RequestError

PICTURES, TABLE, PARTS = "pages", "triples.csv", ("train", "held_out")
HELD_OUT = 0.1
"""Of the documents: how a rater does on one that it learned from says little."""
FORMULA = ("=", "+", "-", "@")
"""So begins what a spreadsheet would run; a model, or a document through it, may write that."""


@dataclass(frozen=True, slots=True)
class Triple:
    """A question, a page and its `label`, how much of the answer stands there.

    `target` is the rating that was wanted, None where the page is a neighbour of the one that the question was written about.
    `needed` is what the model says one must know. `picture` names a file by the hash of its bytes, "" where none was seen.
    """

    question: str
    answer: str
    target: int | None
    document: str
    document_id: str
    page: int
    id: str = ""
    needed: str = ""
    label: int = 0
    picture: str = ""
    text: str = ""


def write_triples(folder: Path, triples: Sequence[Triple], *, seed: int) -> None:
    """Write the parts, no document in both, and then the table."""
    documents = sorted({triple.document_id for triple in triples})
    held = {*random.Random(seed).sample(documents, max(int(len(documents) > 1), round(len(documents) * HELD_OUT)))}
    table = io.StringIO()
    writer = csv.DictWriter(table, ["part", *(name for name in Triple.__slots__ if name != "text")], extrasaction="ignore")
    writer.writeheader()
    for part in PARTS:
        lines = [asdict(one) for one in triples if (one.document_id in held) is (part == PARTS[1])]
        write_durably(folder / f"{part}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())
        writer.writerows({"part": part, **{name: _harmless(value) for name, value in line.items()}} for line in lines)
    write_durably(folder / TABLE, table.getvalue().encode())


def read_triples(folder: Path, part: str) -> list[Triple]:
    """Return the triples of a part that people left in the table."""
    try:
        kept = {row["id"] for row in csv.DictReader(io.StringIO((folder / TABLE).read_text("utf-8-sig"), newline=""))}
        lines = (folder / f"{part}.jsonl").read_text("utf-8").splitlines()
        return [triple for triple in (Triple(**json.loads(line)) for line in lines) if triple.id in kept]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RequestError(
            f"{str(folder)!r} holds no triples that can be read ({error})",
            str(folder),
            "make some with `python -m deployments.training.triples`",
        ) from error


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def exit_code(work: Callable[[Output], None]) -> int:
    """Do the work of a command, and say what went wrong as every command does."""
    output = Output(as_json=False)
    try:
        work(output)
        return 0
    except (ExpectedError, OSError) as error:
        output.error(error)
        return USAGE_EXIT
    except KeyboardInterrupt:
        output.side.print(STOPPED)
        return INTERRUPT_EXIT
