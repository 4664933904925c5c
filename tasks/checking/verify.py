"""The check of a text against a corpus: full text finds candidates, and what stands in them word by word counts."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE, PageKey
from storage.text import counted
from tasks.algorithms.layout.lines import read_lines
from tasks.algorithms.metrics.numbers import StatedNumber, same_number, stated_numbers
from tasks.algorithms.proof.parts import UNTELLING
from tasks.algorithms.text.claims import Quotation, split_claims, without_hyphens
from tasks.algorithms.text.standing import GAP, Words, row_of, tokens_of
from tasks.algorithms.text.stems import stems_in
from tasks.asking.records import Quote
from tasks.checking.named import find_named
from tasks.checking.passages import Held, Passages
from tasks.checking.records import Check, ClaimKind, Verdict, Verification
from tasks.reading.answer import citation, running_heads

LONGEST_TEXT = 5_000_000
MOST_CLAIMS = 500
"""Quotes, and numbers, that are checked of a text: each takes some ten milliseconds."""
LEAST_PART = 4
"""Words that stand together: fewer do anywhere."""
LONGEST_PARTED = 2_000
"""Words of a quote whose parts are looked for where it does not stand as a whole."""
WORDS_AT_ONCE = 60
"""Words of a long quote that full text is asked for together."""
LOOKED_AROUND = 8
"""Candidates that may be a piece of a quote that goes on in the next passage."""
PARTS_SHOWN = 5
LEAST_SHARE = 0.34
"""Of a sentence's words, those in the passage around a number counted half: the same number is about something else below."""
ORDINAL = re.compile(r"(?:st|nd|rd|th)\b")


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of a sentence, as it is written."""

    sentence: str
    text: str
    number: StatedNumber


@dataclass(frozen=True, slots=True)
class Finding:
    kind: ClaimKind
    text: str
    verdict: Verdict
    beside: str
    quotes: Sequence[Quote] = ()


def verify(text: str, corpus: str) -> Verification:
    """Check the quotes and the numbers of a text; raise RequestError where it has none, or is too long."""
    if len(text) > LONGEST_TEXT:
        what = f"the text has {len(text):,} characters"
        raise RequestError(what, f"{len(text):,}", f"check it in parts of at most {LONGEST_TEXT:,}")
    quotations, sentences = split_claims(text)
    numbers = [claim for sentence in sentences for claim in numbers_in(sentence)]
    with open_for_reading(corpus_location(corpus)) as snapshot:
        if not (quotations or numbers):
            what = f"the text {text.strip()[:40]!r} holds nothing to check" if text.strip() else "the text is empty"
            remedy = "give one with words of the documents between quotation marks, three at least, or with numbers"
            raise RequestError(what, text.strip()[:40], remedy)
        checker = Checker(snapshot)
        found = [*map(checker.check_quote, quotations[:MOST_CLAIMS]), *map(checker.check_number, numbers[:MOST_CLAIMS])]
        left_out = sum(max(0, len(claims) - MOST_CLAIMS) for claims in (quotations, numbers))
        return Verification(snapshot.location.name, snapshot.number, checker.as_checks(found), left_out)


def numbers_in(sentence: str) -> Iterator[Claim]:
    """Yield the numbers that a sentence states: no year, no ordinal, no number in words or in a name."""
    for number in stated_numbers(sentence):
        written = sentence[number.start : number.end].strip()
        if not (number.aside or number.year or written.isalpha() or ORDINAL.match(sentence, number.end)):
            yield Claim(sentence, written, number)


class Checker:
    """Checks claims in an open snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self.passages, self.records = snapshot, Passages(snapshot), snapshot.documents()

    @cached_property
    def _labels(self) -> dict[PageKey, str | None]:
        marks = self.snapshot.page_marks([record.id for record in self.records])
        return {(document, number): label for document, number, label in marks}

    def check_quote(self, quotation: Quotation) -> Finding:
        """Find a quote in full, best where the text says, else its parts."""
        shown, named = " ".join(quotation.text.split()), find_named(quotation.beside, self.records)
        beside = named.words if named else ""
        if places := self._places_of(quotation.text):
            right = next((place for place in places if named is None or named.holds(place, self._labels)), None)
            return Finding(ClaimKind.QUOTE, shown, Verdict.FOUND if right else Verdict.ELSEWHERE, beside, right or places[0])
        parts, is_all = self._parts_of(quotation.text)
        verdict = Verdict.STITCHED if is_all and len(parts) > 1 else Verdict.MISSING
        return Finding(ClaimKind.QUOTE, shown, verdict, beside, parts)

    def _places_of(self, text: str) -> list[tuple[Quote, ...]]:
        """Return where a quote stands in full: in a passage, or in several that follow each other."""
        for words in dict.fromkeys((text, without_hyphens(text))):
            for in_a_row in (True, False):
                near = self.passages.holding(words, in_a_row=in_a_row)
                if found := [(quote,) for held in near if (quote := held.find(words))]:
                    return found
            if over := next(filter(None, (_run_over(words, self.passages.around(held)) for held in near[:LOOKED_AROUND])), None):
                return [over]
        return []

    def _parts_of(self, text: str) -> tuple[list[Quote], bool]:
        """Return the parts of a quote that stand somewhere, and whether they are all of it."""
        words = text.split()[:LONGEST_PARTED]
        asked = (" ".join(words[start : start + WORDS_AT_ONCE]) for start in range(0, len(words), WORDS_AT_ONCE))
        near = {held.node.id: held for some in asked for held in self.passages.holding(some)}
        runs, parts, is_all = Runs(list(near.values())), list[Quote](), len(words) == len(text.split())
        for tokens in filter(None, map(tokens_of, GAP.split(" ".join(words)))):
            least, at = max(2, min(LEAST_PART, len(tokens))), 0
            while at < len(tokens):
                if length := runs.longest(tokens[at:], least):
                    parts.append(runs.quote(tokens[at : at + length]))
                is_all &= length > 0
                at += length or 1
        return parts, is_all

    def check_number(self, claim: Claim) -> Finding:
        """Find the passage that states the number beside most words of its sentence."""
        telling = stems_in(claim.sentence) - UNTELLING - stems_in(claim.text)
        best, score = None, LEAST_SHARE
        for held in self.passages.holding(claim.sentence):
            for piece, numbers, stems in held.stated:
                if any(_is_same(claim, number, piece, held) for number in numbers):
                    inside = len(telling & stems)
                    share = (inside + len(telling & (stems | held.stems_around))) / (2 * len(telling)) if telling else 1.0
                    if share > score or (best is None and share == score):
                        best, score = held.quote(piece), share
        verdict = Verdict.FOUND if best else Verdict.MISSING
        return Finding(ClaimKind.NUMBER, claim.text, verdict, claim.sentence, (best,) if best else ())

    def as_checks(self, found: Sequence[Finding]) -> list[Check]:
        """Return what was found with its places as citations have them; the lines of all pages are read at once."""
        nodes = [quote.node for finding in found for quote in finding.quotes]
        names = {record.id: NamedDocument(record.id, record.name) for record in self.records}
        running = running_heads(self.snapshot, {node.document_id for node in nodes})
        kept = self.snapshot.view.page_lines({(node.document_id, node.page) for node in nodes if node.box != WHOLE_PAGE})
        lines = {page: read_lines(written) for page, written in kept.items()}
        return [
            Check(
                finding.kind,
                finding.text,
                finding.verdict,
                finding.beside,
                tuple(citation(quote, names, {}, running, lines) for quote in finding.quotes[:PARTS_SHOWN]),
            )
            for finding in found
        ]


