"""Stems: one form for a word and its inflections, in a question and in a document alike, by the stemmers of Snowball."""

import re
import unicodedata
from functools import lru_cache

from Stemmer import Stemmer

from storage.records.language import language
from tasks.algorithms.text.words import STOP_WORDS

_LANGUAGES = {
    "LATIN": language(),
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARMENIAN": "armenian",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
}
"""The language that a word is stemmed in, by its script, as Unicode names it."""

_STEMMERS = {script: Stemmer(language, 0) for script, language in _LANGUAGES.items()}
_SMALLEST = 3
"""Words of so many letters are stems."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """Return the form that a word shares with its inflections; a form, not always a word.

    Case, the accents of Latin letters, the stops in "U.S.", the commas in "1,234" and a sign of per cent do not count. Only an
    abbreviation that would become a function word keeps its capitals ("US", "IT"). Scripts without a stemmer are folded in case
    only, and so is what is not of letters alone.
    """
    plain = _plain(word)
    folded = plain.casefold()
    if plain.isupper() and len(plain) > 1 and folded in STOP_WORDS:
        return plain
    if len(folded) <= _SMALLEST or not all(unicodedata.category(sign)[0] in "LM" for sign in folded):
        return folded
    stemmer = _STEMMERS.get(unicodedata.name(folded[0], "").split(" ")[0])
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
    """Take the accents from Latin letters, whose readers often leave them out; in other scripts marks are letters."""
    parts = unicodedata.normalize("NFKD", word)
    base = parts[:1]
    is_latin = base.isascii() and base.isalnum()
    bare = "".join(sign for sign in parts if not unicodedata.combining(sign)) if is_latin else word
    return unicodedata.normalize("NFC", bare)
