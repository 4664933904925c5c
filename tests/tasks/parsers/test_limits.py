"""A confined process has no network, no other programs, and no files but those it needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.parsers.jobs import Job, Work
from tasks.settings import LimitSettings, OcrSettings, ParseSettings

SCRIPT = """
import errno, json, os, socket, subprocess, sys
from pathlib import Path
from tasks.parsers.jobs import Job
from tasks.parsers.child import confine
job = Job.model_validate_json(sys.argv[1])
missing = confine(job)

def attempt(act):
    try:
        act()
    except MemoryError:
        return "MemoryError"
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"

secret, outside = Path(sys.argv[2]), Path(sys.argv[3])
print(json.dumps({
    "missing": missing,
    "internet": attempt(lambda: socket.socket(socket.AF_INET)),
    "unix": attempt(lambda: socket.socket(socket.AF_UNIX)),
    "program": attempt(lambda: os.execv("/bin/true", ["true"])) if job.confined else "",
    "secret": attempt(secret.read_bytes),
    "passwords": attempt(Path("/etc/passwd").read_bytes),
    "environment": attempt(Path(f"/proc/{os.getppid()}/environ").read_bytes),
    "outside": attempt(lambda: outside.write_text("x")),
    "document": attempt(job.source.read_bytes),
    "folder": attempt(lambda: (job.folder / "x").write_text("x")),
    "large": attempt(lambda: (job.folder / "y").write_bytes(bytes(3 << 20))),
    "memory": attempt(lambda: bytearray(600 << 20)),
}))
"""


@pytest.fixture
def job(tmp_path: Path) -> Job:
    (tmp_path / "scratch" / "job").mkdir(parents=True)
    (tmp_path / "scratch" / "document").write_text("a document")
    return Job(
        work=Work.MINERU,
        source=tmp_path / "scratch" / "document",
        folder=tmp_path / "scratch" / "job",
        name="document",
        cpu_seconds=5,
        wall_seconds=20,
        parse=ParseSettings(),
        ocr=OcrSettings(),
        limits=LimitSettings(memory_megabytes=512, output_megabytes=2),
    )


def attempts(job: Job, folder: Path) -> dict[str, object]:
    secret = folder / "secret"
    secret.write_text("secret")
    command = [sys.executable, "-c", SCRIPT, job.model_dump_json(), str(secret), str(folder / "outside")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3])
    return json.loads(done.stdout)


def test_a_confined_process_has_no_network_and_no_other_program(job, tmp_path):
    found = attempts(job, tmp_path)
    assert not [words for words in found["missing"] if "network" in words]
    assert found["internet"] == found["unix"] == found["program"] == "EPERM"
    assert found["document"] == found["folder"] == "done"
    assert found["large"] == "EFBIG"
    assert found["memory"] == "MemoryError"


def test_a_confined_process_touches_no_file_but_its_own(job, tmp_path):
    found = attempts(job, tmp_path)
    if found["missing"]:
        pytest.skip("this kernel has no Landlock")
    assert found["secret"] == found["passwords"] == found["environment"] == found["outside"] == "EACCES"
    assert not (tmp_path / "outside").exists()


def test_a_model_tier_keeps_its_network_and_has_the_limits(job, tmp_path):
    found = attempts(job.model_copy(update={"parse": ParseSettings(tier="standard")}), tmp_path)
    assert found["internet"] == found["secret"] == "done"
    assert found["memory"] == "MemoryError"
