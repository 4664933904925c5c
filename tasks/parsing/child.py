"""The life of a parser child: confined, it does one job, leaves its answer in the job's folder, and ends with a code."""

import ctypes
import gc
import math
import os
import platform
import resource
import signal
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from storage.records.documents import DocumentState
from storage.system import LIBC, end_with_parent
from tasks.parsing import mineru, pdfium, pictures
from tasks.parsing.formats import PARSERS, detect
from tasks.parsing.jobs import (
    ANSWER,
    CONFINEMENT,
    CONFINEMENTS,
    DONE,
    FAILED,
    OUT_OF_MEMORY,
    PDF,
    READINGS,
    REFUSAL,
    REFUSALS,
    REFUSED,
    SURVEYS,
    FileSurvey,
    Job,
    ParseError,
    Reading,
    RefusedFile,
    Work,
)

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
CLONE_NEWUSER_AND_NET = 0x10000000 | 0x40000000

# audit architecture; then socket, execve, execveat, ptrace, process_vm_readv, process_vm_writev, io_uring_setup
FORBIDDEN_CALLS = {
    "x86_64": (0xC000003E, (41, 59, 322, 101, 310, 311, 425)),
    "aarch64": (0xC00000B7, (198, 221, 281, 117, 270, 271, 425)),
}
X32_BIT = 0x40000000

LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
LANDLOCK_READ = (1 << 2) | (1 << 3)
LANDLOCK_FILE = (1 << 1) | (1 << 2)
LANDLOCK_RIGHTS_BY_VERSION = {1: (1 << 13) - 1, 2: (1 << 14) - 1}
LANDLOCK_RIGHTS_SINCE_3 = (1 << 15) - 1
LANDLOCK_SCOPES = 0b11
READABLE_SYSTEM = (
    *("/usr", "/lib", "/lib64", "/etc/fonts", "/etc/mime.types", "/etc/localtime"),
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo"),
)
NOT_LINUX = (
    "this system has neither Landlock nor seccomp: the parser could read and write other files, reach the network, and take more "
    "memory than it may"
)
WRITABLE_DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")


def die_with(parent: int) -> None:
    """Kill this process when its parent ends, also by kill -9; end at once where that has happened."""
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def confine(job: Job) -> tuple[str, ...]:
    """Take away memory, CPU, output, and for a confined job network, programs and files.

    Returns in words what the kernel did not grant; an empty tuple is the full confinement.
    """
    _limit_resources(job)
    if not job.confined:
        return ()
    if not hasattr(LIBC, "prctl"):
        return (NOT_LINUX,)
    missing = []
    if not _allow_folders(readable=_readable(job), writable=job.folder):
        missing.append("Landlock is not available: the parser could read and write other files")
    if not _forbid_calls() and LIBC.unshare(CLONE_NEWUSER_AND_NET) != 0:
        missing.append("neither seccomp nor a network namespace is available: the parser could reach the network")
    return tuple(missing)


def _limit_resources(job: Job) -> None:
    """Set the kernel's own limits. RLIMIT_DATA counts private memory only, so that mapped libraries are free."""
    memory, output, cpu = job.limits.memory_megabytes << 20, job.limits.output_megabytes << 20, math.ceil(job.cpu_seconds)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_FSIZE, (output, output))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 2))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(5)


def _forbid_calls() -> bool:
    """Answer EPERM to sockets of any kind, to other programs and to meddling with other processes."""
    known = FORBIDDEN_CALLS.get(platform.machine())
    if known is None:
        return False
    architecture, calls = known
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    refuse = len(calls) + 1
    program = [(load, 0, 0, 4), (equal, 0, refuse + 2, architecture), (load, 0, 0, 0), (at_least, refuse, 0, X32_BIT)]
    program += [(equal, refuse - 1 - place, 0, call) for place, call in enumerate(calls)]
    program += [(answer, 0, 0, 0x7FFF0000), (answer, 0, 0, 0x00050000 | 1)]
    packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in program))
    filters = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(packed)))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(LIBC.prctl(PR_SET_SECCOMP, 2, filters, 0, 0) == 0)


