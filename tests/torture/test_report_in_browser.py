"""The report in a real browser: boxes in the right place, everything readable, nothing fetched, hostile words only shown.

Without a Chromium these are skipped; with REQUIRE_BROWSER=1, as .ci/run sets it, they fail.
"""

import base64
from dataclasses import replace

import pypdfium2 as pdfium
import pytest
from PIL import Image

from storage.records.answers import AnswerStatus, RankedPage
from tasks.report.write import write_report
from tests.tasks.report.report_worlds import BOX, ROTATED_BOX, a_path, an_answer, cite, named, squares_and_letter

pytestmark = pytest.mark.torture

HOSTILE = (
    "<script>document.title='owned';fetch('http://203.0.113.7/a')</script>",
    "\"'><img src=http://203.0.113.7/b onerror=document.title='owned'>",
    "<a href=\"javascript:document.title='owned'\">click</a> [x](javascript:alert(1)) [1]",
    "</style><style>body{display:none}</style></title></text></svg>",
    "\x1b[31mred\x1b[0m \x07 \x00 \x9b",
    "w" * 10_000,
    "שלום עולם \u202egnorw\u202c العربية",
    "${policy} $title {{x}} %s {0}",
    "日本語の長い文章" * 60,
    "\ud800 half a pair",
)
SIZES = [(1280, True), (390, True), (360, False)]
NARROW_FLOWS = (0.6, 0.4, 0.2, 0.1)

BEYOND = """[...document.querySelectorAll('main *')].filter((part) => !part.closest('.scroll, svg')
  && part.getBoundingClientRect().right > innerWidth + 0.5).map((part) => part.outerHTML.slice(0, 90))"""

MEETING = """[...document.querySelectorAll('.picture')].map((picture) => {
  const top = picture.getBoundingClientRect().top;
  const lines = [...picture.querySelectorAll('svg')].map((svg) => {
    const scale = svg.getBoundingClientRect().height / svg.viewBox.baseVal.height;
    return [...svg.querySelectorAll('path')].flatMap((line) => line.getAttribute('d').match(/Q\\S+ (\\S+)/)?.[1] * scale || []);
  });
  const middles = [...picture.querySelectorAll('.passage')].map((box) => {
    const {top: start, bottom: end} = box.getBoundingClientRect();
    return (start + end) / 2 - top;
  });
  return [lines.flat(), middles];
})"""

BOXES = """[...document.querySelectorAll('.leaf')].map((leaf) => {
  const page = leaf.querySelector('img').getBoundingClientRect();
  return [...leaf.querySelectorAll('.box')].map((box) => {
    const rect = box.getBoundingClientRect();
    return {citations: box.dataset.citations, place: [
      (rect.left - page.left) / page.width, (rect.top - page.top) / page.height,
      (rect.right - page.left) / page.width, (rect.bottom - page.top) / page.height]};
  });
}).flat()"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A corpus of squares, letters and hostile words."""
    hostile_words = tuple(words.encode("utf-8", "replace").decode() for words in HOSTILE)
    name = 'a letter with <b>a long</b> & odd "name" ' + "n" * 120 + ".docx"
    with squares_and_letter(tmp_path_factory.mktemp("world"), more=hostile_words, letter_name=name) as world:
        yield world


def usual(world):
    """An answer with boxes on two pages, a shared box, a table, a figure, a text and paths among them."""
    _, _, paper, squares, letter, parts = world
    low = (0.05, 0.9, 0.95, 0.98)
    citations = (
        cite(squares[0], paper), cite(squares[1], paper), cite(parts[0], letter, "Part: Gearbox | Every: 6 months"),
        cite(squares[0], paper, box=low), cite(squares[0], paper, "square"), cite(parts[1], letter, "the picture"),
        cite(parts[2], letter, "the quoted words"),
    )  # fmt: skip
    chains = ((squares[0], squares[1]), (parts[2], parts[0]), (parts[1],), (squares[2],))
    paths = tuple(
        a_path(flow, *chain, answer="" if flow < 0.15 else "so") for flow, chain in zip(NARROW_FLOWS, chains, strict=True)
    )
    return an_answer(citations, paths, answer="It is red [1], and turned [2].", notes=("Extractive.",))


