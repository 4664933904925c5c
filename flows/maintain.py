"""The maintenance flow: for every corpus the end of an ingest, and doctor.

for each corpus: (skip while it is written) -> indexes, compaction, clean-up by age -> doctor
then what belongs to no corpus, by age -> report
"""

import asyncio

from prefect import flow
from prefect.artifacts import acreate_markdown_artifact
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Failed

from flows.prefect_runs.interruption import end_in_order
from flows.prefect_runs.labels import log_failures, name_maintaining_run, tag_run
from storage.catalog.catalog import CatalogDamagedError, StoreVersionError
from storage.catalog.current import CurrentDamagedError, PulledError
from storage.cleaning.garbage import age_out
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.corpus.writer import open_for_writing
from storage.errors import Finding
from storage.graph.checks import GraphError
from storage.graph.store import GraphDamagedError
from storage.locations import CorpusLocation, home
from storage.lock import CorpusBusyError, LockLostError
from storage.system import check_writable
from tasks.ingest.maintenance import (
    MaintainRequest,
    Maintenance,
    corpora_to_maintain,
    doctor,
    maintenance,
    maintenance_markdown,
    summary,
)
from tasks.lineage.at_work import close_what_cannot_go_on
from tasks.lineage.writing import lineage_of_run, working_at
from tasks.progress import stop_requested

NEXT_GOES_ON = "fix what it says; the next maintenance goes on"


@flow(name="maintain", flow_run_name=name_maintaining_run, persist_result=False)
async def maintain(request: MaintainRequest) -> tuple[Maintenance, ...] | State[None]:
    """Maintain every corpus, or the named ones; the run fails, and its page says why, if doctor finds something."""
    check_writable(home())
    done: list[Maintenance] = []
    with end_in_order():
        for location in corpora_to_maintain(request):
            if stop_requested():
                return Cancelled(message=f"stopped; {summary(done)}")
            done.append(await maintain_corpus(location, request))
    # A request that names corpora is about those; what belongs to none of them waits for the nightly run.
    aged = None if request.corpora else await asyncio.to_thread(age_out)
    await tag_run(*(one.corpus for one in done))
    with log_failures("the page of this maintenance"):
        await acreate_markdown_artifact(key="maintain", markdown=maintenance_markdown(done, aged), description=summary(done))
    found = [one.corpus for one in done if one.findings]
    return Failed(message=f"{summary(done)}: see the page of this run for {', '.join(found)}") if found else tuple(done)


async def maintain_corpus(location: CorpusLocation, request: MaintainRequest) -> Maintenance:
    """Maintain and examine one corpus; skip one that is being written; one that cannot be opened is a finding."""
    try:
        return await look_after(location, request)
    except (StoreVersionError, LockLostError) as error:
        return Maintenance(corpus=location.name, findings=(Finding("maintenance", str(error), NEXT_GOES_ON),))


async def look_after(location: CorpusLocation, request: MaintainRequest) -> Maintenance:
    number = 0
    with (
        lineage_of_run(
            location,
            parameters=request.model_dump(mode="json"),
            settings={},
            run_id=str(flow_run.id),
            snapshot=lambda: number,
        ) as place,
        working_at(place),
    ):
        done, number = await maintain_locked(location, request)
        done = done.model_copy(update={"killed": tuple(run.message for run in close_what_cannot_go_on(location, snapshot=number))})
        if done.skipped:
            return done
        return done.model_copy(update={"findings": (*done.findings, *await doctor.submit(location))})


async def maintain_locked(location: CorpusLocation, request: MaintainRequest) -> tuple[Maintenance, int]:
    """Maintain one corpus under its lock; return what was done and the snapshot, 0 for none."""
    try:
        with open_for_reading(location) as snapshot:
            embedder = snapshot.embedder
    except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError):
        # Nothing is published, or it is damaged, which doctor reports.
        return Maintenance(corpus=location.name), 0
    try:
        with open_for_writing(location, embedder=embedder, wait_seconds=request.wait_seconds) as corpus:
            cleaned = await maintenance.submit(corpus)
            return Maintenance(corpus=location.name, mended=corpus.messages, cleaned=cleaned), corpus.snapshot
    except (CorpusBusyError, PulledError) as error:
        return Maintenance(corpus=location.name, skipped=str(error)), 0
    except (GraphError, GraphDamagedError) as error:
        return Maintenance(corpus=location.name, findings=(Finding("maintenance", str(error), "see what doctor found"),)), 0
