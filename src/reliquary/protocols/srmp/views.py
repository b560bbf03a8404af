"""Makes records of SRMP's streams for administrators; it reads the state and never changes it."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.protocols.srmp.state import State as SrmpState
from reliquary.protocols.srmp.tables import NAME
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.outgoing import destination_of, link_of
from reliquary.streams.records import StreamInfo, incoming_record, outgoing_record


def streams(state: State, srmp: SrmpState) -> Iterator[StreamInfo]:
    """Yield all streams: those that go, by destination, then those that come, by queue."""
    yield from sorted(_outgoing(state, srmp), key=lambda each: each.queue.casefold())
    incoming = [incoming_record(NAME, each) for each in srmp.incoming.values()]
    yield from sorted(incoming, key=lambda each: (each.queue, each.peer))


def _outgoing(state: State, srmp: SrmpState) -> Iterator[StreamInfo]:
    for number, sent in srmp.sent.items():
        queue = state.queues.get(number)
        if queue is None or queue.link is None:
            continue
        destination = destination_of(queue)
        peer = destination.authority if isinstance(destination, DirectName) else ""
        yield outgoing_record(NAME, number, str(destination), peer, sent, link_of(queue).transfer)
