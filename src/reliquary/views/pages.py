"""Divides lists into pages: finds the requested page, and the beginning of the next page.

GET /queues              --> the first records, and "next" if there are more
GET /queues?after=NEXT   --> the records behind them
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, Generic, TypeVar

from reliquary.base.faults import UsageError

T = TypeVar("T")

PAGE: Final = 1000
"""The number of records of a page if the query names no limit."""
LARGEST_PAGE: Final = 10_000


@dataclass(frozen=True, slots=True)
class PageWanted:
    """The page of a list that a query requests."""

    after: str = ""
    """The field `next` of the page before this one; empty for the first page."""
    limit: int = PAGE

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= LARGEST_PAGE:
            raise UsageError(f"limit is 1 to {LARGEST_PAGE}, not {self.limit}")

    @property
    def position(self) -> int:
        """Return the number of records before the page, for a list in which `after` counts records."""
        if not self.after:
            return 0
        if not (self.after.isascii() and self.after.isdigit() and len(self.after) <= 15):
            raise UsageError(f"after is what the page before it gave as next, not {self.after[:40]!r}")
        return int(self.after)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, and the value with which the next part begins."""

    records: list[T]
    next: str = ""
    """The value of `after` that asks for the next page; empty for the last page."""


def wanted_page(after: str | None, limit: str | None) -> PageWanted:
    """Return the page that the parameters of a query ask for."""
    if limit is not None and not (limit.isascii() and limit.isdigit() and len(limit) <= 9):
        raise UsageError(f"limit is a number, not {limit[:40]!r}")
    return PageWanted(after or "", PAGE if limit is None else int(limit))


def cut(records: Iterable[T], wanted: PageWanted) -> Page[T]:
    """Return a page of a list; `after` counts its records."""
    start = wanted.position
    found = list(islice(records, start, start + wanted.limit + 1))
    more = len(found) > wanted.limit
    return Page(found[: wanted.limit], str(start + wanted.limit) if more else "")


def as_json(name: str, page: Page[T]) -> dict[str, object]:
    """Return the JSON object for a page; it has a field `next` if there are more pages."""
    return {name: page.records, "next": page.next} if page.next else {name: page.records}
