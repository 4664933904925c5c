"""The language of documents in Latin letters: by it words are reduced to stems, and full text leaves out stop words."""

import os


def language() -> str:
    """Return the name of a Snowball stemmer, as FLOWREADER_LANGUAGE gives it."""
    return os.environ.get("FLOWREADER_LANGUAGE", "").strip().lower() or "english"
