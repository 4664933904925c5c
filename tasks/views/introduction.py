"""The answer to what asks nothing of what documents say: which there are, what they are about, how to ask. Nothing is searched."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import zip_longest
from uuid import uuid4

from storage.corpus.snapshot import Snapshot
from storage.records.answers import Answer, AnswerPart, AnswerStatus, Citation, NamedDocument, Support, Usage
from storage.records.documents import WHOLE_PAGE, DocumentRecord, DocumentState, NodeKind, Section
from storage.text import counted, one_line, shorten
from tasks.algorithms.questions.talk import Talk, is_all, meant_documents, talk_of
from tasks.algorithms.text.kept import content_stems
from tasks.asking.request import AskRequest, find_scope
from tasks.asking.threads import Thread
from tasks.reading.answer import running_heads
from tasks.views.answers import PLACE_WORDS, place_words

MOST_DOCUMENTS, MOST_OUTLINED, MOST_HEADINGS, FEWEST_HEADINGS, EXAMPLES = 10, 4, 12, 3, 3
"""Documents that are named, and whose outlines are shown; headings of all of these together, and what makes a level of one worth
showing; questions to begin with."""
TITLE_CHARACTERS, QUOTE_WORDS = 100, 12

WELCOME = "You can ask about {} here, and every answer names its pages."
GREETED, THANKED = "Hello! ", "You are welcome. Ask on whenever you like."
MORE, FOR_EXAMPLE, EXAMPLE = "- and {:,} more", "For example:", '- What does {} say about "{}"?'


@dataclass(frozen=True, slots=True)
class Introduction:
    """What is talked of, and the documents that it is asked of, by name."""

    talk: Talk
    documents: tuple[DocumentRecord, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the answer; one that names a document cites it, so that it goes with the document."""

    text: str = ""
    cited: Citation | None = None
    support: Support = Support.QUOTED


def find_introduction(question: str, snapshot: Snapshot, request: AskRequest, thread: Thread) -> Introduction | None:
    """Return what to introduce, None for a question to what documents say; raise what `find_scope` raises.

    What documents are about is asked of those named, else of those that the answer before cites, else of all that are asked;
    of one that is not asked they are no introduction.
    """
    if not (found := talk_of(question)):
        return None
    talk, of = found
    ready = sorted((record for record in snapshot.documents() if record.state is DocumentState.READY), key=lambda each: each.name)
    scope = find_scope(snapshot, request)
    asked = [record for record in ready if record.id in scope.documents or not scope.documents]
    chosen: set[str] = set()
    if talk is Talk.ABOUT:
        names = [(record.name, *record.other_names, record.title) for record in ready]
        if (named := meant_documents(of, names, follows=bool(thread.before))) is None:
            return None
        if named and not any(ready[place] in asked for place in named):
            return None
        before = () if is_all(of) else thread.cited
        chosen = {ready[place].id for place in named} or {citation.document.id for citation in before}
    return Introduction(talk, tuple([record for record in asked if record.id in chosen] or asked))


def introduce(question: str, found: Introduction, snapshot: Snapshot, request: AskRequest, thread: Thread) -> Answer:
    answer_id, asked = uuid4().hex, datetime.now(UTC).isoformat(timespec="milliseconds")
    lines = [Line(THANKED)] if found.talk is Talk.THANKS else list(_lines(found, snapshot))
    citations = list(dict.fromkeys(line.cited for line in lines if line.cited))
    texts = [f"{line.text} [{citations.index(line.cited) + 1}]" if line.cited else line.text for line in lines]
    parts = [(line.text.removeprefix("- "), line.support, citations.index(line.cited)) for line in lines if line.cited]
    return Answer(
        answer_id=answer_id,
        asked=asked,
        question=question,
        answer="\n".join(texts).strip(),
        answer_by="catalog",
        status=AnswerStatus.ANSWERED,
        why="",
        reader=request.reader,
        citations=tuple(citations),
        paths=(),
        pages=(),
        evidence_pages=(),
        gate=None,
        usage=Usage(calls=0, input_tokens=0, output_tokens=0, cost=0.0, seconds={}),
        corpus=request.corpus,
        snapshot=snapshot.number,
        scope=request.limits,
        settings=request.settings.model_dump(mode="json"),
        models={"reader": "catalog"},
        asked_as=question,
        follows=thread.follows,
        thread=thread.id_for(answer_id),
        parts=tuple(AnswerPart(text, support, (place,)) for text, support, place in parts),
    )


