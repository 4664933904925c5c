"""Extractive summaries: the sentences that stand best for a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import sqrt

from tasks.algorithms.stop_words import STOP_WORDS
from tasks.algorithms.words import count_words, first_words, tokens_of

FIRST_SENTENCE = 1.25
"""How much more the first sentence counts: authors open with what a paragraph is about."""

TITLE_WORD = 0.5
"""What a word shared with the titles adds, in multiples of its weight."""


def summarize(*, sentences: Sequence[str], rarity: Mapping[str, float], title_words: Collection[str], words: int) -> str:
    """Return the sentences that represent the text best, in their order, as far as `words` reach.

    A word weighs its count in the text times its rarity in the document; a sentence scores the weights of its distinct words over
    the root of their number, so that neither the shortest nor the longest wins by length.

    Args:
        sentences: the text, cut; where it has at most `words` words it is returned whole.
        rarity: inverse document frequency of each lower-case word; words not in it count 0.
        title_words: lower-case words of the titles above the text.
        words: greatest length; the best sentence is cut there if it alone is longer.
    """
    if sum(map(count_words, sentences)) <= words:
        return " ".join(" ".join(sentences).split())
    contents = [[word for token in tokens_of(sentence) if (word := token.lower()) not in STOP_WORDS] for sentence in sentences]
    counts = Counter(word for content in contents for word in content)
    weights = {word: rarity.get(word, 0.0) * count * (1 + TITLE_WORD * (word in title_words)) for word, count in counts.items()}
    scores = [_score(frozenset(content), weights) for content in contents]
    scores[0] *= FIRST_SENTENCE
    ranked = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
    chosen = [ranked[0]]
    left = words - count_words(sentences[ranked[0]])
    for place in ranked[1:]:
        length = count_words(sentences[place])
        if scores[place] > 0 and length <= left:
            chosen.append(place)
            left -= length
    return first_words(" ".join(sentences[place] for place in sorted(chosen)), words)


def _score(content: frozenset[str], weights: Mapping[str, float]) -> float:
    # Sorted: a sum of floats depends on its order, and the order of a set on the process.
    return sum(weights[word] for word in sorted(content)) / sqrt(len(content) or 1)
