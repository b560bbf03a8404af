"""Read-only pictures of SRMP's streams, both ways, for people."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.queueing.naming.formats import DirectName
from reliquary.queueing.state import State
from reliquary.queueing.travel.outgoing import destination_of, link_of


class StreamView(msgspec.Struct, frozen=True, kw_only=True):
    """A stream as a person wants to see it; moments are microseconds since 1970, 0 is never."""

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
    next_resend: int = 0
    resent: int = 0
    """How often the last message was sent again."""
    rejected: int = 0
    """Messages in a row that came out of turn."""
    receipts_to: str = ""
    used: int = 0


def streams(state: State, srmp: SrmpState) -> Iterator[StreamView]:
    """All streams: those that go, by destination, then those that come, by queue."""
    yield from sorted(_outgoing(state, srmp), key=lambda view: view.queue.casefold())
    yield from sorted(_incoming(srmp), key=lambda view: (view.queue, view.peer))


def _outgoing(state: State, srmp: SrmpState) -> Iterator[StreamView]:
    for number, sent in srmp.sent.items():
        queue = state.queues.get(number)
        if queue is None or queue.link is None:
            continue
        destination, transfer = destination_of(queue), link_of(queue).transfer
        yield StreamView(
            direction="out",
            peer=destination.authority if isinstance(destination, DirectName) else "",
            queue=str(destination),
            stream=str(sent.stream.number),
            last=sent.stream.last,
            acknowledged=sent.stream.acknowledged,
            awaiting=len(sent.numbers),
            next_resend=transfer.resend_time,
            resent=transfer.resent,
        )


def _incoming(srmp: SrmpState) -> Iterator[StreamView]:
    for (sender, path), incoming in srmp.incoming.items():
        stream = incoming.stream
        yield StreamView(
            direction="in",
            peer=str(sender),
            queue=path,
            stream=str(stream.number),
            last=stream.last,
            acknowledged=stream.acknowledged,
            awaiting=max(stream.last - stream.acknowledged, 0),
            rejected=incoming.rejected,
            receipts_to=stream.receipts_to,
            used=stream.accessed,
        )
