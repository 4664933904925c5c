import io
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from tasks.models import ocr
from tasks.models.ocr import ocr_identity, read_pictures

ROOT = Path(__file__).parents[3]


def picture(*lines: str, size=(640, 240), turned=0, mode="RGB", kind="PNG") -> bytes:
    """Black words on white."""
    drawn = Image.new("RGB", size, "white")
    for place, line in enumerate(lines):
        ImageDraw.Draw(drawn).text((20, 20 + 50 * place), line, "black", ImageFont.load_default(28))
    buffer = io.BytesIO()
    drawn.rotate(turned, expand=True).convert(mode).save(buffer, kind)
    return buffer.getvalue()


def texts(words) -> list[str]:
    return [line.text for line in words.lines]


@pytest.mark.parametrize(("mode", "kind"), [("RGB", "PNG"), ("1", "PNG"), ("P", "PNG"), ("L", "JPEG")])
def test_words_keep_their_spaces_and_places(mode, kind):
    (words,) = read_pictures([picture("Revenue rose in July", "to 17.5 million euros", mode=mode, kind=kind)])
    assert texts(words) == ["Revenue rose in July", "to 17.5 million euros"]
    first, second = words.lines
    assert first.box[3] < second.box[1] and all(0 <= value <= 1 for value in first.box + second.box)
    assert first.confidence > 0.9 and not words.problem


@pytest.mark.torture
def test_a_picture_says_the_same_alone_and_beside_others():
    pictures = [
        picture("Short"),
        picture("A much longer line of words in one row"),
        picture("One", "Two", "Three", size=(300, 400)),
    ]
    assert read_pictures(pictures) == [read_pictures([one])[0] for one in pictures]


def test_a_page_on_its_head_is_read():
    (words,) = read_pictures([picture("Committee report", "of the third quarter", turned=180)])
    assert sorted(texts(words)) == ["Committee report", "of the third quarter"]


def test_damaged_pictures_have_a_problem_and_spare_the_others():
    whole = picture("Whole")
    words = read_pictures([b"", b"no picture", whole[: len(whole) // 2], whole])
    assert [bool(one.problem) for one in words] == [True, True, True, False]
    assert texts(words[3]) == ["Whole"]


@pytest.mark.torture
def test_empty_pictures_and_strips_have_no_words_and_no_problem():
    pictures = [picture(size=size) for size in ((1, 1), (400, 300), (12, 1900), (1900, 12))]
    assert all(not words.lines and not words.problem for words in read_pictures(pictures))
    assert read_pictures([]) == []


@pytest.mark.torture
def test_a_picture_that_hangs_the_engine_costs_only_itself(monkeypatch):
    read_pictures([picture("first")])
    monkeypatch.setattr(ocr, "SECONDS_PER_PICTURE", 0.0)
    (words,) = read_pictures([picture("late")])
    assert "ended or hung" in words.problem
    monkeypatch.undo()
    assert texts(read_pictures([picture("in time")])[0]) == ["in time"]


def test_an_engine_that_does_not_start_says_how_to_see_why(monkeypatch):
    ocr._engine.close()
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(ocr.OcrError, match="ocr_worker` says why"):
        read_pictures([picture("word")])


def test_the_identity_is_cheap():
    code = "import sys; from tasks.models.ocr import ocr_identity; print(ocr_identity()); assert 'onnxruntime' not in sys.modules"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)})
    assert run.stdout.strip() == ocr_identity()
