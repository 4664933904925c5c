"""The commands `corpora push` and `corpora pull`."""

import argparse
from collections.abc import Callable
from dataclasses import asdict

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from flows.display.output import Output
from storage.corpus.transfer import Moved, Transferred, pull, push
from storage.errors import RequestError
from storage.locations import corpus_location
from storage.object_address import SCHEME, StoreAddress, is_address, store_address

COLUMNS = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())


def corpora_push(arguments: argparse.Namespace, output: Output) -> int:
    address = _address(arguments.address)
    return _transfer(arguments, output, lambda show: push(corpus_location(arguments.name), address, show), ("pushed to", "sent"))


def corpora_pull(arguments: argparse.Namespace, output: Output) -> int:
    """Fetch a pushed corpus as a read-only one."""
    address = _address(arguments.address)
    return _transfer(arguments, output, lambda show: pull(address, arguments.name, show), ("pulled from", "fetched"))


def _address(given: str) -> StoreAddress:
    if not is_address(given):
        raise RequestError(f"{given!r} is no address of an object store", given, f"write it as {SCHEME}BUCKET/PREFIX")
    return store_address(given)


def _transfer(
    arguments: argparse.Namespace, output: Output, transfer: Callable[[Moved], Transferred], words: tuple[str, str]
) -> int:
    hidden = output.as_json or not output.side.is_terminal
    with Progress(*COLUMNS, console=output.side, transient=True, disable=hidden) as bars:
        bar = bars.add_task(arguments.action, total=None)

        def show(moved: int, total: int) -> None:
            shown = bars.tasks[0]
            if shown.total != total or shown.completed + moved > total:
                # a pull that another push overtook begins again
                bars.reset(bar, total=total)
            bars.advance(bar, moved)

        done = transfer(show)
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