def hostile(world):
    """An answer in which everything that can hold words holds hostile ones."""
    _, _, paper, squares, *_ = world
    every = " ".join(HOSTILE)
    told = zip(squares[2:], HOSTILE, strict=True)
    citations = tuple(replace(cite(node, paper, words), section=(words,)) for node, words in told)
    bare = tuple(replace(citation, box=None) for citation in citations)
    return an_answer(
        (*citations, *bare),
        tuple(a_path(0.5, node, answer=words) for node, words in zip(squares[2:], HOSTILE, strict=True)),
        question=every,
        answer=every,
        why=every,
        notes=HOSTILE,
        corpus=every,
        settings={words: words for words in HOSTILE},
        models={words: words for words in HOSTILE},
        status=AnswerStatus.PARTIAL,
    )


def long(world):
    """An answer of eleven chains, one of them of twelve nodes, with thirty candidate pages."""
    _, _, paper, squares, _, parts = world
    chains = (squares, (parts[0], squares[0]), *((node,) for node in squares[:9]))
    pages = tuple(RankedPage(named(paper), number, 1 / number) for number in range(1, 31))
    return an_answer((cite(squares[0], paper),), tuple(a_path(0.5, *chain) for chain in chains), pages=pages)


def one(world):
    """An answer of a single chain."""
    _, _, paper, squares, *_ = world
    return an_answer((cite(squares[0], paper),), (a_path(0.5, *squares[:2]),))


@pytest.fixture(scope="module")
def reports(world, tmp_path_factory):
    """The usual report, the hostile one, one that found nothing, and one of long chains."""
    folder = tmp_path_factory.mktemp("reports")
    nothing = an_answer(status=AnswerStatus.NOT_FOUND, answer="", gate=None)
    made = {"usual": usual(world), "hostile": hostile(world), "nothing": nothing, "long": long(world), "one": one(world)}
    for name, answer in made.items():
        write_report(answer, world[0], world[1], folder / f"{name}.html")
    return folder


def opened(chromium, reports, name, width, dark, **more):
    return chromium.page((reports / f"{name}.html").as_uri(), width=width, dark=dark, **more)


