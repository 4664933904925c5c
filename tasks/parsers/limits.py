"""What a parser child may use and touch, taken away before it sees a byte of the document. Linux only."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

from tasks.parsers.jobs import Job

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 1, 22, 38
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
WRITABLE_DEVICES = ("/dev/null", "/dev/urandom", "/dev/zero")


def die_with(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, also by kill -9; end at once where that has happened."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def confine(job: Job) -> tuple[str, ...]:
    """Take away memory, CPU, output, and for a confined job network, programs and files.

    Returns in words what the kernel did not grant; an empty tuple is the full confinement.
    """
    _limit_resources(job)
    if not job.confined:
        return ()
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
    imports = [entry for entry in sys.path if entry and Path(entry).resolve() != root]
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
