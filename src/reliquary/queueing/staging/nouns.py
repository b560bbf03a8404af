"""Writers as a noun of administration: queries that publish batches, and the names that are theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.queueing.model.administration import Listing, Noun, Plane, View


class WriterInfo(msgspec.Struct, frozen=True):
    """A query that publishes batches, with the last one that it published."""

    query: str
    writers: tuple[str, ...]
    """The names under which nobody else may write."""
    batch: int
    """The last one, with its rows."""
    rows: int
    total: int
    """Rows of all its batches."""
    published: str
    """When the last batch was; a time (RFC 3339)."""
    waiting: int
    """Rows of parts that are not published."""


def _writers(view: View) -> Iterator[WriterInfo]:
    from reliquary.queueing.staging.views import writers

    return writers(view.state, view.by)


WRITER: Final = Noun(
    name="writer",
    plural="writers",
    record=WriterInfo,
    summary="List and forget those who publish batches.",
    plane=Plane.DATA,
    needs=None,
    listing=Listing(
        records=_writers,
        columns=("query", "writers", "batch", "rows", "total", "published", "waiting"),
        help="List the queries that published batches, with the last one of each.\n\n"
        "`writers` are the names under which no other query may publish; `waiting` are rows of parts that "
        "are not published yet.",
    ),
)
