"""Builds the documentation as a static site: `python -m deployments.docs.build [FOLDER]`, else where the service looks for it.

`index.md` lists the pages: it is the navigation, and `llms.txt`. A page is a Markdown file of the repository; a comment such as
`<!-- commands -->` in it stands for what `reference.py` reads in the code. A link that leads nowhere ends the build.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
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
        return place_of(self.source.with_suffix(".html"))

    @property
    def up(self) -> str:
        return "../" * self.place.count("/")


def place_of(path: Path) -> str:
    return path.relative_to(HERE if path.is_relative_to(HERE) else ROOT).as_posix()


def read_page(source: Path, section: str = "", title: str = "") -> Page:
    text = MARKER.sub(lambda marker: GENERATED[marker[1]](), source.read_text("utf-8"))
    page = Page(source, section, title, MARKDOWN.parse(text))
    for at, (token, inline) in enumerate(pairwise(page.tokens)):
        if token.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            page.title = page.title or words
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")  # as GitHub names it
            token.attrSet("id", anchor if anchor not in page.anchors else f"{anchor}-{len(page.anchors)}")
            page.anchors.add(str(token.attrs["id"]))
        elif token.type == "th_open" and not inline.content:
            token.tag = page.tokens[at + 2].tag = "td"  # a head without words is none
        elif token.type in ("fence", "code_block"):
            token.attrSet("tabindex", "0")  # so that keys can scroll it
    return page


def list_pages() -> list[Page]:
    """Return the index, and the pages that it links, each with the section it stands in."""
    pages, section = [index := read_page(INDEX)], ""
    for token, inline in pairwise(index.tokens):
        children = inline.children or ()
        if token.tag == "h2" and children:
            section = inline.content
        elif token.type == "paragraph_open" and token.level and children and children[0].type == "link_open":
            pages.append(read_page((INDEX.parent / str(children[0].attrs["href"])).resolve(), section, children[1].content))
    return pages


def lead_links(page: Page, pages: Mapping[Path, Page], folder: Path) -> Iterator[str]:
    """Lead each relative link of the page to its place in the site; yield those that lead nowhere.

    A file of the repository that is no page is copied into the site.
    """
    children = (child for token in page.tokens for child in token.children or ())
    for child, name in ((child, name) for child in children for name in ("href", "src") if name in child.attrs):
        link = str(child.attrs[name])
        path, _, anchor = link.partition("#")
        target = (page.source.parent / path).resolve() if path else page.source
        target = target / "README.md" if target.is_dir() else target
        if ELSEWHERE.match(link):
            continue
        if not (target.is_file() and target.is_relative_to(ROOT)) or (
            anchor and anchor not in getattr(pages.get(target), "anchors", ())
        ):
            yield f"{page.source.relative_to(ROOT)}: {link}"
        elif target in pages:
            child.attrSet(name, (page.up + pages[target].place if path else "") + (f"#{anchor}" if anchor else ""))
        else:
            (copy := folder / place_of(target)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, copy)
            child.attrSet(name, page.up + place_of(target))


def build(folder: Path) -> int:
    """Build the site in place of what is in the folder; return the number of pages. Raise RequestError for links to nowhere."""
    pages = {page.source: page for page in list_pages()}
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if broken := [link for page in pages.values() for link in lead_links(page, pages, folder)]:
        raise RequestError(f"{len(broken)} links lead nowhere", "; ".join(broken), "name files and headings that are there")
    for page in pages.values():
        body = MARKDOWN.renderer.render(page.tokens, MARKDOWN.options, {})
        body = body.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")
        (path := folder / page.place).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEMPLATES.get_template("page.html").render(page=page, body=body, pages=pages.values()), "utf-8")
    (folder / "style.css").write_text(f"{STYLE}\n{(HERE / 'docs.css').read_text('utf-8')}", "utf-8")
    listed = re.sub(r"\]\(([^):#]+\.md)\)", lambda link: f"]({pages[(HERE / link[1]).resolve()].place})", INDEX.read_text("utf-8"))
    (folder / "llms.txt").write_text(listed, "utf-8")
    return len(pages)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).absolute() if sys.argv[1:] else SERVED
    try:
        print(f"{build(folder)} pages in {os.path.relpath(folder)}; open {os.path.relpath(folder / 'index.html')}")  # noqa: T201
    except RequestError as error:
        sys.exit(str(error))
