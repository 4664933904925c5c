"""`python -m deployments.training.triples --corpus NAME --out FOLDER`: triples (question, page, rating) from a corpus of your own.

The chat model writes a question about a page, for a rating that it is to get, and rates the page by the prompt of `walk`; what it
rates otherwise than was wanted is dropped. `python -m deployments.training.train_rater FOLDER` learns from the rest.
"""

import argparse
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Annotated

from deployments.training.records import PICTURES, TABLE, Triple, exit_code, write_triples
from flows.display.output import Output
from storage.artifacts import hash_bytes, write_durably
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.documents import DocumentRecord, DocumentState, Modality, PageKey, identify
from tasks.algorithms.scores import dense_relevance
from tasks.asking.calls import Stage, counting_calls
from tasks.asking.records import Duty
from tasks.lineage.writing import lineage_of_run, working_at
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import Form, characters
from tasks.models.endpoints import require_chat_endpoint
from tasks.readers.forms import MOST_CHARACTERS, RatedPage, model_words
from tasks.readers.page_pictures import page_images
from tasks.readers.walk import page_piece, rating_of
from tasks.reading.choice import open_reader
from tasks.reading.model import ModelReader
from tasks.settings.ask import load_settings
from tasks.settings.base import change_settings
from tasks.settings.environment import check_environment

TARGETS, TOLERANCE = 5, 1
"""How far a rating may miss its target (the paper)."""
UNANSWERED = 2
"""For a page with this target, or a lower one, nothing on it answers the question."""
GOOD = 4
"""A neighbour of a page with this rating is rated, too: a walk mostly meets pages near one that answers."""
BATCH = 20
FOCI = {"text": "its running text", "table": "a table on it", "figure": "a figure on it", "layout": "how the page is laid out"}


class WrittenQuestion(Form):
    question: Annotated[str, characters(200)]
    answer: Annotated[str, characters(200)]


@dataclass(frozen=True, slots=True)
class Draw:
    """A page to ask about, the rating it should get, and what the question is about."""

    page: PageKey
    target: int
    focus: str

    @property
    def wanted(self) -> str:
        """The target in the prompt's words; a question that the page does not answer is about none of its parts."""
        return f"{self.target}, about {FOCI[self.focus]}" if self.target > UNANSWERED else str(self.target)


