"""Which documents a question is about, by words that stand on many of their pages: "Nike" in a report of Nike."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.text.kept import says_something
from tasks.algorithms.text.stems import stems_in

WORDS = 100
"""Words of a document that are kept, those on most of its pages."""


def widespread_words(texts: Iterable[tuple[int, str]]) -> tuple[tuple[str, float], ...]:
    """Return the stems on most pages of a document, each with its share of pages: k of n are k / (n + 1).

    Texts are (page, text); of stems on equally many pages those in more texts come first. What stands on the only page of a
    document is no more than half as telling as what stands on all of a hundred.
    """
    on_pages, in_texts = dict[int, set[str]](), Counter[str]()
    for page, text in texts:
        stems = set(filter(says_something, stems_in(text)))
        on_pages.setdefault(page, set()).update(stems)
        in_texts.update(stems)
    counts = Counter(stem for stems in on_pages.values() for stem in stems)
    most = sorted(counts.items(), key=lambda item: (-item[1], -in_texts[item[0]], item[0]))[:WORDS]
    return tuple((stem, count / (len(on_pages) + 1)) for stem, count in most)


def lean_by_words(shares: Mapping[str, Mapping[str, float]], documents: Sequence[str]) -> FloatArray:
    """Return t of each of the documents (n,): sum over the words of s ln(n / S).

    Args:
        shares: for each word of a question s, its share of a document's pages, by the document; S is their sum.
        documents: all that are asked.
    """
    found = np.zeros(len(documents))
    for of_documents in shares.values():
        own = np.array([of_documents.get(document, 0.0) for document in documents])
        if total := own.sum():
            found += own * max(0.0, np.log(len(documents) / total))
    return found
