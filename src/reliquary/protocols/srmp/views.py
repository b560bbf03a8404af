"""Records of SRMP's streams, both ways, for administrators; read from the state, never changed."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import as_text
from reliquary.protocols.srmp.administration import incoming_name, outgoing_name
from reliquary.protocols.srmp.nouns import StreamInfo
from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.outgoing import destination_of, link_of


def streams(state: State, srmp: SrmpState) -> Iterator[StreamInfo]:
    """All streams: those that go, by destination, then those that come, by queue."""
    yield from sorted(_outgoing(state, srmp), key=lambda each: each.queue.casefold())
    yield from sorted(_incoming(srmp), key=lambda each: (each.queue, each.peer))


def _outgoing(state: State, srmp: SrmpState) -> Iterator[StreamInfo]:
    for number, sent in srmp.sent.items():
        queue = state.queues.get(number)
        if queue is None or queue.link is None:
            continue
        destination, transfer = destination_of(queue), link_of(queue).transfer
        yield StreamInfo(
            name=outgoing_name(number),
            direction="out",
            peer=destination.authority if isinstance(destination, DirectName) else "",
            queue=str(destination),
            stream=str(sent.stream.number),
            last=sent.stream.last,
            acknowledged=sent.stream.acknowledged,
            awaiting=len(sent.numbers),
            next_resend=_moment(transfer.resend_time),
            resent=transfer.resent,
            closed=sent.stream.closed,
        )


def _incoming(srmp: SrmpState) -> Iterator[StreamInfo]:
    for (sender, path), incoming in srmp.incoming.items():
        stream = incoming.stream
        yield StreamInfo(
            name=incoming_name(incoming.key),
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
