"""Mirrors of addresses that no corpus reads any more: when the last one that did is removed, the copies go as well."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress

from storage.catalog import CatalogDamagedError
from storage.corpora import corpora_in
from storage.in_use import paths_in_use
from storage.locations import corpora_folder, home, mirrors_folder
from storage.mirrored_copies import LOCK, copies_unused
from storage.object_address import is_address
from tasks.object_copies import has_copy_of, mirrors, modified_at


def forget_mirrors(*, keep_seconds: float) -> None:
    """Delete every mirror that was not looked at for so long and holds no copy of what any corpus shows.

    Nothing goes while somebody reads from a mirror, nor where a corpus cannot be asked what it shows: a later clean-up does it.
    """
    if not mirrors_folder().is_dir():
        return
    with copies_unused(home()) as unused:
        idle = [mirror for mirror in mirrors() if unused and (modified_at(mirror / LOCK) or 0) <= time.time() - keep_seconds]
        try:
            paths = paths_in_use(corpora_in(corpora_folder())) if idle else set()
        except CatalogDamagedError:
            return
        shown = set(filter(is_address, paths))
        for mirror in idle:
            if not has_copy_of(mirror, shown):
                # Who removes a document may be deleting its copy.
                with suppress(FileNotFoundError):
                    shutil.rmtree(mirror)
