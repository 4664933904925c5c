"""The words of an answer, the items of a list, and whether it states that there is none.

What makes no difference is left out: case, signs, articles, LaTeX, plurals, the ways to write a number.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from tasks.algorithms.metrics.numbers import NUMBER, SPELLED, read_number
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
    return word[-1].isdigit()


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


_BETWEEN = (re.compile(r"\s*[;\n]\s*"), re.compile(r"\s*,\s+(?:and\s+)?|\s+and\s+"))


def written_list(answer: str) -> list[str] | None:
    """Return the items of an answer that is written as a JSON array; None where it is not."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    return [str(item) for item in value] if isinstance(value, list) else None


def items_of(answer: str) -> list[str]:
    """Return the items of a list: those of a JSON array, or what stands between semicolons or lines, else commas and "and"."""
    items = written_list(answer)
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