def _run_over(words: str, neighbours: Sequence[Held]) -> tuple[Quote, ...]:
    """Return the pieces of a quote that begins in one of these passages and goes on in the next."""
    contents = [held.node.content for held in neighbours]
    span = Words("\n".join(contents)).find(words)
    if not span:
        return ()
    starts = list(accumulate((len(content) + 1 for content in contents), initial=0))
    cut = [(held, text[max(0, span[0] - start) : max(0, span[1] - start)]) for held, text, start in zip(neighbours, contents, starts)]
    return tuple(held.quote(piece) for held, piece in cut if piece.strip())


def _is_same(claim: Claim, number: StatedNumber, piece: str, held: Held) -> bool:
    """Say whether a number of a passage is the claimed one; 5 is 5 % only where shares are spoken of."""
    of_shares = f"{piece} {held.node.caption} {held.node.content if held.rows else ''}"
    is_alike = number.percent == claim.number.percent or "%" in of_shares or "per cent" in of_shares
    return is_alike and same_number(number, claim.number, tolerance=0.0)


class Runs:
    """Runs of words in several passages at once."""

    def __init__(self, held: Sequence[Held]) -> None:
        self._texts = [(one, text) for one in held for text in one.texts]
        rows = [text.row for _one, text in self._texts]
        # a run never crosses the sign between two texts
        self._all = "\n".join(rows)
        self._starts = list(accumulate((len(row) + 1 for row in rows), initial=0))

    def longest(self, tokens: Sequence[str], least: int) -> int:
        """Return how many of the first words stand together somewhere, 0 where fewer than `least` do."""
        low, high = least - 1, len(tokens)
        while low < high:
            middle = low + 1 if low < least else (low + high + 1) // 2
            if middle <= len(tokens) and row_of(tokens[:middle]) in self._all:
                low = middle
            else:
                high = middle - 1
        return low if low >= least else 0

    def quote(self, tokens: Sequence[str]) -> Quote:
        """Return the words, which stand in one of the texts, as a quote."""
        at = self._all.find(row_of(tokens))
        which = bisect_right(self._starts, at) - 1
        held, text = self._texts[which]
        first = text.place(at - self._starts[which])
        return held.quote(text.text[text.spans[first][0] : text.spans[first + len(tokens) - 1][1]])
