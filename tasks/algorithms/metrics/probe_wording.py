"""Questions out of a corpus's own words: the same thing asked in another order, with fewer words and other forms of them.

Rules cannot paraphrase. Every word that is left is one of the text or an inflection of one, so probes are easier than what people
ask.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tasks.algorithms.layout.boxes import simplify
from tasks.algorithms.layout.captions import LABEL_KINDS, LABEL_NUMBER, read_label
from tasks.algorithms.layout.headings import read_numbering
from tasks.algorithms.text.kept import names_in, parts_of, says_something
from tasks.algorithms.text.keywords import YEAR
from tasks.algorithms.text.stems import stem, words_of
from tasks.algorithms.text.words import sentences_of, tokens_of

FEWEST_WORDS = 3
"""Fewer meaningful words stand on too many pages, and point at none."""
DROPPED = 4

_LABEL = re.compile(rf".*?(?i:{'|'.join(LABEL_KINDS)})\.?\s*(?:{LABEL_NUMBER})[a-z)]*[\s:.|\u2013\u2014\-]*")


@dataclass(frozen=True, slots=True)
class WordUse:
    """How a corpus uses words: `pages` is on how many pages a stem stands, `forms` its words in lower case, the commonest first."""

    pages: Mapping[str, int]
    forms: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Wording:
    """A question, and the stems of the words in it that its text has."""

    text: str
    stems: frozenset[str]


def forms_of(texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the words that the texts mostly write in lower case, by stem, the commonest first, equal ones by their letters.

    A word that is written once may be a slip, or what is left of a longer one.
    """
    written = Counter(word for text in texts for word in words_of(text) if word.isalpha())
    in_all = Counter[str]()
    for word, count in written.items():
        in_all[word.lower()] += count
    forms: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(in_all, key=lambda word: (-in_all[word], word)):
        if in_all[word] > 1 and 2 * written[word] >= in_all[word]:
            forms[stem(word)].append(word)
    return {form: tuple(words) for form, words in forms.items()}


def word_heading(title: str, *, use: WordUse, english: bool, most: int) -> Wording | None:
    """Return the question where a heading is discussed, of at most so many words; None where too little is left of it.

    Another language than English keeps its words as they are, without a sentence around them.
    """
    numbering = read_numbering(title)
    if numbering:
        # With its number the place would be named, and nothing searched for.
        title = title[title.upper().find(numbering.number) + len(numbering.number) :]
    phrases = _phrases(_meaningful(title), use=use, english=english, most=most)
    several = len(phrases) > 1
    return _worded(title, phrases, "Where are {} discussed?" if several else "Where is {} discussed?", english=english)


def word_caption(caption: str, *, use: WordUse, english: bool, most: int) -> Wording | None:
    """Return the question which figure or table shows what a caption says, without its label; otherwise as `word_heading`."""
    label = read_label(caption)
    kind = label.split()[0].casefold() if label else "figure or table"
    # Its label, too, would name the place.
    opening, *_more = sentences_of(_LABEL.sub("", caption, count=1) if label else caption) or [""]
    phrases = _phrases(_meaningful(opening), use=use, english=english, most=most)
    return _worded(opening, phrases, f"Which {kind} shows {{}}?", english=english)


def word_row(label: str, column: str, *, english: bool) -> Wording | None:
    """Return the question what a table has in a column for the row of this label; None where too few words are meaningful."""
    stems = _stems(words_of(f"{column} {label}"))
    if len(stems) < FEWEST_WORDS:
        return None
    if not english:
        return Wording(f"{column} {label}", stems)
    asked = f"What is {label} in {column}?" if column[0].isdigit() else f"What is the {column} of {label}?"
    return Wording(asked, stems)


