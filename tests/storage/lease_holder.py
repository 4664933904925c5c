"""Takes the lease of the corpus `shared` for so many seconds and holds it: `python -m tests.storage.lease_holder SECONDS`."""

import sys
import time

from storage import lease
from storage.locations import shared_store
from storage.object_store import ObjectStore

if __name__ == "__main__":
    lease.GOOD_SECONDS = float(sys.argv[1])
    store = ObjectStore(shared_store().below("corpora/shared"))
    held = lease.take_lease(store, "shared", wait_seconds=0, known_fence=int, dead=None)
    sys.stdout.write(f"{held.terms.holder.fence}\n")
    sys.stdout.flush()
    time.sleep(60)
