"""Whether an answer is right, by rules: what they call right is written like a known answer; a paraphrase they do not see.

What makes no difference is left out of its words: case, signs, articles, LaTeX, plurals, the ways to write a number.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum

from tasks.algorithms.metrics.numbers import NUMBER, SPELLED, StatedNumber, read_number, same_number, stated_numbers
from tasks.algorithms.text.stems import stem
from tasks.algorithms.text.words import STOP_WORDS

_LATEX_STYLE = re.compile(r"\\(?:text|math|operatorname|rm|bf|it|left|right|quad|displaystyle)[a-z]*(?![A-Za-z])\s*")
_LATEX_NAME = re.compile(r"\\([A-Za-z]+)")
_LATEX_SIGNS = re.compile(r"\\(?=[^A-Za-z\s])|[{}^_]")
_GREEK = {ord(sign): f" {unicodedata.name(sign).split()[-1].casefold()} " for sign in "αβγδεζηθικλμνξοπρσςτυφχψωΓΔΘΛΞΠΣΦΨΩ"}
_INITIALS = re.compile(r"\b[A-Za-z](?:\.[A-Za-z])+\b\.?")
_GENITIVE = re.compile(r"['\u2019](?:s\b)?")
_ARTICLE = re.compile(r"\b(?:[Tt]he|THE|[Aa]n|AN|a)\s+(?=\w)|^\s*A\s+(?=\w)")
_PERCENT = re.compile(r"\b(?:per\s?cent|percentage\spoints?)\b", re.IGNORECASE)
_TOKEN = re.compile(rf"(?P<sole>[\u3040-\u30ff\u3400-\u9fff%])|(?P<letters>[^\W\d_]+)|{NUMBER.pattern}")
_MARK = re.compile(r"(?:\s?\[\d{1,3}\]){1,20}$")
_DENYING = (
    "not no never neither nor without cannot isnt arent wasnt werent dont doesnt didnt hasnt havent hadnt cant couldnt wont wouldnt"
)
NEGATIONS = frozenset(_DENYING.split())
"""Words, as `answer_words` gives them, that turn what follows them into its contrary."""
_BOUNDING = "less more fewer over under below above than"
BOUNDS = frozenset(_BOUNDING.split())
"""Words that make a number a bound: what is "less than 5" is not 5. Stems would not know them: "abov"."""

NUMBER_REACH = 3
"""Words before a number in which it is denied or made a bound: "did not rise to 45"."""
WORD_REACH = 2
_TURN_NUMBERS = NEGATIONS | {stem(word) for word in BOUNDS}

_MEANINGLESS = frozenset(stem(word) for word in [*STOP_WORDS, "yes", "true", "false"])


def statements_of(answer: str) -> list[str]:
    """Return the lines of an answer that are not empty, without the numbers of their sources: "[1]"."""
    lines = (_MARK.sub("", " ".join(line.split())) for line in answer.splitlines())
    return [line for line in lines if line]


def answer_words(text: str) -> list[str]:
    """Return words as stems and numbers in one way of writing; a scale is multiplied out, and a percentage keeps a word "%"."""
    plain = unicodedata.normalize("NFKC", text)
    plain = _LATEX_SIGNS.sub("", _LATEX_NAME.sub(r" \1 ", _LATEX_STYLE.sub("", plain))).translate(_GREEK)
    plain = _INITIALS.sub(lambda match: match[0].replace(".", ""), plain)
    plain = _PERCENT.sub("%", _GENITIVE.sub("", plain)).replace("&", " and ")
    return [word for match in _TOKEN.finditer(_ARTICLE.sub("", plain)) for word in _words(match)]


def _words(match: re.Match[str]) -> Iterator[str]:
    if match["letters"]:
        word = match["letters"].casefold()
        yield str(SPELLED[word]) if word in SPELLED else stem(word)
    elif match["sole"] or match["dotted"]:
        yield from match[0].split(".")
    else:
        number = read_number(match)
        yield f"{number.value:.15g}"
        if number.percent:
            yield "%"


def is_number(word: str) -> bool:
    return word[-1].isdecimal()


def meaningful(words: Sequence[str]) -> list[str]:
    """Return the words that mean something by themselves, numbers among them."""
    return [word for word in words if is_number(word) or (len(word) > 1 and word not in _MEANINGLESS) or not word.isascii()]


def same_words(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two answers are the same, however their words are joined ("post-hoc", "posthoc"); numbers are never joined."""
    numbers = [[word for word in words if is_number(word)] for words in (one, other)]
    return "".join(one) == "".join(other) and numbers[0] == numbers[1]