@pytest.mark.parametrize("name", ["usual", "hostile", "nothing", "long"])
@pytest.mark.parametrize(("width", "dark"), SIZES)
def test_a_report_fits_loads_nothing_complains_of_nothing_and_can_be_read(name, width, dark, chromium, reports):
    with opened(chromium, reports, name, width, dark) as page:
        assert page.run("[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
        page.run("document.querySelectorAll('details').forEach((folded) => { folded.open = true; })")
        assert page.run("document.documentElement.scrollWidth") == width
        assert page.run(BEYOND) == []
        assert [address for address in page.addresses() if not address.startswith("data:")] == [(reports / f"{name}.html").as_uri()]
        page.resize(width, page.run("document.documentElement.scrollHeight"))
        assert page.violations() == []
        assert page.complaints() == []


@pytest.mark.parametrize("name", ["usual", "hostile", "long", "one"])
@pytest.mark.parametrize(("width", "root"), [(360, "16px"), (1000, "16px"), (1920, "24px")])
def test_the_lines_of_the_picture_meet_its_boxes_on_every_screen_and_with_larger_letters(name, width, root, chromium, reports):
    with opened(chromium, reports, name, width, False) as page:
        page.run("document.querySelectorAll('details').forEach((folded) => { folded.open = true; })")
        page.run(f"[...document.styleSheets][0].insertRule('html {{ font-size: {root} !important; }}', 0)")
        pictures = page.run(MEETING)
        assert len(pictures) == 2
        for ends, middles in pictures:
            assert ends and all(min(abs(end - middle) for middle in middles) < 1 for end in ends)
        assert page.run("document.documentElement.scrollWidth") == width


def test_axe_would_find_pale_words(chromium, reports):
    with opened(chromium, reports, "usual", 1280, False) as page:
        page.run("[...document.styleSheets][0].insertRule('.place { color: #999 !important; }', 0)")
        assert [rule for rule, _ in page.violations()] == ["color-contrast"]


@pytest.mark.parametrize("width", [1280, 390])
def test_every_box_is_where_its_citation_says(width, chromium, reports, world, tmp_path):
    answer = usual(world)
    with opened(chromium, reports, "usual", width, False) as page:
        found = {number: box["place"] for box in page.run(BOXES) for number in box["citations"].split()}
        for number in ("1", "2", "4", "5"):
            assert found[number] == pytest.approx(answer.citations[int(number) - 1].box, abs=0.01)
        # The picture below is the right one, the right way up: the square is red, what is beside it is white.
        page.run("[...document.styleSheets][0].insertRule('.box { display: none !important; }')")
        page.screenshot(tmp_path / "page.png")
        places = page.run("[...document.querySelectorAll('.leaf img')].map((image) => { const r = image.getBoundingClientRect(); "
                          "return [r.left + scrollX, r.top + scrollY, r.width, r.height]; })")  # fmt: skip
    with Image.open(tmp_path / "page.png") as shot:
        seen = shot.convert("RGB")
        for (left, top, across, down), (x0, y0, x1, y1) in zip(places, (BOX, ROTATED_BOX), strict=True):
            inside = seen.getpixel((round(left + across * (x0 + x1) / 2), round(top + down * (y0 + y1) / 2)))
            assert inside[0] > 200 and max(inside[1:]) < 70
            for x, y in ((x0 - 0.03, y0 - 0.02), (x1 + 0.03, y1 + 0.02)):
                assert min(seen.getpixel((round(left + across * x), round(top + down * y)))) > 240


def test_a_click_on_a_citation_goes_to_its_box_and_back(chromium, reports):
    with opened(chromium, reports, "usual", 390, False) as page:
        page.run("document.querySelector('#citation-2 .number').click()")
        assert page.run("location.hash") == "#box-2"
        top, bottom, height = page.run(
            "(({top, bottom}) => [top, bottom, innerHeight])(document.querySelector('#box-2').getBoundingClientRect())"
        )
        assert 0 <= top < bottom <= height
        page.run("document.querySelector('#box-2').click()")
        assert page.run("location.hash") == "#citation-2"


def test_what_can_be_reached_by_keyboard_shows_where_it_is(chromium, reports):
    with opened(chromium, reports, "usual", 1280, False) as page:
        reached = page.run(
            "[...document.querySelectorAll('a, summary, [tabindex]')].filter((part) => part.checkVisibility()).map((part) => {"
            " part.focus({focusVisible: true}); const style = getComputedStyle(part);"
            " return document.activeElement === part && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2; })"
        )
        assert len(reached) > 15
        assert all(reached)


def test_hostile_words_are_only_shown(chromium, reports):
    with opened(chromium, reports, "hostile", 1280, False) as page:
        assert page.run("document.title").endswith("FlowReader")
        assert page.run("document.querySelectorAll('script, iframe, object, embed, form, base').length") == 0
        shown = page.run("document.querySelector('#question').textContent")
        for words in (
            "<script>document.title='owned'",
            "onerror=",
            "</style><style>",
            "\\x1b[31mred",
            "\\u202egnorw",
            "w" * 10_000,
            "שלום",
        ):
            assert words in shown
        assert page.run("getComputedStyle(document.body).display") == "block"
        assert page.addresses() == [(reports / "hostile.html").as_uri(), *(a for a in page.addresses() if a.startswith("data:"))]


def test_it_is_printed_on_white_with_the_whole_picture(chromium, reports):
    with opened(chromium, reports, "usual", 794, True, media="print") as page:
        assert page.run("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
        assert (
            page.run("Math.max(...[...document.querySelectorAll('.passage')].map((box) => box.getBoundingClientRect().right))")
            < 794
        )
        assert page.run("document.documentElement.scrollWidth") <= 794
        printed = pdfium.PdfDocument(base64.b64decode(page.call("Page.printToPDF", printBackground=False)["data"]))
    assert 2 <= len(printed) <= 12
