"""A corpus that is pushed to an object server and pulled from there."""

import json

from storage.corpus.transfer import pull, push
from storage.object_address import store_address
from tests.storage.worlds import graph, publish, writing


def pushing(store, location, prefix="kept/papers/"):
    return push(location, store_address(store.address(prefix)), lambda *_: None)


def pulling(store, name=None, tell=lambda *_: None, prefix="kept/papers"):
    return pull(store_address(store.address(prefix)), name, tell)


def add(location, name="letter"):
    with writing(location) as corpus:
        publish(corpus, graph(name))


def rewrite(location, name):
    """Add a document and write every file of the graph anew."""
    with writing(location) as corpus:
        publish(corpus, graph(name))
        corpus.purge(wait_seconds=5)


def objects(store):
    listed = store.client.list_objects_v2(Bucket=store.bucket, Prefix="kept/papers/").get("Contents", ())
    return {entry["Key"].removeprefix("kept/papers/") for entry in listed}


def body(store, name):
    return store.client.get_object(Bucket=store.bucket, Key=f"kept/papers/{name}")["Body"].read()


def alter(store, change):
    """Change what CURRENT says."""
    said = json.loads(body(store, "CURRENT"))
    change(said)
    store.put("kept/papers/CURRENT", json.dumps(said, separators=(",", ":"), sort_keys=True).encode())