@dataclass(frozen=True, slots=True)
class Engine:
    """Makes triples with the reader's model; `foci` are what questions may be about, of every page that can be asked about."""

    snapshot: Snapshot
    reader: ModelReader
    records: Mapping[str, DocumentRecord]
    foci: Mapping[PageKey, Sequence[str]]
    neighbours: int

    def triples(self, draws: Sequence[Draw]) -> list[tuple[Triple, bytes]]:
        """Return what is kept of questions about these pages, and those about their neighbours, each with the picture seen."""
        calls, ratings = [], self._ratings([draw.page for draw in draws])
        for draw in draws:
            duty = ratings[draw.page]
            writing = Duty("triple_question", f"the question for {duty.item}", WrittenQuestion, duty.pieces, _wrong, duty.pictures)
            calls.append(self.reader.duty_call(draw.wanted, writing))
        written = [
            Triple(model_words(reply.question), model_words(reply.answer), draw.target, self._name(draw.page), *draw.page)
            for draw, reply in zip(draws, self.reader.context.ask(calls), strict=True)
            if not isinstance(reply, ChatError)
        ]
        asked = self._rate(written, ratings)
        kept = [(one, seen) for one, seen in asked if one.target and abs(one.label - one.target) <= TOLERANCE]
        good = [one for one, _ in kept if one.label >= GOOD]
        near = [replace(one, page=page, target=None) for one in good for page in self._near(one)]
        return kept + self._rate(near, self._ratings([(one.document_id, one.page) for one in near]))

    def _rate(self, written: Sequence[Triple], ratings: Mapping[PageKey, Duty[RatedPage]]) -> list[tuple[Triple, bytes]]:
        """Rate the pages as a walk does; leave out those without a usable rating.

        Here a model's words stand where a walk has the user's, outside of the fence: on one line, and all that comes of them is a
        line in a file that people read.
        """
        duties = [ratings[one.document_id, one.page] for one in written]
        calls = [self.reader.duty_call(one.question, duty) for one, duty in zip(written, duties, strict=True)]
        made = []
        for one, call, reply, duty in zip(written, calls, self.reader.context.ask(calls), duties, strict=True):
            if isinstance(reply, ChatError):
                continue
            seen = call.images[0] if self.reader.context.model.saw(call) else b""
            kind = "png" if seen.startswith(b"\x89PNG") else "jpg"
            own = identify("triple", one.document_id, one.page, one.question)[:16]
            picture, text = f"{hash_bytes(seen)}.{kind}" if seen else "", duty.pieces[0].text
            rated = replace(one, id=own, needed=model_words(reply.needed), label=reply.relevance, picture=picture, text=text)
            made.append((rated, seen))
        return made

    def _ratings(self, pages: Sequence[PageKey]) -> dict[PageKey, Duty[RatedPage]]:
        """Return for each page the duty to rate it."""
        nodes = {document: self.snapshot.nodes(document) for document in {document for document, _ in pages}}
        images = page_images(list(dict.fromkeys(pages)), self.snapshot) if self.reader.sees else {}
        duties = {}
        for page in pages:
            texts = [node.search_text for node in nodes[page[0]] if node.page == page[1]]
            duty = rating_of(page_piece(self._name(page), page[1], texts), [images[page]] if page in images else [])
            duties[page] = replace(duty, item=f"{duty.item} of {self._name(page)}")
        return duties

    def _near(self, triple: Triple) -> list[int]:
        """Return the pages of the document that are nearest to the triple's."""
        vectors = self.snapshot.page_vectors(triple.document_id)
        numbers = [page.number for page in self.snapshot.pages(triple.document_id)]
        nearness = dense_relevance(query=vectors[numbers.index(triple.page)], vectors=vectors)
        others = [numbers[place] for place in (-nearness).argsort(kind="stable").tolist() if numbers[place] != triple.page]
        return [page for page in others if (triple.document_id, page) in self.foci][: self.neighbours]

    def _name(self, page: PageKey) -> str:
        return self.records[page[0]].name


def _wrong(written: WrittenQuestion) -> str:
    if not any(sign.isalnum() for sign in written.question):
        return "the question holds no word"
    return f"the question has more than {MOST_CHARACTERS} characters" if len(written.question) > MOST_CHARACTERS else ""


def choose_documents(snapshot: Snapshot, not_in: Path | None, output: Output) -> dict[str, DocumentRecord]:
    """Return by id the documents that can be asked about; those on the list are named and left out."""
    listed = (
        {line.strip().casefold() for line in not_in.read_text("utf-8", errors="replace").splitlines() if line.strip()}
        if not_in
        else set()
    )
    if not_in and not listed:
        raise RequestError(
            f"{str(not_in)!r} lists no document", str(not_in), "write a name or a hash on each line, or leave --not-in out"
        )
    allowed = {}
    for record in snapshot.documents():
        names = [Path(name) for name in (record.name, *record.paths)]
        if listed & {record.id, *(one.casefold() for name in names for one in (name.name, name.stem))}:
            output.line(f"{record.name} is refused: {not_in} lists it")
        elif record.state is DocumentState.READY:
            allowed[record.id] = record
    return allowed


def foci_of(snapshot: Snapshot, documents: Iterable[str], *, sees: bool) -> dict[PageKey, list[str]]:
    """Return what questions about each page may be about; a page on which nothing stands is not among them."""
    found = {}
    for document in sorted(documents):
        nodes = [node for node in snapshot.nodes(document) if not node.meaningless]
        for number in sorted({node.page for node in nodes}):
            held = [node.modality for node in nodes if node.page == number]
            found[document, number] = [kind.value for kind in Modality if kind in held] + ["layout"] * (sees and len(held) > 1)
    return found


