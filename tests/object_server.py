"""An S3 server of moto's in a process of its own, on a free port: `python -m tests.object_server` prints where it listens.

moto honours If-Match and If-None-Match on PutObject, but looks and puts in two steps, and another thread may come between; S3 does
both in one. So here one request is served at a time.
"""

import contextlib
import os
import subprocess
import sys
import threading
import uuid
from dataclasses import dataclass
from http.client import HTTPConnection

BUCKET = "machines"


def serve():
    """Serve until the process is killed."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_request(self, *_arguments):
            pass

    app, turn = DomainDispatcherApplication(create_backend_app), threading.Lock()

    def one_at_a_time(environ, start_response):
        with turn:
            if environ["REQUEST_METHOD"] == "COPY":
                _copy_all(*environ["PATH_INFO"].split(":"))
                start_response("204 No Content", [])
                return []
            return list(app(environ, start_response))

    server = make_server("127.0.0.1", 0, one_at_a_time, threaded=True, request_handler=Quiet)
    sys.stdout.write(f"http://127.0.0.1:{server.port}\n")
    sys.stdout.flush()
    server.serve_forever()


def _copy_all(old, new):
    """Put every object whose name begins with `old` under `new` too: one by one from outside it takes seconds."""
    from moto.s3.models import s3_backends

    backend = s3_backends["123456789012"]["aws"]
    for name, key in list(backend.get_bucket(BUCKET).keys.items()):
        if name.startswith(old):
            backend.put_object(BUCKET, new + name.removeprefix(old), key.value)


def copy_all(endpoint, old, new):
    """Have the server copy every object whose name begins with `old`."""
    connection = HTTPConnection(endpoint.removeprefix("http://"))
    connection.request("COPY", f"{old}:{new}")
    assert connection.getresponse().status == 204
    connection.close()


@dataclass(frozen=True)
class ObjectServer:
    """A running server: its process, and what a machine needs in its environment to use it."""

    process: subprocess.Popen
    environment: dict[str, str]


@contextlib.contextmanager
def object_server():
    """Run a server with one empty bucket while the block runs."""
    with subprocess.Popen([sys.executable, "-m", "tests.object_server"], stdout=subprocess.PIPE, text=True) as process:
        try:
            environment = {
                "AWS_ENDPOINT_URL": process.stdout.readline().strip(),
                "AWS_ACCESS_KEY_ID": "machine",
                "AWS_SECRET_ACCESS_KEY": "planted-secret",
                "AWS_REGION": "us-east-1",
                "AWS_EC2_METADATA_DISABLED": "true",
                "NO_PROXY": "127.0.0.1",
            }
            _make_bucket(environment)
            yield ObjectServer(process, environment)
        finally:
            process.kill()


def _make_bucket(environment):
    import boto3

    keys = {"aws_access_key_id": "machine", "aws_secret_access_key": "planted-secret", "region_name": "us-east-1"}
    s3 = boto3.client("s3", endpoint_url=environment["AWS_ENDPOINT_URL"], **keys)
    s3.create_bucket(Bucket=BUCKET)
    s3.close()


def fresh_prefix():
    """Return an address that nothing was put under."""
    return f"s3://{BUCKET}/{os.getpid()}/{uuid.uuid4().hex}"


if __name__ == "__main__":
    serve()
