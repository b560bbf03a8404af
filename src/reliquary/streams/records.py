"""Makes the records of streams for administrators, for any protocol."""

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
"""The number of bytes in the name of an incoming stream."""


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A stream at the moment of the request: messages in one order, from one manager to a queue of
    another."""

    name: str
    """`out-` and a number, or `in-` and a few letters; a new stream of this queue keeps the name."""
    protocol: str
    """The name of the protocol that carries it."""
    direction: str
    """The direction of the stream: `out` or `in`."""
    peer: str
    """The host that receives the messages, or the identifier of the manager that sends them."""
    queue: str
    """The destination queue of the stream."""
    stream: str
    """The number of the stream: timestamp and ordinal in one."""
    last: int
    """The number of the last message that was sent or taken."""
    acknowledged: int
    """The number of the last message that a receipt confirmed."""
    awaiting: int
    """Messages for which a receipt must come or be sent."""
    next_resend: str | None = None
    """When those messages are sent again if no receipt comes."""
    resent: int = 0
    """The number of times that the last message was sent again."""
    closed: bool = False
    """Whether the stream was restored: after its messages are confirmed, the next messages begin another
    stream."""
    skipped: int = 0
    """Numbers of an incoming stream that were skipped, because a restore lost them."""
    reset: bool = False
    """Whether an administrator wants the next message to be taken with any number."""
    rejected: int = 0
    """The number of messages in a row that came out of order."""
    receipts_to: str = ""
    """The address of the receipts of an incoming stream."""
    used: str | None = None
    """When a message of an incoming stream was last taken."""


def outgoing_name(queue: int) -> str:
    """Return the name of the stream of an outgoing queue; a new stream of the queue keeps it."""
    return f"{OUT}{queue}"


def incoming_name(key: StreamKey) -> str:
    """Return the name of an incoming stream, which is computed from its sender and its destination."""
    return IN + blake2b(incoming_key(*key), digest_size=_DIGEST).hexdigest()


def outgoing_record(
    protocol: str, number: int, destination: str, peer: str, sent: Sent, transfer: OutgoingTransfer
) -> StreamInfo:
    """Return the record of the stream of the outgoing queue with this number."""
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
    """Return the record of an incoming stream."""
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
