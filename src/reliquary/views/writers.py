"""Makes the noun "writer" of administration: queries that publish batches, and their writer names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.time import as_text
from reliquary.queueing.model.administration import Listing, Noun, Plane, RecordFormat, View


class WriterInfo(msgspec.Struct, frozen=True):
    """A query that publishes batches, with the last batch that it published."""

    query: str
    writers: tuple[str, ...]
    """The names under which no other query may write."""
    batch: int
    """The number of the last batch; `rows` counts its rows."""
    rows: int
    total: int
    """The number of rows of all batches of the query."""
    published: str
    """When the last batch was published; a time (RFC 3339)."""
    waiting: int
    """The number of rows of parts that are not published yet."""
    spread: str = ""
    """The distribution of the last batch over managers; empty if this was the only one."""


def writers(view: View) -> Iterator[WriterInfo]:
    """Yield the queries of the user that published a batch, sorted by name."""
    for query in sorted(view.state.staging.ledger):
        record = writer(view, query)
        if record is not None:
            yield record


def writer(view: View, query: str) -> WriterInfo | None:
    """Return the record of a query; None if it has published nothing, or belongs to another user."""
    from reliquary.queueing.rules.permission import is_own

    staging = view.state.staging
    record = staging.ledger.get(query)
    if record is None or not is_own(view.state, view.by, record.user):
        return None
    parts = (each for (owner, _), numbers in staging.batches.items() if owner == query for each in numbers)
    return WriterInfo(
        query=query,
        writers=tuple(sorted(staging.names_of(query))),
        batch=record.batch,
        rows=record.messages,
        total=record.total,
        published=as_text(record.moment),
        waiting=sum(staging.stages[number].messages for number in parts),
        spread=record.spread,
    )


WRITER: Final = Noun(
    name="writer",
    plural="writers",
    record=WriterInfo,
    summary="List and forget those who publish batches.",
    plane=Plane.DATA,
    needs=None,
    listing=Listing(
        records=writers,
        columns=("query", "writers", "batch", "rows", "total", "published", "waiting"),
        help="List the queries that published batches, with the last one of each.\n\n"
        "`writers` are the names under which no other query may publish; `waiting` are rows of parts that "
        "are not published yet.",
    ),
    showing=RecordFormat(
        key="query",
        kind=str,
        record=writer,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="no query {} has published anything",
        help="Show the last batch that QUERY published.",
        example="3f0c1a52-6a52-4d5e-9c43-0f0f5a1f7c11",
    ),
)
