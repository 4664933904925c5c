"""Runs that were killed, as whoever notices one tells of them: watchers once a run, and people when its rest is done."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.at_work import SignedRun, is_news, killed_runs
from storage.locations import CorpusLocation
from storage.run_traces import ALWAYS_READ, trace
from tasks.happenings import RunKilled, tell
from tasks.ingests_at_work import minute, told_moment
from tasks.lineage_runs import story_of
from tasks.prefect_log import say_to_prefect
from tasks.run_progress import progress_of
from tasks.watching import is_wanted, watched


def tell_of_killed(location: CorpusLocation) -> None:
    """Tell whoever the environment wants to watch of each killed run of the corpus that nobody was told of."""
    if is_wanted() and (killed := killed_runs(location)):
        with watched():
            for run in killed:
                if is_news(run.path):
                    tell(_killed(run, location.name))


@contextmanager
def taking_over(location: CorpusLocation, rest: Collection[Path]) -> Iterator[tuple[str, ...]]:
    """Say that the run inside the block does the rest of these killed ones, to watchers and on its page; give the words."""
    told = words_of(location, rest)
    with watched():
        tell_of_killed(location)
        for words in told:
            say_to_prefect(words)
        yield told


def words_of(location: CorpusLocation, rest: Collection[Path]) -> tuple[str, ...]:
    """Return what to say to people of these killed runs before their rest is done, the oldest first."""
    return tuple(_words(run) for run in killed_runs(location) if run.path in rest)


def _words(run: SignedRun) -> str:
    far = progress_of(run.path)
    kept = f"{far.read} of its {'' if far.documents is None else f'{far.documents} '}documents"
    return f"the earlier run of {minute(told_moment(run.began))} UTC was killed; {kept} were kept, the rest is read now"


def _killed(run: SignedRun, corpus: str) -> RunKilled:
    kind = story_of(trace(run.path, ALWAYS_READ)).head.kind.value
    return RunKilled(run.path.stem, kind, corpus, told_moment(run.began), progress_of(run.path).read)