def _lines(found: Introduction, snapshot: Snapshot) -> Iterator[Line]:
    shown, everything = found.documents[:MOST_DOCUMENTS], len(found.documents)
    running = running_heads(snapshot, {record.id for record in shown})
    outlines = [
        [one for one in snapshot.sections_of([each.id]) if one.title != each.title and (each.id, one.title) not in running]
        for each in shown
    ]
    if found.talk is Talk.ABOUT and everything <= MOST_OUTLINED:
        for record, outline in zip(shown, outlines, strict=True):
            yield _document(record, snapshot)
            yield from _headings(record, outline, MOST_HEADINGS // everything, snapshot)
            yield Line()
        return
    yield Line((GREETED if found.talk is Talk.GREETING else "") + WELCOME.format(counted(everything, "document")))
    named = [_document(record, snapshot, "- ") for record in shown]
    yield from named
    if everything > len(shown):
        yield Line(MORE.format(everything - len(shown)))
    # The first of each document, then the second of each; words of one that is not cited would stay when it goes.
    examples = [
        Line(EXAMPLE.format(record.name, _shorten_title(section.title)))
        for row in zip_longest(*map(_rank_headings, outlines))
        for record, line, section in zip(shown, named, row, strict=True)
        if section and line.cited
    ]
    if examples:
        yield from (Line(), Line(FOR_EXAMPLE), *examples[:EXAMPLES])


def _document(record: DocumentRecord, snapshot: Snapshot, mark: str = "") -> Line:
    """Name a document with its title and how long it is; a title that would not go with the document is left out."""
    cited, word = _cite(record, 1, snapshot), PLACE_WORDS.get(record.media_type, "page")
    title = f": {_shorten_title(record.title)}" if cited and record.title not in ("", record.name) else ""
    return Line(f"{mark}{record.name}{title}{f' ({counted(record.pages, word)})' if word else ''}", cited, Support.COMPUTED)


def _headings(record: DocumentRecord, outline: list[Section], most: int, snapshot: Snapshot) -> Iterator[Line]:
    """Yield the headings of the highest levels that have some together."""
    levels = sorted(one.level for one in outline)[:FEWEST_HEADINGS]
    top = [one for one in outline if one.level <= levels[-1]]
    for one in top[:most]:
        text = ", ".join(filter(None, (_shorten_title(one.title), place_words(record, one.first_page))))
        if cited := _cite(record, one.first_page, snapshot, one):
            yield Line(f"- {text}", cited)
    if most < len(top):
        yield Line(MORE.format(len(top) - most))


def _rank_headings(outline: list[Section]) -> list[Section]:
    """Return the headings of several words that say something, those of most pages first."""
    speaking = [one for one in outline if sum(not stem[0].isdigit() for stem in content_stems(one.title)) > 1]
    return sorted(speaking, key=lambda one: one.first_page - one.last_page)


def _shorten_title(title: str) -> str:
    return shorten(one_line(title), TITLE_CHARACTERS)


def _cite(record: DocumentRecord, page: int, snapshot: Snapshot, section: Section | None = None) -> Citation | None:
    """Cite the heading of a section, or what a page begins with, the title first; None for a page without words."""
    nodes = [node for node in snapshot.nodes_on(record.id, page) if node.content.strip()]
    headings = [node for node in nodes if node.kind is NodeKind.TITLE]
    own = [node for node in headings if (node.section_id == section.id if section else node.content == record.title)]
    for node in (*own, *headings, *nodes):
        quote, box = " ".join(node.content.split()[:QUOTE_WORDS]), None if node.box == WHOLE_PAGE else node.box
        return Citation(NamedDocument(record.id, record.name), page, box, node.id, quote, modality=node.modality)
    return None
