"""Keywords by statistics: names, numbers, identifiers and noun phrases, each as it stands in the text."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise

from tasks.algorithms.text.words import STOP_WORDS

JOINERS = frozenset({"of", "de", "la", "du", "van", "von", "&"})
"""Words that may stand inside a name: "Bank of America"."""

_UNITS = """
million billion trillion thousand percent percentage hours hour minutes seconds days weeks months years km m cm mm kg g mg tons
tonnes usd eur dollars euros people employees respondents mw gw kwh mb gb tb ghz mhz hz bps points
"""

UNITS = frozenset(_UNITS.split())
"""Words that make one term with the number before them."""

YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
IDENTIFIER = re.compile(r"(?=.*\d)(?=.*[^\W\d_]).{2,24}|[^\W\d_a-z]{2,8}s?", re.ASCII)
LONGEST_TERM_WORDS = 4
LONGEST_TERM_CHARACTERS = 60

NAME_BOOST = 1.6
IDENTIFIER_BOOST = 1.5
NUMBER_BOOST = 0.7
OPENING_BOOST = 0.6
PAIR_BOOST = 1.2
WORD_BOOST = 0.8
BARE_NUMBER_BOOST = 0.3
TITLE_BOOST = 1.3
"""How much more a term counts than a common word of the same rarity; only their order matters."""


def document_phrases(texts: Iterable[Sequence[str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of neighbouring lower-case content words that occur at least twice in the tokens of a document's nodes."""
    counts: Counter[tuple[str, str]] = Counter()
    for tokens in texts:
        counts.update(pairwise(tokens))
    return frozenset(pair for pair, count in counts.items() if count > 1 and _is_common(pair[0]) and _is_common(pair[1]))


def keywords_of(
    *,
    tokens: Sequence[str],
    rarity: Mapping[str, float],
    phrases: Collection[tuple[str, str]],
    title_words: AbstractSet[str],
    limit: int,
) -> tuple[str, ...]:
    """Return the most salient terms, each exactly as in the text, the most salient first, equal ones by text.

    Args:
        tokens: those of the node.
        rarity: inverse document frequency of each lower-case word; words not in it count 0.
        phrases: pairs of common words that make a term together, as `document_phrases` finds them.
        title_words: lower-case words of the titles above the node; terms that share one count more.
    """
    counts: Counter[str] = Counter()
    boosts: dict[str, float] = {}
    for term, boost in _terms(tokens, phrases):
        counts[term] += 1
        boosts[term] = boost
    scores: dict[str, float] = {}
    for term, count in counts.items():
        words = term.lower().split(" ")
        weights = [rarity.get(word, 0.0) for word in words]
        rarest = max(weights)
        shared = 1.0 if title_words.isdisjoint(words) else TITLE_BOOST
        scores[term] = (rarest + 0.4 * (sum(weights) - rarest)) * boosts[term] * shared * (1.0 + 0.5 * min(count - 1, 4))
    return _distinct(sorted(scores, key=lambda term: (-scores[term], term)), limit)


def _distinct(terms: Iterable[str], limit: int) -> tuple[str, ...]:
    """Keep the terms that are no part of a term before them, whatever their case."""
    kept: list[str] = []
    framed: list[str] = []
    for term in terms:
        frame = f" {term.lower()} "
        if not any(frame in other for other in framed):
            kept.append(term)
            framed.append(frame)
        if len(kept) == limit:
            break
    return tuple(kept)


def _terms(tokens: Sequence[str], phrases: Collection[tuple[str, str]]) -> list[tuple[str, float]]:
    """Return each term in the tokens with its boost, in reading order."""
    terms: list[tuple[str, float]] = []
    place = 0
    while place < len(tokens):
        if not _may_begin_term(tokens[place]):
            place += 1
            continue
        length, boost = _term_at(tokens, place, phrases)
        if boost:
            term = " ".join(tokens[place : place + length])
            if len(term) <= LONGEST_TERM_CHARACTERS:
                terms.append((term, boost))
        place += length
    return terms


def _term_at(tokens: Sequence[str], place: int, phrases: Collection[tuple[str, str]]) -> tuple[int, float]:
    """Return how many tokens the term at this place has and its boost; a boost of 0 means that there is none."""
    token = tokens[place]
    following = tokens[place + 1] if place + 1 < len(tokens) else ""
    if token[0].isdigit():
        return _number_at(token, following)
    if token[0].isupper():
        return _name_at(tokens, place)
    if (token, following) in phrases:
        return 2, PAIR_BOOST
    return 1, 0.0 if token.endswith("ly") else WORD_BOOST


def _number_at(token: str, following: str) -> tuple[int, float]:
    if following.lower() in UNITS:
        return 2, NUMBER_BOOST
    if token[-1] == "%" or YEAR.fullmatch(token):
        return 1, NUMBER_BOOST
    if not token.isdecimal() and IDENTIFIER.fullmatch(token):
        return 1, IDENTIFIER_BOOST
    # A bare number means little by itself: at least three digits, and after everything else.
    return 1, BARE_NUMBER_BOOST if len(token) > 2 else 0.0


def _name_at(tokens: Sequence[str], place: int) -> tuple[int, float]:
    """Read a name: capitalised words, joined by "of" and the like; its first word may be there only to begin a sentence."""
    end = place + 1
    while end < len(tokens) and end - place < LONGEST_TERM_WORDS:
        joined = tokens[end] in JOINERS and end + 1 < len(tokens) and tokens[end + 1][0].isupper()
        if not (joined or tokens[end][0].isupper()):
            break
        end += 2 if joined else 1
    first = tokens[place]
    if end - place > 1:
        return end - place, NAME_BOOST
    if IDENTIFIER.fullmatch(first):
        return 1, IDENTIFIER_BOOST
    begins_sentence = place == 0 or not tokens[place - 1][0].isalnum()
    return 1, OPENING_BOOST if begins_sentence else NAME_BOOST


@lru_cache(maxsize=2**16)
def _may_begin_term(token: str) -> bool:
    return (token[0].isdigit() or len(token) > 1) and token[0].isalnum() and token.lower() not in STOP_WORDS


@lru_cache(maxsize=2**16)
def _is_common(token: str) -> bool:
    return len(token) > 1 and token[0].isalpha() and token not in STOP_WORDS and not token[0].isupper()
