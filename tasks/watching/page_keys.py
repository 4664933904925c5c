"""The keys of pages in Prefect's UI, of lower-case letters, digits and dashes as it takes them, and links to pages."""

import re
import unicodedata
from uuid import UUID

from storage.records.answers import Answer
from storage.records.documents import identify

PROGRESS = "-progress"
"""So end the keys of bars."""

CORPUS_SHOWN, WORDS_SHOWN, DIGITS = 24, 40, 8
"""Signs of a corpus, of a question and of an answer's id in the key of the answer's page."""


def corpus_key(kind: str, corpus: str) -> str:
    """Return `KIND-CORPUS`, another key for each corpus."""
    written = re.sub(r"[^a-z0-9-]", "-", corpus.lower())
    plain = written == corpus and not written.endswith(PROGRESS)
    return f"{kind}-{written}" if plain else f"{kind}-{written}-{identify(corpus)[:6]}"


def answer_key(answer: Answer) -> str:
    """Return `answer-CORPUS-FIRST-WORDS-ID`; letters that are no ASCII lose their accents, or are left out."""
    words = _dashed(answer.question)
    if len(words) > WORDS_SHOWN:
        words = words[: WORDS_SHOWN + 1].rpartition("-")[0] or words[:WORDS_SHOWN]
    parts = ("answer", _dashed(answer.corpus)[:CORPUS_SHOWN].strip("-"), words, answer.answer_id[:DIGITS])
    return "-".join(filter(None, parts))


def _dashed(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def page_link(words: str, key: str, page: UUID | None = None) -> str:
    """Return a link in Markdown to a page; where its id is not known, to the list of its versions."""
    return f"[{words}](/artifacts/{f'artifact/{page}' if page else f'key/{key}'})"
