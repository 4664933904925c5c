"""The mark of a corpus that was pulled out of an object store: it says from where, and that nobody here may write it."""

from storage.locations import CorpusLocation


class PulledError(RuntimeError):
    """A pulled corpus that is to be written."""


def pulled_from(location: CorpusLocation) -> str:
    """Return the address that a corpus was pulled from, "" for one of this machine's own."""
    try:
        return location.pulled.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def pull_again(location: CorpusLocation) -> str:
    """Return the command that renews a pulled corpus, and mends it where it is damaged."""
    return f"`flowreader corpora pull {pulled_from(location)} --as {location.name}`"


def require_own(location: CorpusLocation) -> None:
    """Raise PulledError where the corpus was pulled."""
    if address := pulled_from(location):
        raise PulledError(
            f"corpus {location.name!r} was pulled from {address} and is read-only; change it where it was made, push it there and "
            f"run {pull_again(location)}, or take another --corpus NAME"
        )