def draw_pages(foci: Mapping[PageKey, Sequence[str]], count: int, seed: int) -> list[Draw]:
    """Draw pages, none twice: one from each document in turn, the targets as evenly as possible."""
    dice = random.Random(seed)
    documents = [[page for page in foci if page[0] == document] for document in dict.fromkeys(document for document, _ in foci)]
    shuffled = [dice.sample(pages, len(pages)) for pages in dice.sample(documents, len(documents))]
    pages = list(islice((page for turn in zip_longest(*shuffled) for page in turn if page), count))
    targets = dice.sample([1 + place % TARGETS for place in range(len(pages))], len(pages))
    return [Draw(page, target, dice.choice(foci[page])) for page, target in zip(pages, targets, strict=True)]


def make_triples(order: argparse.Namespace, output: Output) -> None:
    """Ask about pages, batch by batch, and write what is kept; what ends the run leaves all replies for the same command."""
    check_environment()
    server = require_chat_endpoint("a chat model is to write triples", otherwise="learn from triples that were written before")
    if (order.out / TABLE).exists():
        raise RequestError(
            f"{str(order.out)!r} holds triples already, and people's choice of them", str(order.out), "name another folder"
        )
    (order.out / PICTURES).mkdir(parents=True, exist_ok=True)
    reading = {"reading.by": "model", "reading.model.forms": "full"}
    settings, location = change_settings(load_settings(order.settings, hurry=False).ask, reading), corpus_location(order.corpus)
    arguments = {name: str(value) for name, value in vars(order).items()}
    bounds = {Stage.FIRST: order.count * (2 + order.neighbours)}
    with (
        open_for_reading(location) as snapshot,
        lineage_of_run(
            location, parameters=arguments, settings=settings.model_dump(mode="json"), run_id="", snapshot=lambda: snapshot.number
        ) as place,
        working_at(place),
        counting_calls("", bounds, require_model=True) as book,
        open_reader(server, settings, snapshot) as reader,
    ):
        assert isinstance(reader, ModelReader)
        records = choose_documents(snapshot, order.not_in, output)
        engine = Engine(snapshot, reader, records, foci_of(snapshot, records, sees=reader.sees), order.neighbours)
        draws, kept = draw_pages(engine.foci, order.count, order.seed), dict[str, Triple]()
        for start in range(0, len(draws), BATCH):
            for triple, seen in engine.triples(draws[start : start + BATCH]):
                kept[triple.id] = triple
                if seen:
                    write_durably(order.out / PICTURES / triple.picture, seen)
            output.side.print(f"{min(start + BATCH, len(draws)):,} of {len(draws):,} pages: {len(kept):,} triples")
    for note in dict.fromkeys(book.notes):
        output.side.print(note, markup=False, soft_wrap=True)
    if not kept:
        missed = f"none of {len(draws)} pages of corpus {order.corpus!r} was rated as was wanted, give or take {TOLERANCE}"
        raise RequestError(missed, remedy="have a stronger model write the triples, or see what `flowreader doctor --models` finds")
    write_triples(order.out, list(kept.values()), seed=order.seed)
    output.line(f"{len(kept):,} triples of {len(draws):,} pages are in {order.out}; strike out lines of {TABLE}, then train")


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m deployments.training.triples", description=__doc__)
    parser.add_argument("--corpus", required=True, help="the corpus whose pages are asked about")
    parser.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the triples go")
    parser.add_argument("--count", type=int, default=1000, help="pages to ask about, at most (the paper: 5,500)")
    parser.add_argument("--not-in", type=Path, metavar="FILE", help="names or hashes of a benchmark's documents, one a line")
    parser.add_argument("--seed", type=int, default=0, help="draws the pages, their targets and the documents that are held out")
    parser.add_argument("--neighbours", type=int, default=1, help="pages near one that answers that are rated, too")
    parser.add_argument("--settings", type=Path, metavar="FILE", help="a settings file; [ask.models.budget] bounds the calls")
    order = parser.parse_args(arguments)
    if order.count < 1 or order.neighbours < 0:
        parser.error(f"--count {order.count} --neighbours {order.neighbours}: take 1 or more, and 0 or more")
    return order


def main(arguments: Sequence[str] | None = None) -> int:
    order = parse_arguments(arguments)
    return exit_code(lambda output: make_triples(order, output))


if __name__ == "__main__":
    sys.exit(main())
