"""Builds the documentation as a static site: `python -m deployments.docs.build [FOLDER]`, else where the service looks for it.

`index.md` lists the pages: it is the navigation, and `llms.txt`. A page is a Markdown file of the repository; a comment such as
`<!-- commands -->` in it stands for what `reference.py` reads in the code. A link that leads nowhere ends the build.
"""

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markdown_it.token import Token

from deployments.docs.reference import GENERATED
from flows.service.web.documentation import FOLDER as SERVED
from storage.errors import RequestError
from tasks.views.render import STYLE

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
INDEX = HERE / "index.md"
MARKDOWN = MarkdownIt("commonmark").enable("table")
TEMPLATES = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
MARKER = re.compile(rf"^<!-- ({'|'.join(GENERATED)}) -->$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:", re.IGNORECASE)


@dataclass
class Page:
    source: Path
    section: str = ""
    title: str = ""
    tokens: list[Token] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    @property
    def place(self) -> str:
        """Where it lies in the site: pages of this folder at the top, others as in the repository."""
        inside = self.source.is_relative_to(HERE)
        return self.source.relative_to(HERE if inside else ROOT).with_suffix(".html").as_posix()


def read_page(source: Path, section: str = "", title: str = "") -> Page:
    text = MARKER.sub(lambda marker: GENERATED[marker[1]](), source.read_text("utf-8"))
    page = Page(source, section, title, MARKDOWN.parse(text))
    for token, inline in zip(page.tokens, page.tokens[1:], strict=False):
        if token.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            token.attrSet("id", name_anchor(words, page.anchors))
            page.title = page.title or words
        elif token.type == "th_open" and not inline.content:
            token.tag = page.tokens[page.tokens.index(token) + 2].tag = "td"  # a head without words is none
        elif token.type in ("fence", "code_block"):
            token.attrSet("tabindex", "0")  # so that keys can scroll it
    return page


def name_anchor(heading: str, taken: set[str]) -> str:
    """Return the anchor that GitHub gives a heading, and count it as taken."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    anchor = next(name for count in range(len(taken) + 1) if (name := f"{plain}-{count}" if count else plain) not in taken)
    taken.add(anchor)
    return anchor


def list_pages(index: Page) -> list[Page]:
    """Return the pages that the index links, each with the section it stands in."""
    pages, section = [index], ""
    for token, inline in zip(index.tokens, index.tokens[1:], strict=False):
        if token.type == "heading_open" and token.tag == "h2":
            section = inline.content
        elif (
            token.type == "paragraph_open" and token.level > 0 and (children := inline.children) and children[0].type == "link_open"
        ):
            pages.append(read_page((HERE / str(children[0].attrs["href"])).resolve(), section, children[1].content))
    return pages


def lead_links(page: Page, pages: dict[Path, Page], folder: Path) -> list[str]:
    """Lead each relative link of the page to its place in the site; return those that lead nowhere."""
    broken = []
    children = (child for token in page.tokens for child in token.children or ())
    for child, name in ((child, name) for child in children for name in ("href", "src") if name in child.attrs):
        link = str(child.attrs[name])
        if ELSEWHERE.match(link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.source.parent / path).resolve() if path else page.source
        if target.is_dir() and (target / "README.md") in pages:
            target /= "README.md"
        place = pages[target].place if target in pages else keep_file(target, folder)
        if not place or (anchor and anchor not in (pages[target].anchors if target in pages else ())):
            broken.append(f"{page.source.relative_to(ROOT)}: {link}")
            continue
        up = "../" * page.place.count("/")
        child.attrSet(name, (f"{up}{place}" if path else "") + (f"#{anchor}" if anchor else ""))
    return broken


def keep_file(target: Path, folder: Path) -> str:
    """Copy a file of the repository that a page links into the site; return its place, "" where there is no such file."""
    if not (target.is_file() and target.is_relative_to(ROOT)):
        return ""
    place = target.relative_to(HERE if target.is_relative_to(HERE) else ROOT)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(target, folder / place)
    return place.as_posix()


def build(folder: Path) -> int:
    """Build the site in place of what is in the folder; return the number of pages. Raise RequestError for links to nowhere."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = {page.source: page for page in list_pages(read_page(INDEX))}
    folder.mkdir(parents=True)
    if broken := [link for page in pages.values() for link in lead_links(page, pages, folder)]:
        raise RequestError(f"{len(broken)} links lead nowhere", "; ".join(broken), "name files and headings that are there")
    sections: dict[str, list[Page]] = {}
    for page in pages.values():
        sections.setdefault(page.section, []).append(page)
    for page in pages.values():
        path = folder / page.place
        path.parent.mkdir(parents=True, exist_ok=True)
        body = MARKDOWN.renderer.render(page.tokens, MARKDOWN.options, {})
        body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
        up = "../" * page.place.count("/")
        path.write_text(TEMPLATES.get_template("page.html").render(page=page, body=body, sections=sections, up=up), "utf-8")
    (folder / "style.css").write_text(f"{STYLE}\n{(HERE / 'docs.css').read_text('utf-8')}", "utf-8")
    listed = {page.source: page.place for page in pages.values()}
    text = re.sub(r"\]\(([^):#]+\.md)\)", lambda link: f"]({listed[(HERE / link[1]).resolve()]})", INDEX.read_text("utf-8"))
    (folder / "llms.txt").write_text(text, "utf-8")
    return len(pages)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).absolute() if sys.argv[1:] else SERVED
    try:
        print(f"{build(folder)} pages in {os.path.relpath(folder)}; open {os.path.relpath(folder / 'index.html')}")  # noqa: T201
    except RequestError as error:
        sys.exit(str(error))
