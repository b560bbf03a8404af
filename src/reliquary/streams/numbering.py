"""Computes the numbers of new streams, and moves messages to a new stream.

    stream number    | seconds since 1970: 32 | ordinal: 32 |    greater than that of every older stream

A stream whose number 1 is lost cannot go on: a receiver that never got number 1 takes none of the others.
The messages that are left get the numbers 1, 2, 3 of a new stream.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from reliquary.base.time import Instant, in_whole_seconds
from reliquary.streams.apply import apply
from reliquary.streams.facts import MessagesNumbered, StreamBegun
from reliquary.streams.outgoing import Sent
from reliquary.streams.state import StreamState
from reliquary.streams.tables import Ordinals, OutgoingStream

LAST_NUMBER: Final = 0xFFFFFFFF
"""The largest number of 32 bits; a stream that has used it takes no more messages."""
LONG_AGO: Final = Instant(0)
"""A time before all streams: a new stream then takes its time from the number of the last stream."""


def next_stream(ordinals: Ordinals, sender: UUID, now: Instant = LONG_AGO) -> OutgoingStream:
    """Return a new stream, with a greater number than all streams before it (SR-072, SR-262)."""
    time = max(in_whole_seconds(now), ordinals.timestamp)
    return OutgoingStream(time << 32 | ordinals.stream & 0xFFFFFFFF, sender=sender)


def in_order(sent: Sent) -> tuple[int, ...]:
    """Return the messages of a stream, in the order of their numbers."""
    return tuple(sorted(sent.numbers, key=sent.numbers.__getitem__))


def renumber(
    state: StreamState, queue: int, ended: Sent, lookup_ids: tuple[int, ...], now: Instant = LONG_AGO
) -> None:
    """Begin a new stream in this queue, and give its first numbers to messages of an ended stream."""
    apply(state, StreamBegun(queue, next_stream(state.ordinals, ended.stream.sender, now)))
    finals = tuple((each, key) for each, key in ended.finals.items() if each in lookup_ids)
    apply(state, MessagesNumbered(queue, 1, lookup_ids, finals))
