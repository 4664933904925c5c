"""What a question is limited to."""

from __future__ import annotations

from dataclasses import dataclass

from storage.filters import Column, Filter, between, every, one_of
from storage.records import Modality

LAST_PAGE = 2**31 - 1
"""What a page column can hold at most."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Ids of documents (none: all), the first and the last page (1-based, both included, None: no limit), and a modality."""

    documents: tuple[str, ...] = ()
    first_page: int | None = None
    last_page: int | None = None
    modality: Modality | None = None

    @property
    def everything(self) -> bool:
        """Whether nothing is left out."""
        return self == EVERYTHING

    @property
    def pages(self) -> tuple[int, int]:
        """The first and the last page, both included."""
        return self.first_page or 0, LAST_PAGE if self.last_page is None else min(self.last_page, LAST_PAGE)

    def node_filter(self) -> Filter | None:
        """Return what keeps the nodes of the scope; None keeps all."""
        own = [one_of(Column.MODALITY, [self.modality])] if self.modality else []
        return joined([*self._place_filters(), *own])

    def row_filter(self) -> Filter | None:
        """Return what keeps the table rows of the scope; None keeps all. Only a table has rows."""
        own = [one_of(Column.DOCUMENT, ())] if self.modality not in {None, Modality.TABLE} else []
        return joined([*self._place_filters(), *own])

    def _place_filters(self) -> list[Filter]:
        documents = [one_of(Column.DOCUMENT, self.documents)] if self.documents else []
        limited = self.first_page is not None or self.last_page is not None
        return [*documents, *([between(Column.PAGE, *self.pages)] if limited else [])]


def joined(filters: list[Filter]) -> Filter | None:
    """Return a filter that keeps what all of them keep; None where there is none."""
    return every(*filters) if filters else None


EVERYTHING = Scope()
