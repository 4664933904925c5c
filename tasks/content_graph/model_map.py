"""The map of a document by a model: a sentence for each page of what its nodes say, then for each section of what its pages say.

The model is shown summaries, never raw text.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from storage.text import shorten
from tasks.algorithms.sharing import fair_shares
from tasks.algorithms.text.standing import without_controls
from tasks.algorithms.text.words import first_words
from tasks.content_graph.asking import ask_in_groups, uses_short_forms
from tasks.content_graph.description import MapNotes, listed_call, name_places, says_nothing
from tasks.content_graph.structure import Structured
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.models.chat.model import ChatModel
from tasks.prompts.prompt import Piece
from tasks.settings.ingest import AnalysisSettings

KINDS = {"p": "page", "s": "section"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A page or section of the map; `id` is "p" and its number or "s" and its place, `page` its first.

    It is summed up of what it says itself, a page by its nodes, a section by its title, and of the entries under it: those of the
    pages that have its nodes, and of its sections.
    """

    id: str
    page: int
    own: tuple[str, ...]
    under: tuple[int, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class MapCalls:
    """What the calls about the map of a document share: its pages, then its sections."""

    document_id: str
    name: str
    entries: tuple[Entry, ...]
    settings: AnalysisSettings

    def groups(self) -> list[list[list[int]]]:
        """Return what is asked together: pages, then sections, leaves first, so that each rests on waves of calls before its own.

        What says nothing is not asked about.
        """
        most = self.settings.map_model.entries_per_call
        ranks = {place: 0 for place, entry in enumerate(self.entries) if entry.id[0] == "p" and entry.own}
        for place, entry in reversed([*enumerate(self.entries)]):  # what lies under a section stands behind it
            if entry.under:
                ranks[place] = 1 + max(ranks[other] for other in entry.under)
        waves = [[place for place in sorted(ranks) if ranks[place] == rank] for rank in sorted({*ranks.values()})]
        return [[wave[first : first + most] for first in range(0, len(wave), most)] for wave in waves]

    def call(self, group: Sequence[int]) -> ChatCall[MapNotes]:
        """Return the call about some pages, or some sections."""
        entries, kind = [self.entries[place] for place in group], KINDS[self.entries[group[0]].id[0]]
        item, words = name_places([int(entry.id[1:]) for entry in entries], self.name, kind), str(self.settings.summary_words)
        pieces = [Piece(entry.id, self._text_of(entry)) for entry in entries]
        return listed_call(self.document_id, item, f"{kind}_notes", pieces, MapNotes, purpose="map", words=words)

    def _text_of(self, entry: Entry) -> str:
        below = (self.entries[place] for place in entry.under)
        lines = [*entry.own, *(other.summary or other.own[0] for other in below)]
        room = self.settings.map_model.characters_per_call // self.settings.map_model.entries_per_call
        shares = fair_shares(needs=[len(line) for line in lines], room=room)
        return "\n".join(shorten(line, max(1, share)) for line, share in zip(lines, shares, strict=True))

    def having(self, replies: Sequence[MapNotes]) -> "MapCalls":
        """Return the map with the summaries of the replies; an entry that the model found nothing to say about stays as it was."""
        written = {
            note.id: first_words(without_controls(note.summary), self.settings.summary_words)
            for reply in replies
            for note in reply.nodes
            if not says_nothing(note.summary)
        }
        entries = (replace(entry, summary=written.get(entry.id) or entry.summary) for entry in self.entries)
        return replace(self, entries=tuple(entries))


def map_calls(document_id: str, name: str, structured: Structured, settings: AnalysisSettings) -> MapCalls:
    """Look through the analyzed nodes for what the pages and sections are summed up of."""
    pages = {page.number: place for place, page in enumerate(structured.pages)}
    sections = {section.id: place for place, section in enumerate(structured.sections, len(pages))}
    summaries, under = defaultdict[int, list[str]](list), defaultdict[str, set[int]](set)
    for node in structured.nodes:
        if not node.meaningless:
            summaries[node.page].append(node.summary)
            under[node.section_id or ""].add(pages[node.page])
    for section in reversed(structured.sections):
        if section.id in under:
            under[section.parent_id or ""].add(sections[section.id])
    entries = [Entry(f"p{page.number}", page.number, tuple(summaries[page.number]), (), page.summary) for page in structured.pages]
    for number, section in enumerate(structured.sections, 1):
        entries.append(Entry(f"s{number}", section.first_page, (section.title,), tuple(sorted(under[section.id])), section.summary))
    return MapCalls(document_id, name, tuple(entries), settings)


def sum_up(
    asking: MapCalls, *, chat: ChatModel, on_entries: Callable[[int, int], None]
) -> tuple[tuple[Entry, ...], int, dict[int, ChatError]]:
    """Have the model sum up pages and sections; `on_entries(done, total)` is called as replies come. A small one is not asked.

    Return the entries, how many were asked about, and by place why one of them got no summary and keeps what it had. Raises
    ChatEndedError where the run cannot go on, StoppedError where the user ended it.
    """
    waves = [] if uses_short_forms(asking.settings.model.forms, chat) else asking.groups()
    done, total, errors = 0, sum(len(group) for wave in waves for group in wave), dict[int, ChatError]()

    def count(more: int) -> None:
        nonlocal done
        done += more
        on_entries(done, total)

    count(0)
    for wave in waves:
        replies = ask_in_groups(chat, wave, asking.call, count)
        asking = asking.having([reply for _, reply in replies.values])
        errors |= replies.errors
    return asking.entries, total, errors
