"""Records of streams for administrators, whatever protocol carries them."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

import msgspec

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import as_text
from reliquary.queueing.model.travel.link import OutgoingTransfer
from reliquary.streams.incoming import Incoming, StreamKey
from reliquary.streams.outgoing import Sent
from reliquary.streams.tables import incoming_key

OUT: Final = "out-"
IN: Final = "in-"
_DIGEST: Final = 5
"""Bytes of the name of a stream that comes in."""


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A stream as it was a moment ago: messages in one order, from one manager to a queue of another."""

    name: str
    """`out-` and a number, or `in-` and a few letters; it stays when the stream begins anew."""
    protocol: str
    """The name of the protocol that carries it."""
    direction: str
    """The direction of the stream: `out` or `in`."""
    peer: str
    """The host that it goes to, or the identifier of the manager that it comes from."""
    queue: str
    """The queue that it ends in."""
    stream: str
    """The number of the stream: timestamp and ordinal in one."""
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
    closed: bool = False
    """Whether the stream was kept through a restore: when it is confirmed, the next messages
    begin another one.
    """
    skipped: int = 0
    """Numbers of an incoming stream that were passed over, because they were lost with a restore."""
    reset: bool = False
    """An administrator wants the next message to be taken, whatever its number is."""
    rejected: int = 0
    """Messages in a row that came out of turn."""
    receipts_to: str = ""
    """The address of the receipts of an incoming stream."""
    used: str | None = None
    """When a message of an incoming stream was last taken."""


def outgoing_name(queue: int) -> str:
    """Return the name of the stream that goes out of a queue; it stays when the stream begins anew."""
    return f"{OUT}{queue}"


def incoming_name(key: StreamKey) -> str:
    """Return the name of a stream that comes in, made of its sender and its destination."""
    return IN + blake2b(incoming_key(*key), digest_size=_DIGEST).hexdigest()


def outgoing_record(
    protocol: str, number: int, destination: str, peer: str, sent: Sent, transfer: OutgoingTransfer
) -> StreamInfo:
    """Return the record of the stream that goes out of the queue with this number."""
    return StreamInfo(
        name=outgoing_name(number),
        protocol=protocol,
        direction="out",
        peer=peer,
        queue=destination,
        stream=str(sent.stream.number),
        last=sent.stream.last,
        acknowledged=sent.stream.acknowledged,
        awaiting=len(sent.numbers),
        next_resend=_moment(transfer.resend_time),
        resent=transfer.resent,
        closed=sent.stream.closed,
    )


def incoming_record(protocol: str, incoming: Incoming) -> StreamInfo:
    """Return the record of a stream that comes in."""
    (sender, path), stream = incoming.key, incoming.stream
    return StreamInfo(
        name=incoming_name(incoming.key),
        protocol=protocol,
        direction="in",
        peer=str(sender),
        queue=path,
        stream=str(stream.number),
        last=stream.last,
        acknowledged=stream.acknowledged,
        awaiting=max(stream.last - stream.acknowledged, 0),
        skipped=len(NumberRanges(stream.skipped)),
        reset=stream.reset,
        rejected=incoming.rejected,
        receipts_to=stream.receipts_to,
        used=_moment(stream.accessed),
    )


def _moment(instant: int) -> str | None:
    return as_text(instant) if instant else None