def word_sentence(sentence: str, *, use: WordUse, english: bool, most: int) -> Wording | None:
    """Return the question that a sentence answers, in its rarest words: its numbers are masked, or else its longest name.

    None where too few words are left. Years stay: people ask for them.
    """
    tokens = _meaningful(sentence)
    has_number = any(word[0].isdigit() and not _has_letter(word) and not YEAR.fullmatch(word) for word in words_of(sentence))
    masked: Collection[str] = () if has_number else max(names_in(sentence), key=len, default=())
    left = [token for token in tokens if token not in masked]
    if len(_stems(left)) < FEWEST_WORDS:
        left, masked = tokens, ()
    frame = "What number is given for {}?" if has_number else "What name is given with {}?" if masked else "What is said about {}?"
    return _worded(sentence, _phrases(left, use=use, english=english, most=most), frame, english=english, joiner="and")


def _meaningful(text: str) -> list[str]:
    """Return the meaningful words and years of a text; an empty string for whatever else stands between two of them."""
    capitals, small = (sum(map(kind, text)) for kind in (str.isupper, str.islower))
    # Among capitals none marks an abbreviation, and function words look like some.
    return [token if _means_something(token) else "" for token in tokens_of(text.lower() if capitals > small else text)]


def _means_something(token: str) -> bool:
    return token[0].isalnum() and says_something(token) and (_has_letter(token) or bool(YEAR.fullmatch(token)))


def _has_letter(token: str) -> bool:
    return any(sign.isalpha() for sign in token)


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(part for word in words if word and says_something(word) for part in parts_of(word))


def _phrases(tokens: Sequence[str], *, use: WordUse, english: bool, most: int) -> list[list[str]]:
    """Return the rarest words in phrases as they stand, each word once, the last phrase first and its last word in another form."""
    firsts = {stem(token): place for place, token in reversed(list(enumerate(tokens))) if token}
    ranked = sorted(firsts.values(), key=lambda place: (min(use.pages.get(part, 0) for part in parts_of(tokens[place])), place))
    kept = set(ranked[: min(most, max(FEWEST_WORDS, len(ranked) - len(ranked) // DROPPED))])
    phrases: list[list[str]] = [[]]
    for place, token in enumerate(tokens):
        if place in kept:
            phrases[-1].append(_lowered(token, use) if english else token)
        elif not token and phrases[-1]:
            phrases.append([])
    found = [phrase for phrase in reversed(phrases) if phrase]
    return [[*phrase[:-1], _other_form(phrase[-1], use)] for phrase in found] if english else found


def _lowered(word: str, use: WordUse) -> str:
    """Return a word that has a capital only for its place, in a title or at the beginning, without it."""
    lower = word.lower()
    return lower if lower in use.forms.get(stem(word), ()) else word


def _other_form(word: str, use: WordUse) -> str:
    """Return the commonest other form of a word that the corpus itself writes; names and words without one stay.

    No adverb stands for its adjective, nor the other way round: "annually" is nowhere what "annual" is.
    """
    forms = use.forms.get(stem(word), ())
    others = (form for form in forms if form != word and form.endswith("ly") == word.endswith("ly"))
    return next(others, word) if word in forms else word


def _worded(text: str, phrases: Sequence[Sequence[str]], frame: str, *, english: bool, joiner: str = "of") -> Wording | None:
    """Return the phrases in their frame, None where they are too few words or stand so in the text.

    The last word of a single phrase comes first; `joiner` binds it: a title's is a noun ("income of net interest").
    """
    stems = _stems(word for phrase in phrases for word in phrase)
    if len(stems) < FEWEST_WORDS:
        return None
    if len(phrases) == 1:
        *before, last = phrases[0]
        joined = f"{last} {joiner} {' '.join(before)}" if english and before else " ".join([last, *before])
    else:
        *first, last_phrase = (" ".join(phrase) for phrase in phrases)
        joined = f"{', '.join(first)} and {last_phrase}" if english else " ".join([*first, last_phrase])
    if f" {simplify(joined)} " in f" {simplify(text)} ":
        return None
    return Wording(frame.format(joined) if english else joined, stems)
