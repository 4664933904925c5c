"""Looking after corpora: the request, the outcome of each, and the page of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from storage.catalog.in_use import corpora_in
from storage.cleaning.garbage import KEEP_UNNAMED_SECONDS, AgedOut
from storage.cleaning.removing import CleanedUp
from storage.corpus.doctor import examine
from storage.corpus.snapshot import UnknownCorpusError, unknown_corpus
from storage.corpus.writer import CorpusWriter
from storage.errors import Finding
from storage.locations import CORPUS_NAME, CorpusLocation, corpora_folder, corpus_location
from storage.text import as_markdown, counted
from tasks.ingest.publishing import look_after
from tasks.step import OFTEN, StepKey, step

CorpusName = Annotated[str, StringConstraints(pattern=f"^{CORPUS_NAME.pattern}$")]


class MaintainRequest(BaseModel):
    """What to look after. Prefect's UI shows it as a form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpora: tuple[CorpusName, ...] = Field((), max_length=1_000, description="only these corpora; all of them by default")
    wait_seconds: float = Field(
        5.0, ge=0, le=3_600, description="seconds to wait for a corpus that is being written; it is skipped then"
    )


def corpora_to_maintain(request: MaintainRequest) -> tuple[CorpusLocation, ...]:
    """Return where the corpora lie, by name; raise UnknownCorpusError for a named one that is not there."""
    there = {location.name: location for location in corpora_in(corpora_folder())}
    for name in request.corpora:
        if name not in there:
            raise unknown_corpus(corpus_location(name), "name none to look after all")
    return tuple(location for name, location in there.items() if name in request.corpora or not request.corpora)


class Maintenance(BaseModel):
    """What was done for one corpus and what doctor found; `skipped` says why nothing was done, `killed` which runs were."""

    model_config = ConfigDict(frozen=True)

    corpus: str
    skipped: str = ""
    killed: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    cleaned: CleanedUp | None = None
    findings: tuple[Finding, ...] = ()


def _outputs(cleaned: CleanedUp) -> Mapping[str, str]:
    return {"artifacts": str(len(cleaned.garbage.artifacts)), "bytes": str(cleaned.garbage.bytes_freed)}


@step("upkeep", version="1", retries=OFTEN, cache_key=lambda corpus: StepKey("corpus", "", corpus.location.name), summary=_outputs)
def maintenance(corpus: CorpusWriter) -> CleanedUp:
    """Bring the indexes up to date, compact the tables, and drop what no reader can need any more."""
    return look_after(corpus)


@step(
    "doctor",
    version="1",
    retries=OFTEN,
    cache_key=lambda location: StepKey("corpus", "", location.name),
    summary=lambda findings: {"findings": str(len(findings))},
)
def doctor(location: CorpusLocation) -> tuple[Finding, ...]:
    """Look for damage in the corpus; one in which nothing was published yet has none."""
    try:
        return tuple(examine(location))
    except UnknownCorpusError:
        return ()


def maintenance_markdown(done: Sequence[Maintenance], aged: AgedOut | None = None) -> str:
    """Return how each corpus is, what was mended, postponed and found with its remedy, and what the home lost by age."""
    lines = [f"# Maintenance\n\n{summary(done)}\n", *(line for one in done for line in _lines(one))]
    if aged is not None:
        lines += ["", as_markdown(summary_of_age(aged))]
    return "\n".join(lines) + "\n"


def _lines(one: Maintenance) -> Iterator[str]:
    outcome = f"skipped: {one.skipped}" if one.skipped else counted(len(one.findings), "finding") if one.findings else "well"
    if one.cleaned:
        garbage, erased = one.cleaned.garbage, one.cleaned.answers_erased
        outcome += (
            f"; {len(garbage.artifacts):,} files deleted, {garbage.bytes_freed:,} bytes, and the quotes in {erased:,} answers"
        )
    yield f"- **{as_markdown(one.corpus)}**: {as_markdown(outcome)}"
    details = [
        *(f"mended: {message}" for message in one.mended),
        *one.killed,
        *([f"clean-up waits: {one.cleaned.garbage.postponed}"] if one.cleaned and one.cleaned.garbage.postponed else []),
        *(f"{finding.check}: {finding.what}; {finding.remedy}" for finding in one.findings),
    ]
    yield from (f"  - {as_markdown(line)}" for line in details)


def summary(done: Sequence[Maintenance]) -> str:
    skipped, findings = sum(bool(one.skipped) for one in done), sum(len(one.findings) for one in done)
    if not done:
        return "there is no corpus yet"
    corpora = "1 corpus" if len(done) - skipped == 1 else f"{len(done) - skipped} corpora"
    return f"{corpora} looked after, {skipped} skipped, {counted(findings, 'finding')}"


def summary_of_age(aged: AgedOut) -> str:
    days = f"{KEEP_UNNAMED_SECONDS / 86_400:.0f} days"
    return (
        f"Deleted for their age, {days}: {aged.reports} reports of answers that no corpus keeps, and {aged.results} results "
        f"that Prefect kept; {aged.bytes_freed:,} bytes."
    )
