"""Finds and records the messages that a receipt confirms: all of a stream up to its number."""

from __future__ import annotations

import msgspec

from reliquary.streams.apply import apply
from reliquary.streams.facts import StreamAcknowledged
from reliquary.streams.state import StreamState


class Confirmed(msgspec.Struct, frozen=True):
    """The messages that a receipt newly confirms, by LookupIdentifier, in the order of their numbers."""

    arrived: tuple[int, ...]
    """All messages that the receipt newly confirms."""
    reached: tuple[int, ...]
    """Messages that have reached their destination queue and stay here until their final receipt comes."""
    done: tuple[int, ...]
    """The other messages, which get no second receipt."""


def acknowledge(state: StreamState, queue: int, last: int) -> Confirmed | None:
    """Record that the receiver has all messages up to `last`; return None if that was known before."""
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