def find_run(run: Sequence[str], words: Sequence[str]) -> int:
    """Return where a run of words first stands among others as `runs_in` has it; -1 if nowhere."""
    return next(runs_in(words, run), -1)


def runs_in(words: Sequence[str], run: Sequence[str]) -> Iterator[int]:
    """Yield where a run of words stands among others with no word just before it that denies it, or bounds its number."""
    numeric = bool(run) and is_number(run[0])
    turning, reach = (_TURN_NUMBERS, NUMBER_REACH) if numeric else (NEGATIONS, WORD_REACH)
    for place in range(len(words) - len(run) + 1):
        if list(words[place : place + len(run)]) == list(run) and not turning.intersection(words[max(0, place - reach) : place]):
            yield place


def alternatives_of(answers: Sequence[str]) -> list[str]:
    """Return the known answers one by one: in each of them "||" stands between alternatives."""
    return [one.strip() for answer in answers for one in answer.split("||") if one.strip()]


_BETWEEN = (re.compile(r"\s*[;\n]\s*"), re.compile(r"\s*,\s+(?:and\s+)?|\s+and\s+"))


def read_json_list(answer: str) -> list[str] | None:
    """Return the items of an answer that is written as a JSON array; None where it is not."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return [str(item) for item in value] if isinstance(value, list) else None


def items_of(answer: str) -> list[str]:
    """Return the items of a list: those of a JSON array, or what stands between semicolons or lines, else commas and "and"."""
    items = read_json_list(answer)
    if items is None:
        bare = answer.strip().removeprefix("[").removesuffix("]")
        items = next((parts for sign in _BETWEEN if len(parts := sign.split(bare)) > 1), [bare])
    return [item for item in items if item.strip()]


def holds_all(items: Sequence[str], statements: Sequence[str]) -> bool:
    """Whether each item stands in a statement as a run of words; no word serves two items ("birth", "place of birth")."""
    left = [answer_words(statement) for statement in statements]
    runs = [answer_words(item) for item in items]
    return all(run and _take(run, left) for run in sorted(runs, key=len, reverse=True))


def _take(run: Sequence[str], left: Sequence[list[str]]) -> bool:
    """Take the run out of the first words that hold it."""
    for words in left:
        place = find_run(run, words)
        if place >= 0:
            words[place : place + len(run)] = [""]
            return True
    return False


_NOTHING = re.compile(
    r"""\W*(?:
    (?:the\s+)?(?:question|answer|information|this|it)?\s*(?:is|was|are|can|could)?\s*
    (?:not\s+(?:be\s+)?|un|can\s?not\s+be\s+|(?:is|was|ca|could)n['\u2019]t\s+(?:be\s+)?)
    (?:answerable|answered|determined|found|reported|stated|mentioned|given|provided|specified|available|known)\b
      (?:\s+(?:in|by|from)\b.{0,60})?
    | (?:the\s+|these\s+|this\s+)?(?:documents?|texts?|passages?|report|paper)\s+(?:do|does)(?:\s+not|n['\u2019]t)\s+
      (?:say|state|mention|report|contain|provide|give|specify|show|answer|include|tell|name|list|disclose)\b.*
    | no\s+(?:answer|information|evidence)\b.{0,60}
    | (?:insufficient|not\s+enough)\s+(?:information|evidence|data)\b.{0,60}
    | (?:fail(?:ed|s)?|unable)\s+to\s+(?:answer|find|determine)\b.{0,60}
    | i\s+(?:do\s+not|don['\u2019]t)\s+know
    | none | n/?a
    )\W*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def abstains(answer: str) -> bool:
    """Whether the whole answer states that nothing answers the question; an empty one does."""
    words = " ".join(answer.split())
    return not words or _NOTHING.fullmatch(words) is not None


_WORDS = "about approximately around roughly nearly almost some over circa ca only in on at usd us eur gbp inr rs"
_LEADING = frozenset(_WORDS.split())
"""Words that may stand before the number that an answer opens with."""
_ANOTHER = re.compile(r"\s*(?:[,;/|\u2013\u2014-]|\b(?:and|to)\b)\s*|.*\bor\b.*", re.DOTALL)
CLAUSE = re.compile(r"[,;:.!?]\s|\s[\u2013\u2014-]\s|\bbut\b")
"""Where what was denied ends: "No, 45", "not 40 but 45"."""


def main_number(statement: str, *, year: bool, turned: frozenset[str]) -> tuple[StatedNumber, bool] | None:
    """Return the number that a statement is about, and whether it opens with it: the only one, or the one that it opens with.

    Numbers in names ("GPT-4"), of places ("Table 3") and years do not count where there are others; where a `year` is looked for,
    the years count. "21 %, up from 18 %" opens with its number, "3, 4 or 5" and the row of a table do not. `turned` are the words
    that deny or bound the number that is looked for: one with others does not count, nor one that is not denied where that one is.
    """
    numbers = [number for number in stated_numbers(statement) if _is_meant(turning(statement, number), turned)]
    plain = [number for number in numbers if not number.aside]
    counted = [number for number in plain if number.year == year] or plain or numbers
    if not counted:
        return None
    opens = _opens(statement, counted[0], counted)
    if opens or len({(number.value, number.percent) for number in counted}) == 1:
        return counted[0], opens
    return None


def turning(statement: str, number: StatedNumber) -> frozenset[str]:
    """Return the words shortly before a number, in its clause, that deny it or make it a bound: "not", "less" and "than"."""
    clause = CLAUSE.split(statement[: number.start])[-1]
    before = re.findall(r"\w+", re.sub("['\u2019]", "", clause).casefold())
    return (BOUNDS | NEGATIONS).intersection(before[-NUMBER_REACH:])


def _is_meant(found: frozenset[str], turned: frozenset[str]) -> bool:
    return found <= turned and turned & NEGATIONS <= found


def _opens(statement: str, first: StatedNumber, counted: Sequence[StatedNumber]) -> bool:
    """Whether no meaningful word stands before the first number, and no other number is offered in its place."""
    before = re.findall(r"\w+", statement[: first.start].casefold())
    offered = len(counted) > 1 and _ANOTHER.fullmatch(statement[first.end : counted[1].start]) is not None
    return " | " not in statement and not offered and _LEADING.issuperset(before)


TOLERANCE = 0.01
"""Relative difference that does not count for measured values, as MMLongBench-Doc has it; counts are compared exactly."""

DUMP = 10
"""An answer with more than this many times the words of a list is a copy of the page, not a list."""

NEAR = 2
"""Words between an answer and the "or" that joins it to another: "Paris, France or Berlin"."""

TERSE = 3
"""An answer with at most this many times the words of a list is a list itself."""


class MatchKind(StrEnum):
    """How an answer was found right, the strictest first, or why it is not."""

    EXACT = "exact"
    """The same words, and no other."""
    NUMERIC = "numeric"
    """It is the same number, or opens with it."""
    LIST = "list"
    """It is a list that holds all items."""
    CONTAINED = "contained"
    """More words than the known answer, or fewer, but all meaningful ones; a long answer is right so by chance."""
    ABSTAINED = "abstained"
    """No answer was found, which is right where there is none."""
    WRONG = "wrong"
    UNREAD = "unread"
    """Evidence was found that no model read: there is no answer to judge."""


RIGHT = frozenset({MatchKind.EXACT, MatchKind.NUMERIC, MatchKind.LIST, MatchKind.CONTAINED})
"""How an answer is found right; to abstain is right where the documents do not answer."""


def judge_by_rules(*, predicted: str, answers: Sequence[str], answer_format: str, answerable: bool, found: bool) -> MatchKind:
    """Judge an answer, its statements on lines of their own; raise ValueError where there is an answer and none is known.

    A number is judged by the answer's `main_number`, never by one among many. Words must stand as a run in one statement; what is
    short or has no meaningful word, in the first one. A terse answer may leave out up to half of those words. "Berlin or Paris" is
    a guess, and wrong, unless both are known. Where the format is none of "Str", "Int", "Float" and "List", the known answers
    decide. `found` says whether the answer is one.
    """
    known = alternatives_of(answers)
    if not answerable:
        return MatchKind.ABSTAINED if not found or abstains(predicted) else MatchKind.WRONG
    if not known:
        raise ValueError("answers is empty, so nothing can be right; judge only questions with a known answer")
    statements = statements_of(predicted)
    kinds = [_kind(statements, answer, answer_format, known) for answer in known] if found and statements else []
    otherwise = MatchKind.ABSTAINED if not kinds or abstains(predicted) else MatchKind.WRONG
    return min((kind for kind in kinds if kind is not None), key=list(MatchKind).index, default=otherwise)


def _kind(statements: Sequence[str], answer: str, answer_format: str, known: Sequence[str]) -> MatchKind | None:
    """Return how the statements match one of the known answers, None where they do not."""
    if same_words(answer_words(" ".join(statements)), answer_words(answer)) and answer_words(answer):
        return MatchKind.EXACT
    items = items_of(answer) if answer_format == "List" else read_json_list(answer) or []
    if len(items) > 1:
        return _as_list(statements, items)
    only = items[0] if items else answer
    number = _only_number(only, needed=answer_format in {"Int", "Float"})
    if number is not None:
        return _as_number(statements, number, answer_format, turning(only, number))
    return _as_words(statements, answer_words(only), [answer_words(other) for other in known])


def _only_number(answer: str, *, needed: bool) -> StatedNumber | None:
    """Return the number that an answer is; where one is `needed`, also the only one in it. None where it is something else."""
    numbers = stated_numbers(answer)
    if len(numbers) != 1:
        return None
    rest = re.findall(r"\w+", answer[: numbers[0].start] + " " + answer[numbers[0].end :])
    return numbers[0] if needed or not rest else None


def _as_number(statements: Sequence[str], number: StatedNumber, answer_format: str, turned: frozenset[str]) -> MatchKind | None:
    main = main_number(statements[0], year=number.year, turned=turned)
    if main is None:
        return None
    stated, opens = main
    # 2019 and 2020 differ by less than the tolerance, and are not the same year.
    counts = answer_format == "Int" or (answer_format != "Float" and number.whole and not number.percent)
    exactly = counts or (number.year and stated.year)
    if not same_number(number, stated, tolerance=0.0 if exactly else TOLERANCE):
        return None
    return MatchKind.NUMERIC if opens and len(statements) == 1 else MatchKind.CONTAINED


def _as_list(statements: Sequence[str], items: Sequence[str]) -> MatchKind | None:
    wanted, given = (sum(len(answer_words(text)) for text in texts) for texts in (items, statements))
    if given > DUMP * wanted or not holds_all(items, statements):
        return None
    return MatchKind.LIST if given <= TERSE * wanted else MatchKind.CONTAINED


def _as_words(statements: Sequence[str], known: Sequence[str], every: Sequence[Sequence[str]]) -> MatchKind | None:
    """Match the words of one known answer; `every` are those of all."""
    given = [answer_words(statement) for statement in statements]
    meant = meaningful(known)
    if not meant:
        # "Yes", "Both", "B": everywhere by chance, and an answer only at its beginning.
        begins = bool(known) and list(given[0][: len(known)]) == list(known)
        right = begins and not _is_guess(given[0], 0, known, every, near=1)
    else:
        places = ((words, place) for words in (given if len(meant) > 1 else given[:1]) for place in runs_in(words, known))
        right = any(not _is_guess(words, place, known, every, near=NEAR) for words, place in places)
    return MatchKind.CONTAINED if right or (len(given) == 1 and _is_terse(given[0], known)) else None


def _is_guess(words: Sequence[str], place: int, run: Sequence[str], every: Sequence[Sequence[str]], *, near: int) -> bool:
    """Whether an "or" near the run at this place offers something else that is no known answer."""
    before, after = words[:place], words[place + len(run) :]
    others = [part for part, joint in ((before, before[-near:]), (after, after[:near])) if "or" in joint]
    return any(all(find_run(known, part) < 0 for known in every) for part in others)


def _is_terse(given: Sequence[str], known: Sequence[str]) -> bool:
    """Whether an answer is a part of the known one with at least half of its meaningful words, all numbers and every "not"."""
    facts = {word for word in known if is_number(word) or word in NEGATIONS}
    enough = 2 * len(meaningful(given)) >= len(meaningful(known)) > 0
    return enough and bool(meaningful(given)) and facts <= set(given) and find_run(given, known) >= 0
