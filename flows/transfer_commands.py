"""The commands `corpora push` and `corpora pull`."""

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from flows.showing import Output
from storage.locations import corpus_location
from storage.object_address import SCHEME, AddressError, StoreAddress, is_address, store_address
from storage.transfer import Tell, Transferred


def corpora_push(arguments: argparse.Namespace, output: Output) -> int:
    from storage.transfer import push

    address = _address(arguments.address)
    return _done(arguments, output, lambda tell: push(corpus_location(arguments.name), address, tell), ("pushed to", "sent"))


def corpora_pull(arguments: argparse.Namespace, output: Output) -> int:
    """Fetch what was pushed as a read-only corpus."""
    from storage.pull import pull

    address = _address(arguments.address)
    return _done(arguments, output, lambda tell: pull(address, arguments.name, tell), ("pulled from", "fetched"))


def _address(said: str) -> StoreAddress:
    if not is_address(said):
        raise AddressError(f"{said!r} is no address of an object store; write it as {SCHEME}BUCKET/PREFIX")
    return store_address(said)


def _done(arguments: argparse.Namespace, output: Output, transfer: Callable[[Tell], Transferred], words: tuple[str, str]) -> int:
    with _shown(output, arguments.action) as tell:
        done = transfer(tell)
    if arguments.json:
        output.data(asdict(done))
    else:
        what, moved = words
        news = "" if done.changed else ", which it was before"
        output.line(f"corpus {done.corpus} is {what} {done.address}: snapshot {done.snapshot}{news}")
        output.line(f"{done.files} files ({done.bytes:,} bytes) were {moved}")
        if done.remark:
            output.line(done.remark, style="yellow")
    return 0


@contextmanager
def _shown(output: Output, action: str) -> Iterator[Tell]:
    """Show on a terminal how many of how many bytes were moved."""
    if output.as_json or not output.side.is_terminal:
        yield lambda _moved, _total: None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=output.side, transient=True) as bars:
        task = bars.add_task(action, total=None)
        yield lambda moved, total: bars.update(task, completed=moved, total=total)
