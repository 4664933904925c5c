"""Looking after a corpus: what an ingest does at its end, and what doctor finds afterwards, as steps of a run."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from storage.artifacts import kept_artifacts
from storage.corpus import CorpusWriter
from storage.doctor import examine
from storage.locations import CorpusLocation, steps_folder
from storage.memo import StepMemo
from storage.records import Finding
from storage.snapshot import UnknownCorpusError
from tasks.publishing import CleanedUp, look_after
from tasks.step import StepKey, step


class Upkeep(BaseModel):
    """What was done for one corpus and what doctor found; `skipped` says in words why nothing was done, `killed` which runs were.

    `pages_deleted` counts pages in Prefect's UI of answers that quoted a removed document.
    """

    model_config = ConfigDict(frozen=True)

    corpus: str
    skipped: str = ""
    killed: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    artifacts_deleted: int = 0
    bytes_freed: int = 0
    answers_erased: int = 0
    pages_deleted: int = 0
    postponed: str = ""
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, corpus: CorpusWriter, cleaned: CleanedUp) -> Upkeep:
        """Return what was done for a corpus that is open for writing."""
        return cls(
            corpus=corpus.location.name,
            mended=corpus.messages,
            artifacts_deleted=len(cleaned.garbage.artifacts),
            bytes_freed=cleaned.garbage.bytes_freed,
            answers_erased=cleaned.answers_erased,
            postponed=cleaned.garbage.postponed,
        )


def _told(cleaned: CleanedUp) -> Mapping[str, str]:
    return {"artifacts": str(len(cleaned.garbage.artifacts)), "bytes": str(cleaned.garbage.bytes_freed)}


@step("upkeep", version="1", retries=0, cache_key=lambda corpus: StepKey("corpus", "", corpus.location.name), told=_told)
def upkeep(corpus: CorpusWriter) -> CleanedUp:
    """Bring the indexes up to date, compact the tables, and drop what no reader can need any more."""
    return look_after(corpus)


@step(
    "doctor",
    version="1",
    retries=0,
    cache_key=lambda location: StepKey("corpus", "", location.name),
    told=lambda findings: {"findings": str(len(findings))},
)
def doctor(location: CorpusLocation) -> tuple[Finding, ...]:
    """Check every promise of the corpus; one in which nothing was published yet promises nothing."""
    try:
        return tuple(examine(location, StepMemo(steps_folder(), kept_artifacts())))
    except UnknownCorpusError:
        return ()
