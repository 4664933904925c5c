"""Stems, by the stemmers of Snowball: one form for a word and its inflections, in a question and in a document alike.

A word counts for its own stem and those of its parts: compounds, years and ideographs.
"""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain

from Stemmer import Stemmer

from storage.records.language import language
from tasks.algorithms.text.keywords import YEAR
from tasks.algorithms.text.words import IDEOGRAPH, STOP_WORDS, tokens_of

_LANGUAGES = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARMENIAN": "armenian",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}
"""The language that a word is stemmed in, by its script, as Unicode names it; of Latin letters it is a setting."""


@cache
def _stemmer(script: str) -> Stemmer | None:
    name = language() if script == "LATIN" else _LANGUAGES.get(script)
    return Stemmer(name, 0) if name else None


_SMALLEST = 3
"""Words of at most this many letters are stems."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """Return the form that a word shares with its inflections; a form, not always a word.

    Case, the accents of Latin letters, the stops in "U.S.", the commas in "1,234" and a sign of per cent do not count. Only an
    abbreviation that would become a function word keeps its capitals ("US", "IT"). Scripts without a stemmer are folded in case
    only, and so is any word that is not letters alone.
    """
    plain = _plain(word)
    folded = plain.casefold()
    if plain.isupper() and len(plain) > 1 and folded in STOP_WORDS:
        return plain
    if len(folded) <= _SMALLEST or not all(unicodedata.category(sign)[0] in "LM" for sign in folded):
        return folded
    stemmer = _stemmer(unicodedata.name(folded[0], "").split(" ")[0])
    return stemmer.stemWord(folded) if stemmer else folded


def _plain(word: str) -> str:
    plain = word if word.isascii() else _without_accents(word)
    plain = plain.rstrip("%")
    if plain[:1].isdigit():
        return plain.replace(",", "") if _THOUSANDS.fullmatch(plain) else plain
    plain = plain.replace(".", "").replace("\u2019", "'")
    is_plural_abbreviation = len(plain) > 2 and plain[-1] == "s" and plain[:-1].isupper()
    return plain[:-1] if is_plural_abbreviation else plain


def _without_accents(word: str) -> str:
    """Take the accents from Latin letters, where people often leave them out; in other scripts marks are letters."""
    parts = unicodedata.normalize("NFKD", word)
    base = parts[:1]
    is_latin = base.isascii() and base.isalnum()
    bare = "".join(sign for sign in parts if not unicodedata.combining(sign)) if is_latin else word
    return unicodedata.normalize("NFC", bare)


IDEOGRAPHS = re.compile(f"[{IDEOGRAPH}]+")
"""What is written without spaces between words."""

_JOINTS = re.compile(r"[-'\u2019.,&/:]")
_FISCAL_YEAR = re.compile(r"(?:FY|CY|F|H[12]|Q[1-4])((?:19|20)\d\d)", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    return [token for token in tokens_of(text) if token[0].isalnum()]


@lru_cache(maxsize=2**17)
def words_in_chunk(chunk: str) -> tuple[str, ...]:
    """Return the words of a chunk between spaces; remembered, because texts are made of few chunks."""
    return tuple(words_of(chunk))


@lru_cache(maxsize=2**16)
def stems_of(word: str) -> tuple[str, ...]:
    """Return the stems that a word counts for: its own, then those of a compound's words and years; or pairs of ideographs.

    "COVID-19" counts for "covid", too, "FY2021" for 2021; of three ideographs the first two count, and the last two.
    """
    runs = [] if word.isascii() else IDEOGRAPHS.findall(word)
    if runs:
        pairs = [run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))]
        return (*pairs, *map(stem, words_of(IDEOGRAPHS.sub(" ", word))))
    fiscal = _FISCAL_YEAR.fullmatch(word)
    if fiscal:
        return (stem(word), fiscal[1])
    parts = [part for part in _JOINTS.split(word) if _stands_alone(part)] if _JOINTS.search(word) else []
    return tuple(dict.fromkeys(map(stem, (word, *parts))))


@lru_cache(maxsize=2**17)
def stems_in_chunk(chunk: str) -> tuple[str, ...]:
    """Return the stems that a chunk between spaces counts for; remembered like its words."""
    return tuple(part for word in words_in_chunk(chunk) for part in stems_of(word))


def stems_in(text: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(stems_in_chunk, text.split())))


def _stands_alone(part: str) -> bool:
    """Tell a part of a compound that is worth a search of its own: a word of three letters, or a year."""
    return (part.isalpha() and len(part) > 2 and part.casefold() not in STOP_WORDS) or bool(YEAR.fullmatch(part))
