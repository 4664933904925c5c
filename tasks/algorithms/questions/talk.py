"""What asks nothing of what documents say: greetings, thanks, and questions about the documents themselves. By patterns."""

import re
from collections.abc import Collection, Sequence
from enum import StrEnum

from tasks.algorithms.questions.kinds import DOCUMENT


class Talk(StrEnum):
    """A greeting, thanks, or a question which documents there are (`listing`) or what they are `about`."""

    GREETING = "greeting"
    THANKS = "thanks"
    LISTING = "listing"
    ABOUT = "about"


LONGEST = 200
"""Characters; whatever is longer asks something."""
_GREETING = (
    r"(?:hello|hi+|hey+|hiya|howdy|greetings|good (?:morning|afternoon|evening|day)|how are you(?: doing)?(?: today)?"
    r"|nice to meet you|hallo|guten (?:morgen|tag|abend)|moin|servus|gr[uü]e?ss gott|bonjour|bonsoir|salut|hola"
    r"|buen[oa]s(?: (?:d[ií]as|tardes|noches))?)(?: (?:there|all|everyone|everybody|again|you|flowreader|assistant))*"
)
_THANKS = (
    r"(?:(?:many )?(?:thanks|thank you)(?: (?:so|very) much| a lot| a million| again)*(?: for(?: (?:your|the|all|that|this|quick"
    r"|help|answers?|time|reply))+)?|thx|cheers|much appreciated|ok(?:ay)?|all right|alright|great (?:work|job)|great|perfect"
    r"|cool|nice|super|wonderful|excellent|awesome|brilliant|very good|well done|got it|i see|understood"
    r"|(?:that|this|it)(?:s| is| was) (?:(?:very|really|so) )?(?:helpful|great|perfect|useful)|(?:good)?bye(?: bye)?|see you"
    r"|danke(?: sch[oö]e?n| sehr| dir| ihnen)*|(?:vielen|besten|herzlichen) dank|tsch[uü]e?ss|auf wiedersehen"
    r"|merci(?: beaucoup| bien)?|au revoir|(?:muchas |mil )?gracias|adi[oó]s)"
)
_GREETS = re.compile(rf"\b{_GREETING}\b")
_OPENING = re.compile(rf"(?:(?:{_GREETING}|{_THANKS})(?: |$))+")
_CLOSING = re.compile(rf"(?: (?:please|{_THANKS}))+$")

_FILES = r"(?:documents?|docs?|files?|pdfs?)"
_ENDING = r"pdf|docx?|pptx?|xlsx?|html?|md|txt"
_THEIRS = r"(?:this|these|the|that|those|my|our|your)"
_KIND = rf"(?:(?!slide\b|append){DOCUMENT}|{_FILES}|corpus|collection|library)"
"""A slide or an appendix is a part of a document."""
_ALL = re.compile(
    rf"(?:all (?:of )?(?:{_THEIRS} )?|{_THEIRS} )(?:(?:whole|entire|uploaded) )?{_KIND}|(?:all of )?(?:this|these)|here"
)
_EVERY = re.compile(r"\b(?:all|whole|entire|these|those|they|them|here|corpus|collection|library|\w+s)\b(?<!this)")
_IT = re.compile(r"it|they|them")
_WILL_YOU = r"(?:(?:can|could|would|will) you )?(?:please )?(?:(?:give|show) )?(?:(?:a|an|the|me|us|short|brief|quick) )*"
_ABOUT = tuple(
    re.compile(pattern)
    for pattern in (
        r"what(?:s|re| is| are| do| does) (?P<of>.+?) (?:(?:all|mainly|mostly) )?(?:about|contain|cover|say)",
        r"what(?:s| is) (?:there )?(?:in|inside) (?P<of>.+)",
        rf"(?:what(?:s| is) )?{_WILL_YOU}(?:summari[sz]e|sum up|summary|overview|outline|table of contents)"
        r"(?: (?:of )?(?P<of>.+))?",
        rf"{_WILL_YOU}(?:describe|tell me about) (?P<of>(?:all )?(?:of )?{_THEIRS} {_KIND}|.+ (?:{_ENDING}))",
    )
)
_LISTING = re.compile(
    rf"(?:which|what) {_FILES}(?: (?:are|do|can|have|there|here|you|i|we|in|the|this|your|corpus|library|collection|available"
    r"|loaded|ask|about|know|been|ingested|uploaded))+"
    rf"|{_WILL_YOU}(?:list|show|name)(?: (?:me|us|all|of|the|your|my|our|available))* {_FILES}(?: (?:there are|(?:you|we|i) have))?"
    rf"|how many {_FILES} (?:are (?:there|here|in (?:the|this|your) (?:corpus|library|collection))|do (?:you|we|i) have)"
    r"|(?:what|which questions) (?:can|could|should|may) i ask(?: (?:you|here|about|this|these|the|documents?|corpus|of|them))*"
    r"|what can i do here|what (?:can|could|do) you (?:do|answer|know|tell me|help (?:me )?with)(?: (?:about|here))*"
    r"|how can you help(?: me)?|how (?:do|can|should) i ask(?: (?:a|you|here|questions?))*|help(?: me)?|(?:who|what) are you"
)


def talk_of(question: str) -> tuple[Talk, str] | None:
    """Return what is talked of, and which documents it is `about`, in words; None for a question to what documents say.

    Beside courtesies the question must be of this kind as a whole. Of what is asked in other words `meant_documents` says whether
    it is documents at all.
    """
    words = _plain(question) if len(question) <= LONGEST else ""
    found = _OPENING.match(words)
    opening = found[0] if found else ""
    rest = _CLOSING.sub("", words.removeprefix(opening))
    if words and (not rest or _LISTING.fullmatch(rest)):
        return (Talk.GREETING if _GREETS.search(opening) else Talk.LISTING if rest else Talk.THANKS), ""
    about = next(filter(None, (pattern.fullmatch(rest) for pattern in _ABOUT)), None)
    return (Talk.ABOUT, about["of"] or "this") if about else None


def meant_documents(of: str, names: Sequence[Collection[str]], *, follows: bool) -> list[int] | None:
    """Return the places of the documents that these words name by one of their `names`; none for all, None for no document.

    Where the question `follows` another, "it" may be anything.
    """
    called = re.sub(rf"^{_THEIRS} ", "", of)
    named = [place for place, own in enumerate(names) if called in _callings(own)]
    return named if named or _ALL.fullmatch(of) or (_IT.fullmatch(of) and not follows) else None


def is_aside(question: str) -> bool:
    """Say whether no question goes on from this one: a greeting, thanks, or which documents there are."""
    found = talk_of(question)
    return found is not None and found[0] is not Talk.ABOUT


def is_all(of: str) -> bool:
    """Say whether these words mean all documents, and not the one that is talked of."""
    return bool(_EVERY.search(of))


def _plain(text: str) -> str:
    """Return the words, in lower case, with a space between; an apostrophe joins."""
    return " ".join(re.findall(r"[^\W_]+", re.sub(r"['\u2019]", "", text.casefold())))


def _callings(names: Collection[str]) -> set[str]:
    """Return what a document is called in a question: its names, also without an ending, of several words."""
    called = {_plain(part) for name in names for part in (name, name.rpartition(".")[0])}
    return {words for words in called if " " in words}
