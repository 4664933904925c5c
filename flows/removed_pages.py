"""What Prefect's UI shows of what the command line removes goes with it, where a server is configured, or up for this home.

No Prefect is loaded where none is configured; the maintenance of the corpus looks for what told of a removed document, too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

from flows.home_server import server_of_home
from flows.prefect_environment import prepare_environment, require_configured_server, server_is_configured
from flows.showing import Output
from storage.answers import answer_ids
from storage.locations import CorpusLocation
from tasks.answer_page import page_key
from tasks.ingest_report import artifact_key, progress_key
from tasks.markdown import lineage_key

GONE = "pages_in_prefect"
LATER = "the next maintenance deletes those that quote this document"
NEVER = "nothing deletes those of a removed corpus later, but its server may after 90 days"


def corpus_pages(location: CorpusLocation) -> list[str]:
    """Return the keys of all pages of a corpus: of its ingests, its answers, and the lineage of both."""
    keys = [artifact_key(location.name), *(page_key(answer_id) for answer_id in sorted(answer_ids(location)))]
    return [progress_key(location.name), *keys, *map(lineage_key, keys)]


def document_forgotten(location: CorpusLocation, names: Collection[str], output: Output) -> dict[str, int]:
    """Delete the pages that tell of a removed document; return how many, nothing where no server is asked."""

    def forget() -> Coroutine[Any, Any, int]:
        from flows.answer_pages import forget_pages

        return forget_pages(location, names)

    return _forgotten(forget, LATER, output)


def corpus_forgotten(pages: Sequence[str], output: Output) -> dict[str, int]:
    """Delete the pages of a removed corpus, likewise."""

    def forget() -> Coroutine[Any, Any, int]:
        from flows.answer_pages import delete_pages

        return delete_pages(pages)

    return _forgotten(forget, NEVER, output)


def _forgotten(forget: Callable[[], Coroutine[Any, Any, int]], remedy: str, output: Output) -> dict[str, int]:
    """Have the pages deleted; the removal is done, and whatever stands in the way is only told."""
    if not server_is_configured():
        beside = server_of_home()
        if beside is None:
            return {}
        os.environ["PREFECT_API_URL"] = beside
    prepare_environment()
    try:
        require_configured_server()
        return {GONE: asyncio.run(forget())}
    except Exception as error:
        output.side.print(f"the pages in Prefect's UI stay ({type(error).__name__}); {remedy}", markup=False, soft_wrap=True)
        return {}
