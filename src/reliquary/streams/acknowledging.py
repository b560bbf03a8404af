"""What a receipt confirms: all messages of a stream up to its number, and which of them are done."""

from __future__ import annotations

import msgspec

from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAcknowledged
from reliquary.streams.state import StreamState


class Confirmed(msgspec.Struct, frozen=True):
    """The messages that a receipt newly confirms, by LookupIdentifier, in the order of their numbers."""

    arrived: tuple[int, ...]
    """All of them."""
    reached: tuple[int, ...]
    """Those that are in their queue there, and stay here until their final receipt comes."""
    done: tuple[int, ...]
    """The others: nothing more is to come."""


def acknowledge(state: StreamState, queue: int, last: int) -> Confirmed | None:
    """Record that the receiver has all up to `last`; None when an earlier receipt said it."""
    sent = state.sent[queue]
    if last <= sent.stream.acknowledged:
        return None
    arrived, finals = tuple(sent.up_to(last)), sent.finals
    apply(state, StreamAcknowledged(queue, last))
    return Confirmed(
        arrived,
        tuple(each for each in arrived if each in finals),
        tuple(each for each in arrived if each not in finals),
    )