def _readable(job: Job) -> list[str]:
    """Return what a parser must read: the document, Python with its packages, our own code, fonts."""
    root = Path(__file__).resolve().parents[2]
    is_of_the_sources = (root / "pyproject.toml").exists()  # beside which anything may lie; else it is where packages are
    imports = [entry for entry in sys.path if entry and not (is_of_the_sources and Path(entry).resolve() == root)]
    own = [str(root / "tasks"), str(root / "storage")]
    return [str(job.source), sys.prefix, sys.base_prefix, *READABLE_SYSTEM, *imports, *own]


def _allow_folders(*, readable: list[str], writable: Path) -> bool:
    """Let this process read the first and write the second, and touch no other file; say whether the kernel agreed."""
    version = LIBC.syscall(LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return False
    rights = LANDLOCK_RIGHTS_BY_VERSION.get(version, LANDLOCK_RIGHTS_SINCE_3)
    attributes = struct.pack("QQQ", rights, 0, LANDLOCK_SCOPES) if version >= 6 else struct.pack("Q", rights)
    ruleset = LIBC.syscall(LANDLOCK_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    for path in readable:
        _allow(ruleset, path, LANDLOCK_READ)
    for path in WRITABLE_DEVICES:
        _allow(ruleset, path, LANDLOCK_FILE)
    _allow(ruleset, str(writable), rights & ~1)
    granted = LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 and LIBC.syscall(LANDLOCK_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return bool(granted)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Add a rule for the folder or file; what does not exist needs none."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not Path(path).is_dir():
        rights &= LANDLOCK_FILE
    LIBC.syscall(LANDLOCK_ADD, ruleset, 1, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)


def live(line: bytes, *, parent: int) -> int:
    """Do the job that the line describes, in this process, and return the code to end with. Never raises."""
    die_with(parent)
    job = Job.model_validate_json(line)
    tempfile.tempdir = str(job.folder)
    # a full set of memory would make the last words fail too
    reserve = bytearray(1 << 20)
    try:
        os.chdir(job.folder)
        (job.folder / CONFINEMENT).write_bytes(CONFINEMENTS.dump_json(confine(job)))
        _work(job)
        return DONE
    except ParseError as refusal:
        _refuse(job, RefusedFile(state=refusal.state, reason=refusal.reason, final=True))
        return REFUSED
    except MemoryError:
        return OUT_OF_MEMORY
    except BaseException as error:
        del reserve
        gc.collect()
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        _refuse(job, RefusedFile(state=DocumentState.FAILED, reason=words, final=False))
        return OUT_OF_MEMORY if "MemoryError" in words or "bad allocation" in words else FAILED


def _work(job: Job) -> None:
    if job.work is Work.SURVEY:
        _answer(job, SURVEYS, _survey(job))
    elif job.work is Work.WHOLE:
        _answer(job, READINGS, PARSERS[job.media_type](job))
    elif job.work is Work.RENDER:
        page = pdfium.open_pdf(job.source)[job.first_page - 1]
        drawn = pdfium.draw(page, dpi=job.dpi, megapixels=job.limits.image_megapixels)
        (job.folder / ANSWER).write_bytes(pictures.encode(drawn))
    else:
        _read_pages(job)


def _read_pages(job: Job) -> None:
    """Read a range, leave the words first, then the pictures: should drawing fail, the words are there."""
    pages = mineru.read_pages(job) if job.work is Work.MINERU else pdfium.read_text_layer(job)
    _answer(job, READINGS, Reading(title="", pages=pages))
    _answer(job, READINGS, Reading(title="", pages=pdfium.add_pictures(pages, job)))


def _survey(job: Job) -> FileSurvey:
    """Say what the file is; raise ParseError where no parser can read it."""
    media_type = detect(job.source, name=job.name, limits=job.limits)
    if media_type == PDF:
        return pdfium.survey_pdf(job)
    return FileSurvey(media_type=media_type, title="", page_labels=(), outline=(), decrypted=None)


def _answer(job: Job, kind: TypeAdapter[Any], value: object) -> None:
    """Write the answer whole or not at all."""
    unfinished = job.folder / "unfinished.json"
    unfinished.write_bytes(kind.dump_json(value))
    unfinished.replace(job.folder / ANSWER)


def _refuse(job: Job, refusal: RefusedFile) -> None:
    """Write why there is no answer, as far as there is room for it."""
    try:
        (job.folder / REFUSAL).write_bytes(REFUSALS.dump_json(refusal))
    except OSError:
        sys.exit(FAILED)
