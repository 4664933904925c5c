"""An S3 server on a real loopback socket, moto's: what it is asked is written down, and it can be slow, or refuse.

with object_server() as server:
    store = server.with_empty_bucket()
    store.put("reports/a.txt", b"...")
    ... discover_objects([store.address("reports/")], ...), with store.environment ...
    assert store.fetched == ["reports/a.txt"]

moto honours If-Match and If-None-Match on PutObject, but looks and puts in two steps, and another thread may come between; S3 does
both in one. So here moto serves one request at a time. It takes seconds to load, and is loaded where a server begins.
"""

import contextlib
import itertools
import logging
import threading
from functools import cache, cached_property
from xml.sax.saxutils import escape

import pytest

SECRET = "a-secret-that-nobody-may-see"
OURS = "the-tests-themselves"
_numbers = itertools.count()


class ObjectServer:
    """What is served, and what was asked by others than the tests.

    `hold` keeps downloads back until it is set, and listings too where `holds_listings`; `refusals` maps keys to an error's code,
    "" is the listing, and (METHOD, key) refuses only that; `ignores_conditions` gives or puts an object whatever tag was asked for;
    after `answers_left` requests nothing is answered any more; of the keys in `lost_answers` a put is done, its answer lost once;
    what `meanwhile` has under a key is called once, when the key is put; `cuts` has after how many bytes the next answers with a
    key's object end, one for each answer.
    """

    def __init__(self):
        from moto.server import create_backend_app
        from werkzeug.serving import make_server

        self.moto, self.turn = create_backend_app("s3"), threading.Lock()
        self.hold = threading.Event()
        self.server = make_server("127.0.0.1", 0, self, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "reader",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1",
        }
        self.with_empty_bucket()

    def with_empty_bucket(self):
        """Return self, with another bucket."""
        self.serve_well(f"bucket-{next(_numbers)}")
        backend().create_bucket(self.bucket, "us-east-1")
        return self

    def serve_well(self, bucket):
        """Forget what was asked and how to misbehave; what is asked of the bucket is written down by key."""
        self.bucket = bucket
        self.holds_listings = self.ignores_conditions = False
        self.refusals, self.requests, self.lost_answers, self.meanwhile, self.cuts = {}, [], set(), {}, {}
        self.answers_left = None
        self.hold.set()

    def __call__(self, environ, start_response):
        if OURS not in environ.get("HTTP_USER_AGENT", ""):
            path = environ["PATH_INFO"].encode("latin-1").decode()
            key = path.removeprefix(f"/{self.bucket}").removeprefix("/")
            self.requests.append((environ["REQUEST_METHOD"], key))
            if code := self.refusals.get(key) or self.refusals.get((environ["REQUEST_METHOD"], key)) or self.is_gone():
                start_response("403 Forbidden", [("Content-Type", "application/xml")])
                return [f"<Error><Code>{escape(code)}</Code><Message>no</Message></Error>".encode()]
            if key or self.holds_listings:
                self.hold.wait()
            if self.ignores_conditions:
                environ.pop("HTTP_IF_MATCH", None)
                environ.pop("HTTP_IF_NONE_MATCH", None)
            if environ["REQUEST_METHOD"] == "PUT" and key in self.meanwhile:
                self.meanwhile.pop(key)()
            if environ["REQUEST_METHOD"] == "PUT" and key in self.lost_answers:
                self.lost_answers.remove(key)
                with self.turn:
                    list(self.moto(environ, lambda *_: None))
                start_response("500 Internal Server Error", [])
                return []
            if environ["REQUEST_METHOD"] == "GET" and self.cuts.get(key):
                with self.turn:
                    return [b"".join(self.moto(environ, start_response))[: self.cuts[key].pop(0)]]
        with self.turn:
            return list(self.moto(environ, start_response))

    def is_gone(self):
        """Count a request; return a code where it is one too many."""
        if self.answers_left is None:
            return ""
        with self.turn:
            self.answers_left -= 1
            return "Gone" if self.answers_left < 0 else ""

    @property
    def fetched(self):
        """The keys of all downloads, in the order of their requests."""
        return [key for method, key in self.requests if method == "GET" and key]

    @cached_property
    def client(self):
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id="writer",
            aws_secret_access_key="writer",
            region_name="us-east-1",
            config=Config(user_agent=OURS, proxies={}),
        )

    def put(self, key, data):
        self.client.put_object(Bucket=self.bucket, Key=key, Body=data)

    def put_directly(self, key, data):
        """Put an object without the socket, where there are many."""
        backend().put_object(self.bucket, key, data)

    def delete(self, key):
        self.client.delete_object(Bucket=self.bucket, Key=key)

    def address(self, key=""):
        return f"s3://{self.bucket}/{key}"


@contextlib.contextmanager
def object_server():
    """Serve on a port of its own until the block ends; clients of this process share what boto3 reads of its own files."""
    from botocore.loaders import create_loader

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    served = ObjectServer()
    thread = threading.Thread(target=served.server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patched:
            # Reading them takes each client longer than all that it asks.
            patched.setattr("botocore.session.create_loader", cache(create_loader))
            yield served
    finally:
        served.client.close()
        served.hold.set()
        served.server.shutdown()
        thread.join()
        served.server.server_close()


def backend():
    """What moto keeps: for what would take long through the socket."""
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
