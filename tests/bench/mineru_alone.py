"""One process of MinerU's flash tier and nothing else: `python -m tests.bench.mineru_alone MEGABYTES CROPS`.

It reads a path a line on standard input, and answers a line of JSON when it is warm and one for each document: pages and
seconds, or the problem. Out of the box (`crops`) MinerU has its figures cut out by worker processes; `no-crops` leaves that out.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def main() -> None:
    """Read documents until there are no more."""
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    memory = int(sys.argv[1]) << 20
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    os.environ |= {"DO_NOT_TRACK": "1", "LOGURU_LEVEL": "CRITICAL"}
    began = time.monotonic()
    if sys.argv[2] == "no-crops":
        import mineru.backend.analysis.pdf.window as pdf_window

        pdf_window.attach_visual_block_images_from_pdf = lambda *_, **__: None
    _read(_sample())
    replies.write(json.dumps({"warm_after_seconds": round(time.monotonic() - began, 2)}) + "\n")
    for line in sys.stdin:
        replies.write(json.dumps(_timed(line.rstrip("\n"))) + "\n")


def _timed(path: str) -> dict[str, Any]:
    began, cpu = time.monotonic(), time.process_time()
    try:
        pages = _read(path)
    except Exception as error:
        return {"problem": f"{type(error).__name__}: {error}"[:300]}
    return {"pages": pages, "seconds": time.monotonic() - began, "cpu_seconds": time.process_time() - cpu}


def _read(path: str) -> int:
    """Read all pages into MinerU's own records, as it comes out of the box."""
    from mineru import parse

    return len(parse(path, tier="flash", ocr_mode="txt").pages)


def _sample() -> str:
    """Return a document of one empty page."""
    import pypdfium2

    document = pypdfium2.PdfDocument.new()
    document.new_page(595, 842)
    path = Path(tempfile.mkdtemp(prefix="mineru-alone-")) / "sample.pdf"
    document.save(path)
    return str(path)


if __name__ == "__main__":
    main()
