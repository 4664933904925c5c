"""The process of the OCR engine: `python -m tasks.models.ocr_worker`, started by tasks/models/ocr.py.

A request is a list of encoded pictures, the reply their words in JSON. Every computation runs on one thread, several of them at
the same time: no result depends on their number, and nothing spins while parsers work.
"""

import io
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import rapidocr
from PIL import Image
from rapidocr.utils.process_img import get_rotate_crop_image

from tasks.models.process import speak

Pixels = npt.NDArray[np.uint8]
Corners = npt.NDArray[np.float32]

THREADS = min(4, os.cpu_count() or 1)
MODELS = Path(rapidocr.__file__).parent / "models"
LONGEST_SIDE = 2000
"""RapidOCR's own bound; larger pictures are made smaller first."""
NARROWEST = 0.25
"""Of the longer side: the detector enlarges the shorter one, and a strip would fill the memory."""
LINE_HEIGHT = 48
"""The recogniser reads lines of this many pixels."""
SHORTEST_LINE = 320
"""The recogniser was trained on lines of this width and wider; shorter ones are padded and read as well as a long one."""
LINES_ASKED = 5
"""The widest lines, this many, decide whether the picture stands on its head."""
UPSIDE_DOWN = "180"


def build(stage: str) -> Any:  # noqa: ANN401  the kind of its answer depends on the stage
    """Return an engine that does one stage (det, cls or rec) with the wheel's own models and never looks for others."""
    models = {"Det": "PP-OCRv6_det_small", "Cls": "ch_ppocr_mobile_v2.0_cls_mobile", "Rec": "PP-OCRv6_rec_small"}
    parameters: dict[str, Any] = {f"{part}.model_path": str(MODELS / f"{name}.onnx") for part, name in models.items()}
    parameters |= {f"Global.use_{part}": part == stage for part in ("det", "cls", "rec")}
    parameters |= {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    # every line has its own width, and an arena keeps the largest buffers of all of them
    parameters |= {"EngineConfig.onnxruntime.enable_cpu_mem_arena": False}
    parameters |= {"Global.log_level": "critical", "Global.use_preprocess_img": stage == "det"}
    # one line at a time, in its own width: what stands beside a line in a batch changes what is read
    parameters |= {"Rec.rec_batch_num": 1, "Rec.rec_img_shape": [3, LINE_HEIGHT, SHORTEST_LINE]}
    return rapidocr.RapidOCR(params=parameters)


@dataclass(frozen=True, slots=True)
class Found:
    """The lines of a picture, cut out, and their boxes; or why it could not be read."""

    boxes: list[list[float]]
    lines: list[Pixels]
    problem: str

    def reply(self, texts: Sequence[tuple[str, float]]) -> dict[str, Any]:
        """Return what was read as tasks/models/ocr.py expects it; lines of nothing but spaces are left out."""
        read = zip(self.boxes, texts, strict=True)
        lines = [{"text": text, "box": box, "confidence": confidence} for box, (text, confidence) in read if text.strip()]
        return {"lines": lines, "problem": self.problem}


class Reader:
    """The three stages, loaded; `read` may be given many pictures, `_find` and `_recognise` run on many threads."""

    def __init__(self) -> None:
        """Load the models, before threads do."""
        self._detector, self._classifier, self._recogniser = build("det"), build("cls"), build("rec")
        self._pool = ThreadPoolExecutor(THREADS)
        blank: Pixels = np.full((LINE_HEIGHT, LINE_HEIGHT, 3), 255, dtype=np.uint8)
        for engine in (self._detector, self._classifier, self._recogniser):
            engine(blank)

    def read(self, pictures: Sequence[bytes]) -> list[dict[str, Any]]:
        finding = [self._pool.submit(self._find, picture) for picture in pictures]
        # the lines of the first pictures are read while the last are searched, so that no thread waits for another
        reading = [
            (found.result(), [self._pool.submit(self._recognise, line) for line in found.result().lines]) for found in finding
        ]
        return [found.reply([text.result() for text in texts]) for found, texts in reading]

    def _find(self, encoded: bytes) -> Found:
        try:
            pixels = decode(encoded)
        except (OSError, SyntaxError, ValueError, EOFError) as error:
            return Found([], [], f"the picture is damaged ({error})")
        height, width = pixels.shape[:2]
        corners = self._detector(pad_strip(pixels)).boxes
        if corners is None or not len(corners):
            return Found([], [], "")
        corners = np.asarray(corners, dtype=np.float32)
        boxes = [bounds(quad, width, height) for quad in corners]
        return Found(boxes, self._upright([get_rotate_crop_image(pixels, quad) for quad in corners]), "")

    def _upright(self, lines: list[Pixels]) -> list[Pixels]:
        """Turn the lines round where most of the widest stand on their heads: asked alone, short lines are often misjudged."""
        widest = sorted(lines, key=lambda line: -line.shape[1])[:LINES_ASKED]
        answers = [self._classifier(line).cls_res[0] for line in widest]
        turned = sum(label == UPSIDE_DOWN and score > 0.9 for label, score in answers)
        return [np.ascontiguousarray(line[::-1, ::-1]) for line in lines] if 2 * turned > len(widest) else lines

    def _recognise(self, line: Pixels) -> tuple[str, float]:
        result = self._recogniser(line)
        return (result.txts[0], float(result.scores[0])) if result.txts else ("", 0.0)


def decode(encoded: bytes) -> Pixels:
    """Return the picture as (height, width, 3) in the order blue, green, red, its longest side bounded."""
    Image.MAX_IMAGE_PIXELS = None
    with Image.open(io.BytesIO(encoded)) as picture:
        picture.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        rgb = picture.convert("RGB")
    rgb.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return np.ascontiguousarray(np.asarray(rgb)[:, :, ::-1])


def pad_strip(pixels: Pixels) -> Pixels:
    """Return the picture with white to its right or below where it is a strip."""
    height, width = pixels.shape[:2]
    below, right = max(0, int(width * NARROWEST) - height), max(0, int(height * NARROWEST) - width)
    return np.pad(pixels, ((0, below), (0, right), (0, 0)), constant_values=255)


def bounds(corners: Corners, width: int, height: int) -> list[float]:
    """Return the box around four corners, in 0..1 of the picture."""
    shares = np.clip(corners.astype(np.float64) / (width, height), 0, 1)
    return [round(float(value), 5) for value in (*shares.min(axis=0), *shares.max(axis=0))]


def load() -> Callable[[Sequence[bytes]], bytes]:
    reader = Reader()
    return lambda pictures: json.dumps(reader.read(pictures)).encode()


if __name__ == "__main__":
    speak(load)
