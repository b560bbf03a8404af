"""Consumers as a noun of administration: the named readers of a queue's feed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.queueing.model.administration import Listing, Noun, Plane, View


class ConsumerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A named reader of a queue's feed: what it has not read is kept for it."""

    name: str
    cursor: str
    """Everything up to here was read; a string of digits."""
    created: str
    """A time (RFC 3339), as `moved` is."""
    moved: str
    """When the cursor moved last."""


def _consumers(view: View, queue: str) -> Iterator[ConsumerInfo]:
    from reliquary.queueing.feed.views import consumers

    return consumers(view.state, queue, view.by)


CONSUMER: Final = Noun(
    name="consumer",
    plural="consumers",
    record=ConsumerInfo,
    summary="List, show, move and remove the consumers of feeds.",
    plane=Plane.DATA,
    of_a_queue=True,
    needs=None,
    listing=Listing(records=_consumers),
)
