"""Stems: one form for a word and its plain inflections, in a question and in a document alike."""

import re
import unicodedata
from functools import lru_cache

from tasks.algorithms.text.words import STOP_WORDS

_KEPT_WORDS = """
news series species lens united perhaps spring morning evening ceiling wedding hundred sacred naked wicked nothing something
anything everything supply comply multiply family assembly anomaly monopoly butterfly hardly shortly lately nearly rationale
morale locale finale humane urbane envelope discrete paste caste lunge singe carte
"""

_KEPT = frozenset(_KEPT_WORDS.split())
"""Words whose endings are no inflection, or change what they mean."""

_IRREGULAR = {
    "agreed": "agree",
    "disagreed": "disagree",
    "guaranteed": "guarantee",
    "analyses": "analysis",
    "crises": "crisis",
    "hypotheses": "hypothesis",
    "children": "child",
    "women": "woman",
    "indices": "index",
    "matrices": "matrix",
    "criteria": "criterion",
    "programme": "program",
    "centre": "center",
}
_BRITISH = re.compile("(?<=[a-z]{3})our(?=$|ed$|ing$|able$|ite$)|(?<=[a-z]{2})is(?=ation$)")
_SMALLEST = 3
"""Letters that a stem must have at least: "sing" is no inflection of "s"."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_VOWEL = re.compile("[aeiouy]")
_SYLLABLE = re.compile("[aeiouy]+")
_SIBILANT = re.compile("(?:sh|ch|x|ss|zz)es$")
_SINGULAR = re.compile("(?:ss|us|is)$")
_DOUBLED = re.compile(r"([bcdfgkmnprtv])\1$")
_SHORT = re.compile("[^aeiouy]*[aeiouy][^aeiouywx]$")
"""One syllable that ends in one vowel and one consonant: "mak", which lost an e, or "rat", which is not "rate"."""


@lru_cache(maxsize=2**16)
def stem(word: str) -> str:
    """Return the form that a word shares with its plural, its -ing, -ed and -ly forms; a form, not always a word.

    The fold is careful: related words ("organ", "organize") stay apart, and so do most irregular forms ("make", "made").
    Case, British spelling in -our, -isation and "programme", the accents of Latin letters, the stops in "U.S.", the commas in
    "1,234" and a sign of per cent do not count. Only an abbreviation that would become a function word keeps its capitals
    ("US", "IT"). Other scripts are folded in case only.
    """
    plain = _plain(word)
    folded = plain.casefold()
    if plain.isupper() and len(plain) > 1 and folded in STOP_WORDS:
        return plain
    if len(folded) <= _SMALLEST or not (folded.isascii() and folded.isalpha()):
        return _IRREGULAR.get(folded, folded)
    if folded in _KEPT or folded in _IRREGULAR:
        return _IRREGULAR.get(folded, folded)
    singular = _without_plural(folded)
    if singular in _KEPT or singular in _IRREGULAR:
        return _IRREGULAR.get(singular, singular)
    american = _BRITISH.sub(lambda match: "or" if match[0] == "our" else "iz", singular)
    return _without_silent_e(_without_past(_without_adverb(american)))


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


def _without_plural(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("ie") and len(word) > 4:
        # The singular of "movies", which must meet its plural.
        return word[:-2] + "y"
    if _SIBILANT.search(word) or (word.endswith("oes") and len(word) > 5):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not _SINGULAR.search(word) else word


def _without_adverb(word: str) -> str:
    if not word.endswith("ly") or len(word) < _SMALLEST + 3:
        return word
    rest = word[:-2]
    if rest.endswith("b"):
        return rest + "le"
    return rest[:-1] + "y" if rest.endswith("i") else rest


def _without_past(word: str) -> str:
    """Take off -ed and -ing; what the ending did to the word is undone."""
    if word.endswith("ied") and len(word) > 4:
        return word[:-3] + "y"
    if word in _KEPT or word.endswith("eed") or not word.endswith(("ed", "ing")):
        return word
    rest = word[: -2 if word.endswith("ed") else -3]
    if len(rest) < _SMALLEST or not _VOWEL.search(rest):
        return word
    if _DOUBLED.search(rest) and len(rest) > _SMALLEST:
        return rest[:-1]
    return rest + "e" if _SHORT.fullmatch(rest) else rest


def _without_silent_e(word: str) -> str:
    """Drop the e that -ing and -ed drop, and the second l of a longer word, so that "installing" meets "install"."""
    if word.endswith("ll") and len(_SYLLABLE.findall(word)) > 1:
        return word[:-1]
    rest = word[:-1]
    if not word.endswith("e") or len(rest) < _SMALLEST or rest[-1] in "aeioy" or _SHORT.fullmatch(rest):
        return word
    return rest
