"""Streams as a noun of administration: messages that go and come exactly once and in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.queueing.administration import Listing, Machines, Noun


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A stream as it was a moment ago: messages in one order, from one manager to a queue of another."""

    direction: str
    """`out` or `in`."""
    peer: str
    """The host that it goes to, or the identifier of the manager that it comes from."""
    queue: str
    """The queue that it ends in."""
    stream: str
    """Its number: time and ordinal in one."""
    last: int
    """The number of the last message that was sent or taken."""
    acknowledged: int
    """The number of the last message that a receipt confirmed."""
    awaiting: int
    """Messages that wait for a receipt to come or to go."""
    next_resend: str | None = None
    """When those are sent again, if no receipt comes."""
    resent: int = 0
    """How often the last message was sent again."""
    rejected: int = 0
    """Messages in a row that came out of turn."""
    receipts_to: str = ""
    """Where receipts of an incoming stream go."""
    used: str | None = None
    """When a message of an incoming stream was last taken."""


def _streams(machines: Machines) -> Iterator[StreamInfo]:
    from reliquary.protocols.srmp.machine import Srmp
    from reliquary.protocols.srmp.views import streams

    return streams(machines.state, machines.machine(Srmp).state)


STREAM: Final = Noun(
    name="stream",
    plural="streams",
    record=StreamInfo,
    summary="Show the streams between this manager and others.",
    listing=Listing(
        records=_streams,
        columns=(
            "direction", "peer", "queue", "last", "acknowledged", "awaiting", "next_resend", "rejected",
        ),
        help="List the streams that go out and come in, with how far they got.\n\n"
        "`awaiting` are the messages without a receipt; they are sent again at `next_resend`.",
    ),
)  # fmt: skip
