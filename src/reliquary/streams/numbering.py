"""The numbers of streams: how a new one is made, and how messages get numbers of another stream.

    stream number    | seconds since 1970: 32 | ordinal: 32 |    greater than every one before it

Number 1 takes its stream with it when it is lost: later numbers mean nothing to a receiver that never got the
start.  What is left then gets the numbers 1, 2, 3 of a new stream.
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
"""Numbers of messages have 32 bits; a stream that has given this one ends when its messages are gone."""
LONG_AGO: Final = Instant(0)


def next_stream(ordinals: Ordinals, sender: UUID, now: Instant = LONG_AGO) -> OutgoingStream:
    """The stream that would begin now, with a greater number than all before it (SR-072, SR-262)."""
    time = max(in_whole_seconds(now), ordinals.timestamp)
    return OutgoingStream(time << 32 | ordinals.stream & 0xFFFFFFFF, sender=sender)


def in_order(sent: Sent) -> tuple[int, ...]:
    """The messages of a stream, in the order of their numbers."""
    return tuple(sorted(sent.numbers, key=sent.numbers.__getitem__))


def renumber(
    state: StreamState, queue: int, ended: Sent, lookup_ids: tuple[int, ...], now: Instant = LONG_AGO
) -> None:
    """Begin a new stream in this queue with messages of one that has ended, in this order."""
    apply(state, StreamBegun(queue, next_stream(state.ordinals, ended.stream.sender, now)))
    finals = tuple((each, key) for each, key in ended.finals.items() if each in lookup_ids)
    apply(state, MessagesNumbered(queue, 1, lookup_ids, finals))
