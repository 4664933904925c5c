"""An S3 server on a real loopback socket, moto's: what it is asked is written down, and it can be slow, or refuse.

with object_store() as server:
    store = server.with_empty_bucket()
    store.put("reports/a.txt", b"...")
    ... discover_objects([store.address("reports/")], ...), with store.environment ...
    assert store.fetched == ["reports/a.txt"]
"""

import itertools
import logging
import threading
from contextlib import contextmanager
from functools import cached_property
from xml.sax.saxutils import escape

import boto3
from botocore.config import Config
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

SECRET = "a-secret-that-nobody-may-see"
OURS = "the-tests-themselves"
_numbers = itertools.count()


class ObjectStoreServer:
    """What is served, and what was asked by others than the tests.

    `hold` keeps downloads back until it is set, and listings too where `holds_listings`; `refusals` maps keys to an error's code,
    "" is the listing; `ignores_conditions` gives an object whatever tag was asked for.
    """

    def __init__(self):
        self.moto = DomainDispatcherApplication(create_backend_app)
        self.hold = threading.Event()
        self.server = make_server("127.0.0.1", 0, self, threaded=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.environment = {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "reader",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def with_empty_bucket(self):
        """Forget what was asked and how to misbehave; return self, with another bucket."""
        self.bucket = f"bucket-{next(_numbers)}"
        self.holds_listings = self.ignores_conditions = False
        self.refusals, self.requests = {}, []
        self.hold.set()
        self.client.create_bucket(Bucket=self.bucket)
        return self

    def __call__(self, environ, start_response):
        if OURS not in environ.get("HTTP_USER_AGENT", ""):
            path = environ["PATH_INFO"].encode("latin-1").decode()
            key = path.removeprefix(f"/{self.bucket}").removeprefix("/")
            self.requests.append((environ["REQUEST_METHOD"], key))
            if code := self.refusals.get(key):
                start_response("403 Forbidden", [("Content-Type", "application/xml")])
                return [f"<Error><Code>{escape(code)}</Code><Message>no</Message></Error>".encode()]
            if key or self.holds_listings:
                self.hold.wait()
            if self.ignores_conditions:
                environ.pop("HTTP_IF_MATCH", None)
        return self.moto(environ, start_response)

    @property
    def fetched(self):
        """The keys of all downloads, in the order of their requests."""
        return [key for method, key in self.requests if method == "GET" and key]

    @cached_property
    def client(self):
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
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(self.bucket, key, data)

    def delete(self, key):
        self.client.delete_object(Bucket=self.bucket, Key=key)

    def address(self, key=""):
        return f"s3://{self.bucket}/{key}"


@contextmanager
def object_store():
    """Serve on a port of its own until the block ends."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    store = ObjectStoreServer()
    thread = threading.Thread(target=store.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield store
    finally:
        store.client.close()
        store.hold.set()
        store.server.shutdown()
        thread.join()
        store.server.server_close()
