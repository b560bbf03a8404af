"""Records of outgoing queues for administrators; read from the state, never changed."""

from __future__ import annotations

from collections.abc import Iterator

from reliquary.base.time import SECOND, as_datetime
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.travel.link import ConnectionRecord
from reliquary.queueing.rules import destinations
from reliquary.queueing.travel.nouns import ConnectionAttempt, OutgoingInfo


def outgoing_queues(state: State) -> Iterator[OutgoingInfo]:
    """All outgoing queues, by their destinations."""
    for _, queue in sorted(state.outgoing.items()):
        yield _info(queue)


def outgoing_queue(state: State, destination: str) -> OutgoingInfo | None:
    """The outgoing queue of one destination."""
    found = destinations.find_named(state, destinations.read_name(state, destination, Access.SEND))
    return None if found is None or found.link is None else _info(found)


def _info(queue: QueueState) -> OutgoingInfo:
    outgoing, link = queue.record.outgoing, queue.link
    assert outgoing is not None
    assert link is not None
    return OutgoingInfo(
        destination=outgoing.destination,
        state=link.state.value,
        messages=len(queue.order) + len(queue.order.locked),
        bytes=queue.total_bytes,
        sending=len(link.sending),
        accepted=len(link.accepted) + len(link.reached),
        next_hops=list(link.next_hops),
        delivered=link.delivered,
        refused=link.refused,
        failures=link.failures,
        resting=link.resting,
        unacknowledged=link.transfer.unacknowledged,
        history=list(map(_attempt, link.history)),
    )


def _attempt(record: ConnectionRecord) -> ConnectionAttempt:
    return ConnectionAttempt(
        status=record.status.value,
        time=as_datetime(record.time * SECOND),
        error=record.error,
        addresses=list(record.addresses),
    )
